import { open, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import * as v from 'valibot';
import type { RunDetail } from '../api/types.ts';
import { makeDirectoryDurably, writeFileDurably } from '../storage/durableFile.ts';

/** How many details are kept of an account; the oldest are let go first. */
export const MAX_KEPT = 2_000;
/** Twice as many of the longest lines, and more: what is larger is not ours. */
const MAX_BYTES = 16_000_000;
/** Far more than a detail with the longest label, however that is escaped. */
const MAX_LINE_BYTES = 3_500;

/** No other field of the service's: what they are called or hold is not known, and none belongs on the disk. */
const detailSchema = v.object({
  run_id: v.string(),
  status: v.string(),
  model_id: v.string(),
  label: v.exactOptional(v.string()),
  plan: v.exactOptional(v.string()),
  price_cents: v.exactOptional(v.number()),
  created_at: v.exactOptional(v.string()),
  started_at: v.exactOptional(v.string()),
  completed_at: v.exactOptional(v.string()),
});
const lineSchema = v.union([
  v.object({ listed: v.string(), detail: detailSchema }),
  v.object({ dropped: v.string() }),
]);

/** A detail of a run that was final when it was read, and what the list said of the run's status then. */
export interface KeptDetail {
  listed: string;
  detail: RunDetail;
}

/**
 * The final details of an account, in one file that all windows share: a line is appended for each, so that a start reads one
 * file and not thousands, and a window only what was added. A line that is torn or not ours is skipped: what is lost
 * is read from the service again.
 */
export class DetailFile {
  readonly #file: string;
  readonly #maxKept: number;
  readonly #kept = new Map<string, KeptDetail>();
  #read = { identity: '', bytes: 0, lines: 0 };
  #work: Promise<unknown> = Promise.resolve();

  /** @param folder `details` of the account */
  constructor(folder: string, maxKept = MAX_KEPT) {
    this.#file = path.join(folder, 'final.jsonl');
    this.#maxKept = maxKept;
  }

  /** The folder that others' changes are to be followed in. */
  get folder(): string {
    return path.dirname(this.#file);
  }

  get(runId: string): KeptDetail | undefined {
    return this.#kept.get(runId);
  }

  /** Reads what was added since, here or by another window. Never rejects. @returns which runs it is about */
  refresh(): Promise<readonly string[]> {
    return this.#next(() => this.#readOn()).catch(() => []);
  }

  /** Keeps one. @throws what the file system says; it is known here all the same */
  keep(kept: KeptDetail): Promise<void> {
    // Through JSON: a field that the service did not tell is none.
    const line = v.parse(lineSchema, JSON.parse(JSON.stringify(kept)));
    // Read anew each time: a file of such lines would be too large to be ours, and be shortened for ever.
    if (Buffer.byteLength(JSON.stringify(line)) > MAX_LINE_BYTES) return Promise.resolve();
    this.#apply(line);
    return this.#next(() => this.#append(line));
  }

  /** Lets one go. @throws what the file system says; it is gone here all the same */
  drop(runId: string): Promise<void> {
    if (!this.#kept.delete(runId)) return Promise.resolve();
    return this.#next(() => this.#append({ dropped: runId }));
  }

  #next<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#work.then(work);
    this.#work = done.catch(() => undefined);
    return done;
  }

  async #append(line: unknown): Promise<void> {
    await makeDirectoryDurably(this.folder);
    const handle = await open(this.#file, 'a', 0o600);
    try {
      // Begun on a line of its own: the one before it may be torn.
      await handle.appendFile(`\n${JSON.stringify(line)}\n`);
      await handle.datasync();
    } finally {
      await handle.close();
    }
  }

  async #readOn(): Promise<string[]> {
    let text: string;
    const handle = await open(this.#file, 'r');
    try {
      text = await this.#unread(handle);
    } finally {
      await handle.close();
    }
    const runIds = new Set<string>();
    for (const row of text.split('\n')) {
      const line = row === '' ? undefined : lineOf(row);
      if (row !== '') this.#read.lines++;
      if (line !== undefined) runIds.add(this.#apply(line));
    }
    if (this.#read.lines > 2 * this.#maxKept || this.#read.bytes > MAX_BYTES) await this.#shorten();
    return [...runIds];
  }

  /** Another window may have shortened the file: then it is another one, and read from its beginning. */
  async #unread(handle: FileHandle): Promise<string> {
    const { dev, ino, size } = await handle.stat();
    const identity = `${dev}:${ino}`;
    if (identity !== this.#read.identity || size < this.#read.bytes)
      this.#read = { identity, bytes: 0, lines: 0 };
    const start = this.#read.bytes;
    if (size - start > MAX_BYTES) {
      this.#read.bytes = size;
      return '';
    }
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - start), 0, size - start, start);
    // What stands behind the last end of a line is still being written.
    const end = buffer.subarray(0, bytesRead).lastIndexOf('\n') + 1;
    this.#read.bytes = start + end;
    return buffer.toString('utf8', 0, end);
  }

  /** What another window appends at this moment is lost, and read from the service again. */
  async #shorten(): Promise<void> {
    const lines = [...this.#kept.values()].map((kept) => JSON.stringify(kept));
    await writeFileDurably(this.#file, lines.map((line) => `${line}\n`).join(''));
    this.#read = { identity: '', bytes: 0, lines: 0 };
  }

  #apply(line: v.InferOutput<typeof lineSchema>): string {
    if ('dropped' in line) {
      this.#kept.delete(line.dropped);
      return line.dropped;
    }
    const { run_id } = line.detail;
    // Last again: the first of a Map is its oldest.
    this.#kept.delete(run_id);
    this.#kept.set(run_id, line);
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined && this.#kept.size > this.#maxKept) this.#kept.delete(oldest);
    return run_id;
  }
}

function lineOf(text: string): v.InferOutput<typeof lineSchema> | undefined {
  try {
    const parsed = v.safeParse(lineSchema, JSON.parse(text));
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined;
  }
}
