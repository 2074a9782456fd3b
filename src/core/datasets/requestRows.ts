import type { ConvertCounts } from './convert.ts';
import { answeredRequest, type AnsweredRequest, type LeftOutRequest } from './requestShapes.ts';
import { UNUSUAL_NUMBER, withExactNumbers } from './toChat.ts';

/** Longer rows are left out, and aren't kept in memory. */
const MAX_ROW_BYTES = 16 * 1024 * 1024;
/** Lines are written together. */
const BATCH_UNITS = 64 * 1024;
const LF = 0x0a;
const UTF_8 = new TextDecoder('utf-8', { fatal: true });

/** Returns the text of a request of a batch by its ID; undefined if there is none. */
export type RequestText = (id: string) => string | undefined;

type RowJson = Readonly<{ text: string; value: unknown }>;

/** A row that isn't blank: its place, and its text and value, or why it can't be read. */
interface RequestRow {
  offset: number;
  sizeBytes: number;
  json: RowJson | 'not-json' | 'too-long';
}

/** Reads rows, which end at LF only. */
export function* requestRows(chunks: Iterable<Uint8Array>): Generator<RequestRow> {
  let parts: Uint8Array[] = [];
  let [offset, sizeBytes] = [0, 0];
  for (const chunk of chunks)
    for (let [from, end] = [0, 0]; end !== -1; from = end + 1) {
      end = chunk.indexOf(LF, from);
      const part = chunk.subarray(from, end === -1 ? chunk.length : end);
      sizeBytes += part.length;
      parts = sizeBytes > MAX_ROW_BYTES ? [] : [...parts, part];
      if (end === -1) break;
      yield* rowOf(parts, offset, sizeBytes);
      [parts, offset, sizeBytes] = [[], offset + sizeBytes + 1, 0];
    }
  yield* rowOf(parts, offset, sizeBytes);
}

function rowOf(parts: readonly Uint8Array[], offset: number, sizeBytes: number): RequestRow[] {
  if (sizeBytes > MAX_ROW_BYTES) return [{ offset, sizeBytes, json: 'too-long' }];
  try {
    const text = UTF_8.decode(Buffer.concat(parts));
    return text.trim() === '' ? [] : [{ offset, sizeBytes, json: { text, value: JSON.parse(text) } }];
  } catch {
    return [{ offset, sizeBytes, json: 'not-json' }];
  }
}

/** Writes requests and their answers as chat. */
export function convertRequests(
  chunks: Iterable<Uint8Array>,
  textOf: RequestText,
  write: (lines: Uint8Array) => void,
): Omit<ConvertCounts, 'isUtf16'> {
  const leftOut: Partial<Record<LeftOutRequest, number>> = {};
  let [rows, several, lines] = [0, 0, ''];
  for (const { json } of requestRows(chunks)) {
    const found = typeof json === 'string' ? json : chatOf(json, textOf);
    if (typeof found === 'string') leftOut[found] = (leftOut[found] ?? 0) + 1;
    else {
      rows += 1;
      several += found.isOneOfSeveral ? 1 : 0;
      lines += `${found.line}\n`;
    }
    if (lines.length < BATCH_UNITS) continue;
    write(Buffer.from(lines));
    lines = '';
  }
  write(Buffer.from(lines));
  return { rows, ragged: 0, requests: { leftOut, several } };
}

function chatOf(
  { text, value }: RowJson,
  textOf: RequestText,
): (AnsweredRequest & { line: string }) | LeftOutRequest {
  let input = '';
  const read = (row: unknown, parse: (json: string) => unknown) =>
    answeredRequest(row, (id) => parse((input = textOf(id) ?? 'null')));
  try {
    const plain = read(value, JSON.parse);
    if (typeof plain === 'string') return plain;
    const isExact = !hasNumbers(plain.chat) || !UNUSUAL_NUMBER.test(text + input);
    const found = isExact ? plain : read(withExactNumbers(text), withExactNumbers);
    return typeof found === 'string' ? found : { ...found, line: JSON.stringify(found.chat) };
  } catch (error) {
    // Nested too deeply for the stack. Parsing has no limit, but writing and reading exact numbers recurse.
    if (error instanceof RangeError) return 'unrecognized';
    throw error;
  }
}

function hasNumbers(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'number';
  return Object.values(value).some(hasNumbers);
}
