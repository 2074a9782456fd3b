import { createHash } from 'node:crypto';
import { stat, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** How long a declined dataset can't be proposed again. */
const DECLINED_MS = 10 * 60_000;
/** Three cancels within this time block all proposals for the same time. */
const CANCELED_MS = 60_000;
/** The marks of the latest canceled proposals. VS Code can't close notifications, so more would pile up. */
const CANCELED = ['1.canceled', '2.canceled', '3.canceled'] as const;

/** Records declined and canceled proposals as empty files: every window sees them, even after a reload. */
export class ProposalMarks {
  readonly #folder: string;

  /** @param folder must exist */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Whether a file or its bytes were declined a short time ago. */
  async isDeclined(key: { file: string } | { sha256: string }): Promise<boolean> {
    return isRecent(DECLINED_MS, await writtenAtMs(this.#declined(key)));
  }

  /** Marks a file and its bytes, since the file may be copied. Never rejects. */
  async decline(file: string, sha256: string): Promise<void> {
    await write(this.#declined({ file }));
    await write(this.#declined({ sha256 }));
  }

  async areTooManyCanceled(): Promise<boolean> {
    const [first = NaN, , last = NaN] = (await this.#canceled()).map(({ atMs }) => atMs);
    return isRecent(CANCELED_MS, last) && last - first < CANCELED_MS;
  }

  /** Records that a proposal was canceled. Never rejects. */
  async cancel(): Promise<void> {
    const [oldest] = await this.#canceled();
    if (oldest !== undefined) await write(oldest.file);
  }

  #declined(key: { file: string } | { sha256: string }): string {
    const name = 'file' in key ? createHash('sha256').update(key.file).digest('hex') : key.sha256;
    return path.join(this.#folder, `${name}.declined`);
  }

  /** The marks, the oldest first. */
  async #canceled(): Promise<{ file: string; atMs: number }[]> {
    const files = CANCELED.map((name) => path.join(this.#folder, name));
    const marks = await Promise.all(files.map(async (file) => ({ file, atMs: await writtenAtMs(file) })));
    return marks.sort((one, other) => one.atMs - other.atMs);
  }
}

async function write(file: string): Promise<void> {
  await writeFile(file, '').catch(() => undefined);
}

async function writtenAtMs(file: string): Promise<number> {
  return stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => -Infinity,
  );
}

/** Returns false if the clock was set back since then. */
export function isRecent(ms: number, sinceMs: number): boolean {
  const passedMs = Date.now() - sinceMs;
  return passedMs >= 0 && passedMs < ms;
}
