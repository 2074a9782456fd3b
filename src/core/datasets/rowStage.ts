import type { AnsweredRequest, LeftOutRow } from './requestShapes.ts';
import { UNUSUAL_NUMBER, withExactNumbers } from './toChat.ts';

/** Longer rows are left out, and aren't kept in memory. */
const MAX_ROW_BYTES = 16 * 1024 * 1024;
/** Lines are written together. */
const BATCH_BYTES = 64 * 1024;
const LF = 0x0a;
const LINE_END = Uint8Array.of(LF);
const UTF_8 = new TextDecoder('utf-8', { fatal: true });

/** A row and its place; without its bytes if it is too long. */
interface RawRow {
  offset: number;
  sizeBytes: number;
  bytes: Buffer | undefined;
}

/** Splits bytes at LF. */
class RowSplitter {
  #parts: Uint8Array[] = [];
  #offset = 0;
  #sizeBytes = 0;

  *push(chunk: Uint8Array): Generator<RawRow> {
    for (let [from, end] = [0, 0]; end !== -1; from = end + 1) {
      end = chunk.indexOf(LF, from);
      const part = chunk.subarray(from, end === -1 ? chunk.length : end);
      this.#sizeBytes += part.length;
      if (this.#sizeBytes > MAX_ROW_BYTES) this.#parts = [];
      else this.#parts.push(part);
      if (end === -1) break;
      yield this.end();
    }
  }

  /** Returns the row that has begun. */
  end(): RawRow {
    const [offset, sizeBytes] = [this.#offset, this.#sizeBytes];
    const [only = new Uint8Array(), more] = this.#parts;
    const joined =
      more === undefined
        ? Buffer.from(only.buffer, only.byteOffset, only.length)
        : Buffer.concat(this.#parts);
    const bytes = sizeBytes > MAX_ROW_BYTES ? undefined : joined;
    [this.#parts, this.#offset, this.#sizeBytes] = [[], offset + sizeBytes + 1, 0];
    return { offset, sizeBytes, bytes };
  }
}

/** Reads rows, which end at LF only. */
export function* rawRows(chunks: Iterable<Uint8Array>): Generator<RawRow> {
  const splitter = new RowSplitter();
  for (const chunk of chunks) yield* splitter.push(chunk);
  yield splitter.end();
}

/** The text and the value of a row. */
type RowJson = Readonly<{ text: string; value: unknown }>;

/** Parses a row; undefined if it is blank. */
export function jsonOf({ bytes }: RawRow): RowJson | 'not-json' | 'too-long' | undefined {
  if (bytes === undefined) return 'too-long';
  try {
    const text = UTF_8.decode(bytes);
    return text.trim() === '' ? undefined : { text, value: JSON.parse(text) as unknown };
  } catch {
    return 'not-json';
  }
}

/** What a row becomes. `undefined`: it is copied. Without `chat`, it is part of another one. */
type Taken = Partial<Omit<AnsweredRequest, 'chat'>> & { chat?: object };

/** @param parse parses a further text as the row was parsed */
export type Take = (value: unknown, parse: (json: string) => unknown) => Taken | LeftOutRow | undefined;

/** What was done with rows: each one is written or left out by a reason, or is a message that is part of a row. */
export interface RowCounts {
  rows: number;
  leftOut: Partial<Record<LeftOutRow, number>>;
  /** Rows that were changed. */
  changed: number;
  /** Rows of which the first of several answers was kept, and messages of tools and hidden ones that were left out. */
  several: number;
  hidden: number;
  /** Messages that became parts of rows. */
  messages: number;
}

/** Takes lines of JSON, and writes what each row becomes. */
export class RowStage {
  readonly counts: RowCounts = { rows: 0, leftOut: {}, changed: 0, several: 0, hidden: 0, messages: 0 };
  readonly #write: (lines: Uint8Array) => void;
  readonly #take: Take;
  readonly #sign: RegExp | undefined;
  readonly #splitter = new RowSplitter();
  #lines: Uint8Array[] = [];
  #bytes = 0;

  /** @param sign rows without this are copied, also if they are no JSON: the check of the new file finds where */
  constructor(write: (lines: Uint8Array) => void, take: Take, sign?: RegExp) {
    this.#write = write;
    this.#take = take;
    this.#sign = sign;
  }

  push(lines: Uint8Array): void {
    for (const row of this.#splitter.push(lines)) this.#add(row);
  }

  /** @param rows further ones */
  end(rows: Iterable<object> = []): RowCounts {
    this.#add(this.#splitter.end());
    for (const row of rows) this.#addRow(Buffer.from(JSON.stringify(row)));
    this.#flush();
    return this.counts;
  }

  leaveOut(reason: LeftOutRow): void {
    this.counts.leftOut[reason] = (this.counts.leftOut[reason] ?? 0) + 1;
  }

  #add(row: RawRow): void {
    if (row.bytes?.length === 0) return;
    const isCopied = row.bytes !== undefined && this.#sign?.test(row.bytes.toString('latin1')) === false;
    const json = isCopied ? undefined : jsonOf(row);
    if (json === undefined && !isCopied) return;
    try {
      const taken = typeof json === 'object' ? exactly(json, this.#take) : json;
      const isBroken = taken === 'not-json' && this.#sign !== undefined;
      if (typeof taken === 'object') this.#addTaken(taken);
      else if (taken !== undefined && !isBroken) this.leaveOut(taken);
      else if (row.bytes !== undefined) this.#addRow(row.bytes);
    } catch (error) {
      // Nested too deeply for the stack. Parsing has no limit, but writing and reading exact numbers recurse.
      if (!(error instanceof RangeError)) throw error;
      this.leaveOut('unrecognized');
    }
  }

  #addTaken({ chat, isOneOfSeveral = false, hidden = 0 }: Taken): void {
    const line = chat && Buffer.from(JSON.stringify(chat));
    if (line === undefined) this.counts.messages += 1;
    else {
      this.counts.changed += 1;
      this.#addRow(line);
    }
    this.counts.several += isOneOfSeveral ? 1 : 0;
    this.counts.hidden += hidden;
  }

  #addRow(bytes: Uint8Array): void {
    this.counts.rows += 1;
    this.#lines.push(bytes, LINE_END);
    this.#bytes += bytes.length + 1;
    if (this.#bytes >= BATCH_BYTES) this.#flush();
  }

  #flush(): void {
    this.#write(Buffer.concat(this.#lines));
    [this.#lines, this.#bytes] = [[], 0];
  }
}

/** Makes something of a row so that its numbers are written as they were. */
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
