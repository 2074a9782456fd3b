import { createHash } from 'node:crypto';
import { readSync, writeSync } from 'node:fs';
import {
  ConvertError,
  MAX_REQUESTS,
  type ConvertCounts,
  type ConvertFailure,
  type ConvertJob,
} from './convert.ts';
import { decoderOf, readingsOf } from './encodings.ts';
import { kindOf, SAMPLE_BYTES } from './fileKind.ts';
import { jsonLines } from './jsonToLines.ts';
import { columnsToChoose, OTHER_FORM, otherForm, rowOfColumns } from './otherForms.ts';
import { CheckError } from './report.ts';
import { answeredRequest, batchId, isFields, isOnlyRequest, isRequestRow } from './requestShapes.ts';
import { jsonOf, type RawRow, rawRows, RowStage, type RowCounts, type Take, valueIn } from './rowStage.ts';
import { tableOf } from './table.ts';
import { columnsOf, readTable } from './tableRows.ts';
import { conversationsOf, rowsIn } from './unpack.ts';

/** Bytes that are converted at a time. */
const SLICE_BYTES = 64 * 1024;
/** A larger object isn't parsed to see what it has. */
const MAX_OBJECT_BYTES = 64 * 1024 * 1024;

type Chunks = Iterable<Uint8Array>;
type OnRead = ((bytes: number) => void) | undefined;
type Read = (onRead?: OnRead) => Chunks;
type Unicode = 'utf-8' | 'utf-16le' | 'utf-16be';

/** The rows of a file. */
interface Source {
  first: unknown;
  /** Whether messages without an ID are one conversation. */
  isList: boolean;
  read(stage: RowStage): unknown;
  /** The first column with values in Python's notation. */
  python?: string | undefined;
}

/**
 * Converts JSON, a table, or requests with answers, in any encoding, to JSONL. Blocks its thread.
 * @param onProgress called with the bytes done
 * @throws ConvertError; CheckError `changing`; errors of the file system
 */
export async function convertRows(
  job: ConvertJob,
  onProgress?: (bytes: number) => void,
): Promise<ConvertCounts> {
  const sample = read(job.inputFd, 0, Math.min(SAMPLE_BYTES, job.sizeBytes));
  const unicode = unicodeOf(sample);
  const all: Read = (onRead) => decoded(job, unicode, onRead);
  const text = new TextDecoder(unicode).decode(sample);
  const source = /^\s*[[{]/.test(text)
    ? jsonSource({ text, isUtf16: unicode !== 'utf-8', part: job.part }, all, onProgress)
    : await tableSource({ text, extension: job.extension }, all, onProgress);
  const { take, sign, conversations, isChat = false } = howToTake(source, job);
  const stage = new RowStage(writerOf(job), take, sign);
  await source.read(stage);
  for (const row of conversations?.rows() ?? []) stage.addRow(row);
  stage.flush();
  const { counts } = stage;
  const isNew = isChat || counts.changed > 0 || conversations !== undefined;
  const why = whyNone(counts);
  if (!isNew && why !== undefined) throw new ConvertError(why);
  const encoding = unicode === 'utf-8' ? job.encoding : ('utf-16' as const);
  return { ...counts, isChat: isNew, encoding, python: source.python };
}

/** Returns why there are no rows, if all were left out for the same reason. */
function whyNone({ rows, leftOut }: RowCounts): ConvertFailure | undefined {
  const [reason, other] = Object.keys(leftOut);
  if (rows > 0 || other !== undefined) return undefined;
  if (reason === undefined) return 'no-rows';
  return reason === 'ragged' ? reason : reason === 'unrecognized' ? 'not-objects' : undefined;
}

/** Decides by the first row how all rows are converted. */
function howToTake({ first, isList }: Source, job: ConvertJob) {
  if (isRequestRow(first)) {
    if (isOnlyRequest(first)) throw new ConvertError('only-requests');
    const textOf = requestsOf(job.batchInput);
    const take: Take = (row, parse) => answeredRequest(row, (id) => parse(textOf(id) ?? 'null'));
    return { take, isChat: true };
  }
  const conversations = conversationsOf(first, isList);
  if (conversations !== undefined) return { take: conversations.take, conversations };
  const columns = otherForm(first) === undefined ? columnsToChoose(first) : [];
  const { columns: chosen } = job;
  if (columns.length > 0 && chosen === undefined)
    throw new ConvertError('needs-columns', { choices: columns });
  if (columns.length > 0 && typeof chosen === 'object')
    return { take: ((row) => rowOfColumns(row, chosen)) satisfies Take };
  const take: Take = (row) => {
    const form = otherForm(row);
    return typeof form === 'object' ? { chat: form } : form;
  };
  return { take, sign: OTHER_FORM };
}

/** Finds the rows of JSON: consecutive objects, the elements of an array, or the data inside one object. */
function jsonSource(
  { text, isUtf16, part }: { text: string; isUtf16: boolean; part: string | undefined },
  all: Read,
  onProgress: OnRead,
): Source {
  const sourceOf = (
    rowsOf: (onRead?: OnRead) => Iterable<Pick<RawRow, 'bytes'>>,
    isList = false,
  ): Source => ({
    first: firstOf(rowsOf()),
    isList,
    read: (stage) => {
      for (const row of rowsOf(onProgress)) stage.add(row);
    },
  });
  const lines = (onRead?: OnRead) => rawRows(all(onRead));
  const areLists = areArrays(text);
  const values = (onRead?: OnRead) => rawRows(jsonLines(all(onRead), areLists));
  if (/^\s*\[/.test(text)) return sourceOf(values, !areLists);
  // Read line by line: broken rows of requests must be counted. If only the encoding changes, invalid rows are copied too: the check
  // of the new file reports them.
  if (isRequestRow(firstOf(lines())) || (isUtf16 && areRows(text))) return sourceOf(lines);
  const [only, more] = rawRows(jsonLines(all()), MAX_OBJECT_BYTES);
  if (only === undefined || more === undefined || more.sizeBytes > 0) return sourceOf(values);
  const json = jsonOf(only);
  if (json === 'too-long') throw new ConvertError('too-much');
  const object = typeof json === 'object' ? valueIn(json.text) : undefined;
  const rows = isFields(object) ? rowsIn(object, part) : undefined;
  if (rows === undefined) return sourceOf(values);
  return sourceOf(() => rows.map((row) => ({ bytes: Buffer.from(JSON.stringify(row)) })), true);
}

/** The value of the first row that isn't blank. */
function firstOf(rows: Iterable<Pick<RawRow, 'bytes'>>): unknown {
  for (const row of rows) {
    const json = jsonOf(row);
    if (json !== undefined) return typeof json === 'object' ? json.value : undefined;
  }
}

/** Finds the rows of a table. */
async function tableSource(
  { text, extension }: { text: string; extension: string },
  all: Read,
  onProgress: OnRead,
): Promise<Source> {
  const table = tableOf(text, extension);
  if (table === undefined) throw new ConvertError('unknown');
  const { jsonOf: lineOf, python, first } = await columnsOf(table, all());
  const read = async (stage: RowStage) => {
    const add = (values: readonly string[]) => stage.add({ bytes: Buffer.from(lineOf(values)) });
    const ragged = await readTable(table, all(onProgress), add);
    if (ragged > 0) stage.leaveOut('ragged', ragged);
  };
  return { first, isList: false, read, python };
}

/** Returns a function that finds the text of a batch's request by its ID, or undefined. If an ID occurs twice, the last request counts. */
function requestsOf(input: ConvertJob['batchInput']): (id: string) => string | undefined {
  // An ID may have megabytes.
  const keyOf = (id: string) => createHash('sha256').update(id).digest('base64');
  const places = new Map<string, readonly [offset: number, sizeBytes: number] | string>();
  const keep = (value: unknown, place: readonly [number, number] | string) => {
    const id = batchId(value);
    if (id !== undefined) places.set(keyOf(id), place);
    if (places.size > MAX_REQUESTS) throw new ConvertError('too-many-requests');
  };
  for (const row of input === undefined ? [] : rawRows(slices(input))) {
    const json = jsonOf(row);
    if (typeof json === 'object') keep(json.value, [row.offset, row.sizeBytes]);
  }
  // Anthropic's input may be one object with all requests.
  if (input !== undefined && places.size === 0 && input.sizeBytes <= MAX_OBJECT_BYTES) {
    const value = valueIn(new TextDecoder().decode(Buffer.concat([...slices(input)])));
    for (const one of Object.values(value ?? {}).flat()) keep(one, JSON.stringify(one));
  }
  return (id) => {
    if (input === undefined) throw new ConvertError('needs-input');
    const place = places.get(keyOf(id));
    return typeof place === 'object' ? new TextDecoder().decode(read(input.inputFd, ...place)) : place;
  };
}

/** Returns the encoding by the first bytes. @throws ConvertError `unknown` or `utf-32` */
function unicodeOf(sample: Uint8Array): Unicode {
  const kind = kindOf(sample);
  if (kind === 'utf-32') throw new ConvertError('utf-32');
  if (kind === 'rows') return 'utf-8';
  if (kind !== 'utf-16') throw new ConvertError('unknown');
  const [first, second] = sample;
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  // Without a byte order mark, the zeros of ASCII characters decide: a header may begin with another character.
  const evenZeros = sample.filter((byte, index) => byte === 0 && index % 2 === 0).length;
  const zeros = sample.filter((byte) => byte === 0).length;
  return first === 0xff || 2 * evenZeros < zeros ? 'utf-16le' : 'utf-16be';
}

/** Whether at least half of the lines are rows: only the first object may be on one line. */
function areRows(text: string): boolean {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return (
    2 * lines.filter((line) => line.startsWith('{') && valueIn(line) !== undefined).length >= lines.length
  );
}

/** Whether each line is an array. */
function areArrays(text: string): boolean {
  const [first = '', second = ''] = text.split('\n').filter((line) => line.trim() !== '');
  return second.trimStart().startsWith('[') && valueIn(first) !== undefined;
}

/** Yields the text in UTF-8. @throws ConvertError `needs-encoding` or `not-encoding` at the first invalid byte */
function* decoded(job: ConvertJob, unicode: Unicode, onRead: OnRead): Generator<Uint8Array> {
  const encoding = job.encoding ?? unicode;
  const decode = decoderOf(encoding);
  try {
    for (const chunk of slices(job, onRead)) {
      const text = decode(chunk);
      yield encoding === 'utf-8' ? chunk : Buffer.from(text);
    }
    yield Buffer.from(decode());
  } catch (error) {
    // TypeError comes from the decoder.
    if (!(error instanceof TypeError)) throw error;
    if (encoding === 'utf-8') throw new ConvertError('needs-encoding', { choices: readingsOf(slices(job)) });
    throw new ConvertError('not-encoding', { choices: [job.encoding ?? 'utf-16'] });
  }
}

/** Reads no further than the inspected size, so that a file which never ends can't fill the disk. */
function* slices(
  { inputFd, sizeBytes }: Pick<ConvertJob, 'inputFd' | 'sizeBytes'>,
  onRead?: OnRead,
): Generator<Uint8Array> {
  for (let position = 0; position < sizeBytes;) {
    // Each slice needs memory of its own: the parser keeps what it can't read yet.
    const slice = read(inputFd, position, Math.min(SLICE_BYTES, sizeBytes - position));
    yield slice;
    position += slice.length;
    onRead?.(position);
  }
}

function read(fd: number, position: number, most: number): Uint8Array {
  const buffer = Buffer.allocUnsafe(most);
  const length = readSync(fd, buffer, 0, most, position);
  if (length === 0) throw new CheckError('changing');
  return buffer.subarray(0, length);
}

function writerOf({ outputFd, maxBytes }: ConvertJob): (lines: Uint8Array) => void {
  let bytes = 0;
  return (lines) => {
    bytes += lines.length;
    if (bytes > maxBytes) throw new ConvertError('too-large');
    for (let at = 0; at < lines.length;) at += writeSync(outputFd, lines, at);
  };
}
