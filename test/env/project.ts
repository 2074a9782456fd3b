import path from 'node:path';

/** The root of this repository. */
export const root = path.resolve(import.meta.dirname, '../..');

/** What test runs leave behind: reports, screenshots, user data of the hosts. Ignored by git. */
export const results = path.join(root, 'test-results');

/** The packed extension, as `npm run package` writes it. */
export const vsix = path.join(root, 'fine-tuning.vsix');

/** One line about the set-up, told apart from the tools' own output. */
export function say(line: string): void {
  process.stdout.write(`[set-up] ${line}\n`);
}

/** A step that cannot work on this machine; the message says what is missing and what to do. */
export class SetUpError extends Error {}

/** Ends a script of this folder: a set-up error as one sentence, any other with its stack. */
export function fail(error: unknown): never {
  process.stderr.write(
    `${error instanceof SetUpError ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  process.exit(1);
}
