import { l10n } from 'vscode';
import { problemsOfRow, type Problem, type Report } from '../../core/datasets/report.ts';
import type { FileRow, RowFile } from '../../core/datasets/rowFile.ts';
import { formatBytes, formatCount } from '../shared/format.ts';
import { problemName, problemSentence } from './problemTexts.ts';
import type { PreviewProblem, PreviewRow } from './protocol.ts';

/** Maximum bytes shown per row. */
const ROW_BYTES = 256 * 1024;
/** Maximum bytes per message; the page requests the remaining rows again. */
const MESSAGE_BYTES = 1024 * 1024;
const MOST_PROBLEMS = 20;
const EXCERPT_BYTES = 120;
const MOST_MARKED = 40;

/**
 * Returns the requested rows as the page shows them, as many as fit into one message.
 * @throws CheckError, CancelledError
 */
export async function previewRows(
  file: RowFile,
  report: Report | undefined,
  wanted: readonly number[],
): Promise<PreviewRow[]> {
  const shown: PreviewRow[] = [];
  let totalBytes = 0;
  for (let index = 0; index < wanted.length && (shown.length === 0 || totalBytes < MESSAGE_BYTES);) {
    const from = wanted[index] ?? 0;
    let count = 1;
    while (wanted[index + count] === from + count) count += 1;
    const limits = { rowBytes: ROW_BYTES, totalBytes: MESSAGE_BYTES - totalBytes };
    const rows = await file.readRows(from, count, limits);
    for (const row of rows) {
      shown.push(await previewRow(file, report, row));
      totalBytes += row.bytes.length;
    }
    if (rows.length < count) break;
    index += count;
  }
  return shown;
}

async function previewRow(file: RowFile, report: Report | undefined, row: FileRow): Promise<PreviewRow> {
  const { bytes, sizeBytes } = row;
  const found = report === undefined ? [] : problemsOfRow(report, row.row, MOST_PROBLEMS + 1);
  const shown = found.slice(0, MOST_PROBLEMS);
  const isCut = bytes.length < sizeBytes;
  return {
    row: row.row,
    title: l10n.t('Row {0}', formatCount(row.row)),
    text: isCut ? beginningOf(bytes) : bytes.toString('utf8'),
    rest: isCut ? l10n.t('{0} more not shown', formatBytes(sizeBytes - bytes.length)) : undefined,
    problems: await Promise.all(shown.map((problem) => previewProblem(file, row, problem))),
    moreProblems: found.length > MOST_PROBLEMS ? l10n.t('More problems not shown') : undefined,
  };
}

async function previewProblem(file: RowFile, row: FileRow, problem: Problem): Promise<PreviewProblem> {
  const { code, severity, line, column, offset, length } = problem;
  const before = offset - row.offset;
  return {
    severity,
    text: problemSentence(problem),
    // As counted by the editor.
    place: l10n.t('line {0}, column {1}', formatCount(line), formatCount(column)),
    at: before >= 0 && before <= row.bytes.length ? row.bytes.toString('utf8', 0, before).length : undefined,
    length,
    mark: problem.class === 'privacy' ? problemName(code) : undefined,
    repeats: code === 'duplicate-row' ? repeatedRow(Number(problem.detail)) : undefined,
    excerpt: severity === 'error' ? await excerptOf(file, row, problem) : undefined,
  };
}

function repeatedRow(row: number): PreviewProblem['repeats'] {
  return { row, text: l10n.t('Go to Row {0}', formatCount(row)) };
}

async function excerptOf(
  file: RowFile,
  row: FileRow,
  { offset, length }: Problem,
): Promise<PreviewProblem['excerpt']> {
  const end = row.offset + row.sizeBytes;
  if (offset < row.offset || offset > end) return undefined;
  const from = Math.max(row.offset, offset - EXCERPT_BYTES);
  const to = Math.min(end, offset + EXCERPT_BYTES);
  const bytes = await file.read(Buffer.alloc(to - from), from);
  const start = from === row.offset ? 0 : leadingContinuations(bytes);
  const rest = bytes.subarray(offset - from);
  const behind = to === end ? rest.toString('utf8') : beginningOf(rest);
  const marked = behind.slice(0, Math.min(length, MOST_MARKED));
  return {
    before: `${from === row.offset ? '' : '…'}${bytes.toString('utf8', start, offset - from)}`,
    marked,
    after: `${behind.slice(marked.length)}${to === end ? '' : '…'}`,
  };
}

function leadingContinuations(bytes: Buffer): number {
  let count = 0;
  while (count < 3 && ((bytes[count] ?? 0) & 0xc0) === 0x80) count += 1;
  return count;
}

/** Decodes UTF-8 without a truncated last character. */
function beginningOf(bytes: Buffer): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true });
}
