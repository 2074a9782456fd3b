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

// JSON has no infinity, but texts such as 1e999.
const finite = v.pipe(v.number(), v.finite());
const wait = v.object({ sinceMs: finite, untilMs: finite, readUntilMs: finite });
const read = <T>(value: v.GenericSchema<unknown, T>) => v.optional(v.object({ readAtMs: finite, value }));

/** What the windows of an account know. Times are by the local clock, in milliseconds since the epoch. */
const cache = v.object({
  version: v.literal(1),
  /** The window that asked last. It asks next. */
  by: v.string(),
  /** When the last request for the list ended, and when the one was sent that was answered last. */
  askedAtMs: finite,
  readAtMs: finite,
  /** How many requests failed in a row, and when to retry. */
  failures: finite,
  untilMs: finite,
  // As in the session.
  offlineSinceMs: v.optional(finite),
  waits: v.optional(v.object({ reads: wait, submissions: wait })),
  /** How many background GETs all windows may still send. No number of pages costs more than the least one. */
  tokens: v.object({ left: v.pipe(finite, v.minValue(-1_000)), atMs: finite }),
  /** Undefined until it was read once. */
  runs: v.optional(savedRuns),
  balance: read(balance),
  models: read(v.object({ data: v.array(model), skipped: finite })),
});
export type Cache = v.InferOutput<typeof cache>;

/** What nobody has asked for yet. */
export const EMPTY_CACHE: Readonly<Cache> = {
  ...{ version: 1, by: '', askedAtMs: 0, readAtMs: 0, failures: 0, untilMs: 0 },
  tokens: { left: 0, atMs: 0 },
};

/** Owns the file that the windows of an account read and replace. It may be deleted at any time. */
export class CacheFile {
  readonly #file: string;
  /** Which file was read or written last. */
  #stamp: string | undefined;

  constructor(file: string) {
    this.#file = file;
  }

  /** Returns what another window wrote since the last call; undefined if nothing, or nothing valid. Never rejects. */
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

  /** Replaces the file. Not synced: what a power cut takes is read again. @throws file system errors */
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
