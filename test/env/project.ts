import path from 'node:path';

export const root = path.resolve(import.meta.dirname, '../..');

/** The folder for reports, screenshots, and user data of test runs; ignored by git. */
export const results = path.join(root, 'test-results');

/** The packed extension, as `npm run package` writes it. */
export const vsix = path.join(root, 'fine-tuning.vsix');

/** What is bundled in it, as CycloneDX. */
export const billOfMaterials = path.join(root, 'fine-tuning.cdx.json');

/** Prints a line about the setup, distinct from the tools' output. */
export function say(line: string): void {
  process.stdout.write(`[set-up] ${line}\n`);
}

/** A step that cannot work on this machine; the message contains what is missing and what to do. */
export class SetUpError extends Error {}

/** Prints an error and exits: the message of a SetUpError, the stack of any other. */
export function fail(error: unknown): never {
  process.stderr.write(
    `${error instanceof SetUpError ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  process.exit(1);
}
