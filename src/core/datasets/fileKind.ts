import { open, stat, type FileHandle } from 'node:fs/promises';
import { extname } from 'node:path';
import { isMissing } from '../base/diskError.ts';
import { isSameStamp, stampOf, type FileStamp } from '../base/fileStamp.ts';
import { ProblemGroup, type Problem } from './problems.ts';
import { CheckError, countOf, type FileKind, type Report } from './report.ts';
import { CUT_OFF } from './scanner/codes.ts';
import { tableOf } from './table.ts';

export { otherForm } from './otherForms.ts';
export { isRequestRow } from './requestShapes.ts';

/** Bytes read from the start and the end of a file to detect its kind. */
export const SAMPLE_BYTES = 64 * 1024;

/** Signatures of file kinds, in the order in which they are tried. */
const BEGINNINGS: readonly (readonly [kind: FileKind, ...bytes: number[]])[] = [
  ['utf-32', 0xff, 0xfe, 0, 0],
  ['utf-32', 0, 0, 0xfe, 0xff],
  ['utf-16', 0xff, 0xfe],
  ['utf-16', 0xfe, 0xff],
  ['gzip', 0x1f, 0x8b],
  // ZIP, Parquet, Zstandard.
  ['binary', 0x50, 0x4b, 0x03, 0x04],
  ['binary', 0x50, 0x41, 0x52, 0x31],
  ['binary', 0x28, 0xb5, 0x2f, 0xfd],
  // PDF; pickles of protocol 2 and later.
  ['binary', 0x25, 0x50, 0x44, 0x46],
  ...[2, 3, 4, 5].map((protocol) => ['binary', 0x80, protocol] as const),
];
/** Zero bytes in the first four of a JSON text whose first two characters are ASCII (RFC 4627, section 3). */
const ZEROS: Readonly<Record<string, FileKind>> = {
  x000: 'utf-32',
  '000x': 'utf-32',
  x0x0: 'utf-16',
  '0x0x': 'utf-16',
};

/** Detects a file's kind by its first bytes, as far as they show it. `recognized` knows more after the check. */
export function kindOf(sample: Uint8Array): FileKind {
  const beginning = BEGINNINGS.find(([, ...bytes]) => startsWith(sample, bytes));
  const zeros = Array.from(sample.subarray(0, 4), (byte) => (byte === 0 ? '0' : 'x')).join('');
  const known = beginning?.[0] ?? ZEROS[zeros];
  if (known !== undefined) return known;
  const counts = { even: 0, odd: 0, controls: 0 };
  for (const [index, byte] of sample.entries()) {
    if (byte === 0) counts[index % 2 === 0 ? 'even' : 'odd']++;
    // Tab, LF, and CR occur in text.
    if (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) counts.controls++;
  }
  // In ASCII text encoded as UTF-16, every other byte is zero, at even or at odd offsets only.
  const zeroBytes = counts.even + counts.odd;
  if (zeroBytes > sample.length * 0.3 && Math.max(counts.even, counts.odd) > zeroBytes * 0.9) return 'utf-16';
  if (counts.controls > sample.length * 0.1) return 'binary';
  const text = decoded(sample);
  if (/^version https:\/\/git-lfs\./.test(text)) return 'git-lfs';
  return /^\s*<(!doctype|html|head|body|\?xml)\b/i.test(text) ? 'html' : 'rows';
}

function decoded(sample: Uint8Array): string {
  return Buffer.from(sample)
    .toString('utf8')
    .replace(/^\uFEFF/, '');
}

export function hasByteOrderMark(sample: Uint8Array): boolean {
  return startsWith(sample, [0xef, 0xbb, 0xbf]);
}

function startsWith(bytes: Uint8Array, beginning: readonly number[]): boolean {
  return beginning.every((byte, index) => bytes[index] === byte);
}

/** Minimum share of a dataset's objects that have the same training format. */
const MIN_OF_FORMAT = 0.8;

/** Whether the rows look like a dataset: at least half are objects, and most of these have one training format. */
export function hasDatasetRows(report: Report): boolean {
  const objects = objectsOf(report);
  const isFormat = objects > 0 && report.datasetRows >= objects * MIN_OF_FORMAT;
  return report.kind === 'rows' && areObjects(report) && isFormat;
}

function objectsOf({ formats }: Report): number {
  return Object.values(formats).reduce((sum, count) => sum + count, 0);
}

/** Whether at least half of the rows are objects, not counting `aside` rows. */
function areObjects(report: Report, aside = 0): boolean {
  return 2 * objectsOf(report) >= report.rows - report.blankRows - aside;
}

/** Returns the report, corrected if the file's first and last bytes show that it is cut off or isn't JSONL. */
export function recognized(report: Report, start: Uint8Array, end: Uint8Array): Report {
  if (report.kind !== 'rows') return report;
  const text = decoded(start);
  const tail = Buffer.from(end).toString('latin1');
  const rows = report.rows - report.blankRows;
  const objects = objectsOf(report);
  const as = (kind: FileKind): Report => ({ ...report, kind });
  if (2 * countOf(report, 'single-quote') > rows) return as('python');
  if (report.rows === 1 && !text.includes('\n') && /\}[\t ]*\r[\t \r]*\{/.test(text)) return as('cr-only');
  // JSON that spans many lines is already invalid in the first one.
  const opened = text.trimStart().charAt(0);
  const isClosed = tail.trimEnd().endsWith(opened === '[' ? ']' : '}');
  const [first] = failuresOf(report, 0);
  const failsFirst = first !== undefined && first.row <= report.blankRows + 1;
  const areLists = rows === 1 || (objects === 0 && /^\s*\[\s*[{[]/.test(text));
  if (opened === '[' && isClosed && (first === undefined ? areLists : rows > 1 && failsFirst))
    return as(/^\s*\[\s*[^\s{[\]]/.test(text) ? 'array' : 'json-array');
  // An object with a comma after it may be an element of an array.
  const areParts = 2 * (objects - countOf(report, 'comma-after-object')) < rows;
  const isSpread =
    rows > 1 && failsFirst && first.code === 'unexpected-end' && /[[{]/.test(opened) && areParts;
  if (isSpread && isClosed) return as('pretty-json');
  const last = failuresOf(report, -1).find(({ row }) => row === report.rows);
  const endsInRow = areObjects(report, 1) && last !== undefined && isCutOff(last, report, tail);
  if (isSpread || endsInRow) return cutOff(report, last ?? first);
  const isTable = objects === 0 && tableOf(text, extname(report.path)) !== undefined;
  return isTable ? as('csv') : report;
}

/** Returns the first (0) or last (-1) place of each code that makes a row invalid JSON, sorted by place. */
function failuresOf({ problems }: Report, which: 0 | -1): Problem[] {
  return problems
    .filter((group) => group.class === 'grammar' && group.located > 0)
    .map((group) => group.at(which === 0 ? 0 : group.located - 1))
    .sort((one, other) => one.offset - other.offset);
}

/** Whether the last row is invalid because the file ends inside it: it has content but no line end. */
function isCutOff({ code, column, offset, length }: Problem, { sizeBytes }: Report, tail: string): boolean {
  if (column === 1 || tail.endsWith('\n')) return false;
  if (code === 'bad-escape') return /\\u[0-9a-f]{0,3}$/i.test(tail);
  if (code === 'bad-number' || code === 'bad-literal') return offset + length >= sizeBytes;
  return code === 'unexpected-end' || code === 'unterminated-string';
}

/** Adds the problem that the file is cut off. It replaces the last row's own problem, if that is where the file ends. */
function cutOff(report: Report, at: Problem | undefined): Report {
  const { row = 1, line = 1, column = 1, offset = 0, length = 1, code } = at ?? {};
  const place = Float64Array.of(row, line, column, offset, length);
  const others = report.problems.flatMap((group) =>
    group.code === code && row === report.rows ? group.withoutLast() : [group],
  );
  return { ...report, problems: [new ProblemGroup(CUT_OFF, 1, place, [String(report.rows)]), ...others] };
}

/** Why a file cannot be sent as a dataset. */
export type DatasetProblem = 'missing' | 'folder' | 'not-a-file' | 'unreadable' | 'empty' | 'too-large';

export interface DatasetFile extends FileStamp {
  path: string;
}

/** Checks whether a file can be sent at all, without reading its rows. Never throws. */
export async function inspectDataset(path: string, maxBytes: number): Promise<DatasetFile | DatasetProblem> {
  try {
    const found = await stat(path, { bigint: true });
    if (found.isDirectory()) return 'folder';
    // Don't open it: opening a pipe would wait for its writer.
    if (!found.isFile()) return 'not-a-file';
    // Only opening a file shows whether it is readable.
    await (await open(path, 'r')).close();
    const stamp = stampOf(found);
    if (stamp.sizeBytes === 0) return 'empty';
    return stamp.sizeBytes > maxBytes ? 'too-large' : { path, ...stamp };
  } catch (error) {
    return isMissing(error) ? 'missing' : 'unreadable';
  }
}

/** Returns the file's mode. @throws CheckError `changing` if it isn't the version that was inspected */
export async function modeOf(input: FileHandle, source: DatasetFile): Promise<number> {
  const found = await input.stat({ bigint: true });
  if (!isSameStamp(stampOf(found), source)) throw new CheckError('changing');
  return Number(found.mode);
}
