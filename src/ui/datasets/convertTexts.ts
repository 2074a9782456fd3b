import path from 'node:path';
import { l10n } from 'vscode';
import {
  type ConvertError,
  type ConvertedFile,
  type ConvertCounts,
  type ConvertFailure,
  type LeftOutRow,
  MAX_COLUMNS,
  MAX_REQUESTS,
} from '../../core/datasets/convert.ts';
import { isUntrainableCode, type Report, untrainableRows } from '../../core/datasets/report.ts';
import { problemsFound, verdictPhrase } from '../shared/datasetTexts.ts';
import { compact, formatCount, formatRows } from '../shared/format.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { problemName } from './problemTexts.ts';

/** The names of encodings, and the scripts they are used for. */
export const ENCODING_TEXTS: Readonly<
  Record<NonNullable<ConvertedFile['encoding']>, readonly [name: string, use: string]>
> = {
  'windows-1252': ['Windows-1252', l10n.t('Western European')],
  'windows-1250': ['Windows-1250', l10n.t('Central European')],
  'windows-1251': ['Windows-1251', l10n.t('Cyrillic')],
  gbk: ['GBK', l10n.t('Chinese')],
  shift_jis: [l10n.t('Shift JIS'), l10n.t('Japanese')],
  'utf-16': ['UTF-16', ''],
};

/** Why no row of the new file can be trained on; undefined if some can. */
export function uselessReason({ python }: ConvertedFile, report: Report): string | undefined {
  const rows = report.rows - report.blankRows;
  if (report.kind !== 'rows' || untrainableRows(report) + report.errorRows < rows) return undefined;
  if (python !== undefined)
    return l10n.t(
      'column “{0}” is in Python syntax. Write it with json.dumps',
      sanitizeServiceText(python, 40),
    );
  const group = report.problems.find(({ code, severity }) => severity === 'error' || isUntrainableCode(code));
  return problemName(group?.code ?? 'unknown-format');
}

/** @param report the check of the new file; undefined if there is none */
export function convertedSentence(converted: ConvertedFile, report: Report | undefined): string {
  const { rows, messages, encoding, leftOut } = converted;
  const name = sanitizeServiceText(path.basename(converted.path));
  const useless = report && uselessReason(converted, report);
  if (useless !== undefined)
    return l10n.t('Created {0}, but none of its rows can be used for training: {1}.', name, useless);
  const all = Object.values(leftOut).reduce((sum, count) => sum + count, messages > 0 ? messages : rows);
  const partly =
    messages > 0
      ? l10n.t('{0} from {1} messages', formatRows(rows), formatCount(all))
      : l10n.t('{0} of {1}', formatCount(rows), formatRows(all));
  const isPart = rows < all;
  const done = compact(
    isPart ? partly : report ? verdictPhrase(report) : formatRows(rows),
    isPart && report && problemsFound(report).join(', '),
    encoding && l10n.t('read as {0}', ENCODING_TEXTS[encoding][0]),
  ).join(', ');
  return compact(l10n.t('Created {0}: {1}.', name, done), leftOutSentence(converted)).join(' ');
}

/** Why rows are left out. */
const LEFT_OUT: Readonly<Record<LeftOutRow, (count: string) => string>> = {
  failed: (count) => l10n.t('{0} failed', count),
  'cut-off': (count) => l10n.t('{0} cut off at the token limit', count),
  filtered: (count) => l10n.t('{0} filtered', count),
  refused: (count) => l10n.t('{0} refused', count),
  empty: (count) => l10n.t('{0} empty', count),
  'no-request': (count) => l10n.t('{0} without a request', count),
  tools: (count) => l10n.t('{0} with another service’s tool calls', count),
  media: (count) => l10n.t('{0} with images or files', count),
  template: (count) => l10n.t('{0} with a chat template in the text', count),
  incomplete: (count) => l10n.t('{0} incomplete', count),
  ragged: (count) => l10n.t('{0} with more or fewer values than the header', count),
  unrecognized: (count) => l10n.t('{0} not recognized', count),
  'not-json': (count) => l10n.t('{0} with invalid JSON', count),
  'too-long': (count) => l10n.t('{0} longer than 16 MB', count),
};

function leftOutSentence({ leftOut, several, hidden }: ConvertCounts): string | undefined {
  const reasons = Object.keys(LEFT_OUT) as LeftOutRow[];
  const list = compact(
    ...reasons.map((reason) => leftOut[reason] && LEFT_OUT[reason](formatCount(leftOut[reason]))),
    hidden > 0 && l10n.t('{0} hidden messages and tool calls', formatCount(hidden)),
    several > 0 && l10n.t('extra answers in {0}', formatRows(several)),
  );
  return list.length > 0 ? l10n.t('Left out: {0}.', list.join(', ')) : undefined;
}

/** Why a file can't be converted, and what to do; undefined if a question must be answered first. */
export function notConverted(
  { code, row = 0, counts, choices }: ConvertError,
  name: string,
): string | undefined {
  const number = formatCount(row);
  const encoding = Object.entries(ENCODING_TEXTS).find(([one]) => choices.includes(one))?.[1][0] ?? '';
  const sentences: Partial<Readonly<Record<ConvertFailure, string>>> = {
    unknown: l10n.t('Nothing was written: {0} is neither JSON nor CSV.', name),
    'not-json': l10n.t('Nothing was written: {0} isn’t valid JSON.', name),
    'not-objects': l10n.t('Nothing was written: {0} has no objects.', name),
    'not-encoding': l10n.t('Nothing was written: {0} isn’t valid {1}.', name, encoding),
    'utf-32': l10n.t('Nothing was written: {0} is UTF-32, which can’t be read.', name),
    'too-much': l10n.t('Nothing was written: {0} is too large to convert. Split it first.', name),
    'no-rows': l10n.t('Nothing was written: {0} has no rows.', name),
    ragged: l10n.t('Nothing was written: no row in {0} has as many values as the header.', name),
    'too-large': l10n.t('Nothing was written: the result would exceed 600 MB. Split {0} first.', name),
    'too-many-columns': l10n.t(
      'Nothing was written: {0} has more than {1} columns.',
      name,
      formatCount(MAX_COLUMNS),
    ),
    'row-too-long': l10n.t(
      'Nothing was written: row {1} of {0} is longer than 8 MB. A quote may be unclosed.',
      name,
      number,
    ),
    quote: l10n.t(
      'Nothing was written: row {1} of {0}, counting the header, has a quote that isn’t escaped as "".',
      name,
      number,
    ),
    'quote-not-closed': l10n.t(
      'Nothing was written: row {1} of {0} (counting the header) has an unclosed quote.',
      name,
      number,
    ),
    'only-requests': l10n.t('{0} has requests but no answers. Convert the batch’s output instead.', name),
    'no-answers': compact(
      counts?.leftOut['no-request'] !== undefined
        ? l10n.t('The chosen input file has no requests for these answers.')
        : l10n.t('Nothing was written: no row in {0} can be converted.', name),
      counts && leftOutSentence(counts),
    ).join(' '),
    'too-many-requests': l10n.t(
      'Nothing was written: a batch’s input can have at most {0} requests.',
      formatCount(MAX_REQUESTS),
    ),
  };
  return sentences[code];
}
