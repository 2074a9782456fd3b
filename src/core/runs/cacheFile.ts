import { randomUUID } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as v from 'valibot';
import { balance, model } from '../api/types.ts';
import { renameOver } from '../base/renameOver.ts';
import { savedRuns } from './savedRuns.ts';

/** Far more than 10,000 active runs need. */
const MAX_BYTES = 16_000_000;

// JSON has no infinity, but `1e999` is parsed as one.
const finite = v.pipe(v.number(), v.finite());
const wait = v.object({ sinceMs: finite, untilMs: finite, readUntilMs: finite });
const read = <T>(value: v.GenericSchema<unknown, T>) => v.optional(v.object({ readAtMs: finite, value }));

/** What the windows of an account share. Times are by the local clock, in milliseconds since the epoch. */
const cache = v.object({
  version: v.literal(1),
  /** The ID of the window that asked the service last, and asks next. */
  by: v.string(),
  /** When the last request for the list ended, and when the last answered one was sent. */
  askedAtMs: finite,
  readAtMs: finite,
  /** How many requests failed in a row, and when to retry. */
  failures: finite,
  untilMs: finite,
  // As in the session.
  offlineSinceMs: v.optional(finite),
  waits: v.optional(v.object({ reads: wait, submissions: wait })),
  /** How many background GETs all windows may still send. Negative after a read of many pages. */
  tokens: v.object({ left: v.pipe(finite, v.minValue(-1_000)), atMs: finite }),
  /** Undefined until the list was read once. */
  runs: v.optional(savedRuns),
  balance: read(balance),
  models: read(v.object({ data: v.array(model), skipped: finite })),
});
export type Cache = v.InferOutput<typeof cache>;

/** The content while no window has asked the service. */
export const EMPTY_CACHE: Readonly<Cache> = {
  ...{ version: 1, by: '', askedAtMs: 0, readAtMs: 0, failures: 0, untilMs: 0 },
  tokens: { left: 0, atMs: 0 },
};

/** Owns a file that the windows of an account read and replace. The user may delete it at any time. */
export class CacheFile {
  readonly #file: string;
  /** Identifies the content that was read or written last. */
  #stamp: string | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  /**
   * Returns the content if another window wrote it since the last call; else, or if it is invalid, undefined. Never
   * rejects.
   */
  async read(): Promise<Cache | undefined> {
    try {
      const found = await stat(this.#file, { bigint: true });
      const stamp = stampOf(found);
      if (stamp === this.#stamp) return undefined;
      this.#stamp = stamp;
      if (found.size > MAX_BYTES) return undefined;
      return v.parse(cache, JSON.parse(await readFile(this.#file, 'utf8')));
    } catch {
      return undefined;
    }
  }

  /** Replaces the file. Doesn't sync it: after a power cut, the data is read again. @throws file system errors */
  async write(next: Cache): Promise<void> {
    await mkdir(path.dirname(this.#file), { recursive: true, mode: 0o700 });
    const temporary = `${this.#file}.${randomUUID()}.tmp`;
    try {
      await writeFile(temporary, JSON.stringify(next), { flag: 'wx', mode: 0o600 });
      const stamp = stampOf(await stat(temporary, { bigint: true }));
      await renameOver(temporary, this.#file);
      this.#stamp = stamp;
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => undefined);
      throw error;
    }
  }
}

/** Identifies one content of a file. */
function stampOf({ ino, mtimeNs, size }: BigIntStats): string {
  return [ino, mtimeNs, size].join();
}
