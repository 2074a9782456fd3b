import type { AnsweredRequest, LeftOutRow } from './requestShapes.ts';
import { UNUSUAL_NUMBER, withExactNumbers } from './toChat.ts';

/** Longer rows are left out, and aren't kept in memory. */
const MAX_ROW_BYTES = 16 * 1024 * 1024;
/** Lines are written together. */
const BATCH_BYTES = 64 * 1024;
const LF = 0x0a;
const LINE_END = Uint8Array.of(LF);
const UTF_8 = new TextDecoder('utf-8', { fatal: true });

/** A row and its place. A row that is too long has no bytes. */
export interface RawRow {
  offset: number;
  sizeBytes: number;
  bytes: Buffer | undefined;
}

/** Reads rows, which end at LF only. */
export function* rawRows(chunks: Iterable<Uint8Array>, maxBytes = MAX_ROW_BYTES): Generator<RawRow> {
  let parts: Uint8Array[] = [];
  let [offset, sizeBytes] = [0, 0];
  const ended = (): RawRow => {
    const row = { offset, sizeBytes, bytes: sizeBytes > maxBytes ? undefined : Buffer.concat(parts) };
    [parts, offset, sizeBytes] = [[], offset + sizeBytes + 1, 0];
    return row;
  };
  for (const chunk of chunks)
    for (let [from, end] = [0, 0]; end !== -1; from = end + 1) {
      end = chunk.indexOf(LF, from);
      const part = chunk.subarray(from, end === -1 ? chunk.length : end);
      sizeBytes += part.length;
      if (sizeBytes > maxBytes) parts = [];
      else parts.push(part);
      if (end !== -1) yield ended();
    }
  yield ended();
}

/** The text and the value of a row. */
type RowJson = Readonly<{ text: string; value: unknown }>;

/** Parses a row; undefined if it is blank. */
export function jsonOf({ bytes }: Pick<RawRow, 'bytes'>): RowJson | 'not-json' | 'too-long' | undefined {
  if (bytes === undefined) return 'too-long';
  try {
    const text = UTF_8.decode(bytes);
    return text.trim() === '' ? undefined : { text, value: JSON.parse(text) as unknown };
  } catch {
    return 'not-json';
  }
}

/** Parses JSON with its numbers as they are written; undefined if it isn't JSON. */
export function valueIn(text: string): unknown {
  try {
    return UNUSUAL_NUMBER.test(text) ? withExactNumbers(text) : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What a row becomes. Without `chat`, it was a message and is part of another row. */
type Taken = Partial<Omit<AnsweredRequest, 'chat'>> & { chat?: object };

/** Returns what a row becomes, or why it is left out; undefined to copy it. @param parse parses further JSON as the row was parsed */
export type Take = (value: unknown, parse: (json: string) => unknown) => Taken | LeftOutRow | undefined;

/** What became of the rows. Each one was written, left out for a reason, or is a message in another row. */
export interface RowCounts {
  rows: number;
  leftOut: Partial<Record<LeftOutRow, number>>;
  /** Rows that were changed. */
  changed: number;
  /** Rows with several answers: the first one was kept. */
  several: number;
  /** Messages that were left out: of tools, and hidden ones. */
  hidden: number;
  /** Messages that became parts of rows. */
  messages: number;
}

/** Writes what each row becomes. */
export class RowStage {
  readonly counts: RowCounts = { rows: 0, leftOut: {}, changed: 0, several: 0, hidden: 0, messages: 0 };
  readonly #write: (lines: Uint8Array) => void;
  readonly #take: Take;
  readonly #sign: RegExp | undefined;
  #lines: Uint8Array[] = [];
  #bytes = 0;

  /** @param sign rows that don't match are copied, even if they aren't JSON: the check of the new file reports them */
  constructor(write: (lines: Uint8Array) => void, take: Take, sign?: RegExp) {
    this.#write = write;
    this.#take = take;
    this.#sign = sign;
  }

  /** Takes a row, unless it is blank. */
  add(row: Pick<RawRow, 'bytes'>): void {
    const text = row.bytes?.toString('latin1');
    if (text?.trim() === '') return;
    const isCopied = text !== undefined && this.#sign?.test(text) === false;
    const json = isCopied ? undefined : jsonOf(row);
    if (json === undefined && !isCopied) return;
    try {
      const taken = typeof json === 'object' ? exactly(json, this.#take) : json;
      const isBroken = taken === 'not-json' && this.#sign !== undefined;
      if (typeof taken === 'object') this.#addTaken(taken);
      else if (taken !== undefined && !isBroken) this.leaveOut(taken);
      // Its line may end in CR LF.
      else if (row.bytes !== undefined) this.addRow(row.bytes.subarray(0, text?.replace(/\r$/, '').length));
    } catch (error) {
      // Nested too deeply for the stack: unlike parsing, writing and reading exact numbers recurse.
      if (!(error instanceof RangeError)) throw error;
      this.leaveOut('unrecognized');
    }
  }

  leaveOut(reason: LeftOutRow, count = 1): void {
    this.counts.leftOut[reason] = (this.counts.leftOut[reason] ?? 0) + count;
  }

  #addTaken({ chat, isOneOfSeveral = false, hidden = 0 }: Taken): void {
    if (chat === undefined) this.counts.messages += 1;
    else {
      this.addRow(Buffer.from(JSON.stringify(chat)));
      this.counts.changed += 1;
    }
    this.counts.several += isOneOfSeveral ? 1 : 0;
    this.counts.hidden += hidden;
  }

  addRow(bytes: Uint8Array): void {
    this.counts.rows += 1;
    this.#lines.push(bytes, LINE_END);
    this.#bytes += bytes.length + 1;
    if (this.#bytes >= BATCH_BYTES) this.flush();
  }

  flush(): void {
    this.#write(Buffer.concat(this.#lines));
    [this.#lines, this.#bytes] = [[], 0];
  }
}

/** Calls `take` so that the numbers in its result are written as they were. */
function exactly({ text, value }: RowJson, take: Take): ReturnType<Take> {
  let all = text;
  const plain = take(value, (json) => {
    all += json;
    return JSON.parse(json) as unknown;
  });
  const isExact = typeof plain !== 'object' || !hasNumbers(plain.chat) || !UNUSUAL_NUMBER.test(all);
  return isExact ? plain : take(withExactNumbers(text), withExactNumbers);
}

function hasNumbers(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'number';
  return Object.values(value).some(hasNumbers);
}
