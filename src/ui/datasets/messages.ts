import * as vscode from 'vscode';
import type { CheckFailure } from '../../core/datasets/errors.ts';
import { WARN_DATASET_BYTES } from '../../core/api/types.ts';
import type { Format } from '../../core/datasets/report.ts';
import type { Summary } from '../../core/datasets/summary.ts';
import { formatCount } from '../shared/format.ts';

/** What a format is called. */
export function formatName(format: Format): string {
  const { l10n } = vscode;
  switch (format) {
    case 'chat':
      return l10n.t('chat');
    case 'prompt-completion':
      return l10n.t('prompt/completion');
    case 'instruction':
      return l10n.t('instruction/output');
    case 'question-answer':
      return l10n.t('question/answer');
    case 'text':
      return l10n.t('plain text');
    case 'preference':
      return l10n.t('preference pairs');
    case 'sharegpt':
      return l10n.t('ShareGPT conversations');
    case 'unknown':
      return l10n.t('an unknown format');
  }
}

/** The verdict where there is little room: "7,473 rows · question/answer · 2 warnings". */
export function verdictLine(summary: Summary): string {
  if (summary.kind !== 'rows') return kindName(summary.kind);
  const { format } = summary;
  return [
    rowCount(summary),
    ...(format === undefined ? [] : [formatName(format)]),
    ...(foundCounts(summary) ?? [vscode.l10n.t('no problems')]),
  ].join(' · ');
}

/** The verdict as a sentence: "gsm8k.jsonl: 7,473 rows of question/answer, 2 warnings." */
export function verdictSentence(name: string, summary: Summary): string {
  const size = sizePhrase(summary.sizeBytes);
  const phrase = verdictPhrase(summary);
  return vscode.l10n.t('{0}: {1}.', name, size === undefined ? phrase : `${phrase}, ${size}`);
}

/** What is said of a size that the service may refuse: "600 MB" can be 600,000,000 bytes or more (spec: "Limits"). */
export function sizePhrase(sizeBytes: number): string | undefined {
  return sizeBytes < WARN_DATASET_BYTES
    ? undefined
    : vscode.l10n.t('close to “600 MB”: the service may refuse it');
}

/** The verdict within a sentence: "7,473 rows of question/answer, 2 warnings". */
export function verdictPhrase(summary: Summary): string {
  const { l10n } = vscode;
  if (summary.kind !== 'rows') return kindName(summary.kind);
  const { format } = summary;
  const count = rowCount(summary);
  const what = format === undefined ? count : l10n.t('{0} of {1}', count, formatName(format));
  return [what, ...(foundCounts(summary) ?? [l10n.t('no problems found')])].join(', ');
}

/** What may be private beside API keys: "12 e-mail addresses, 1 card number"; undefined where nothing was found. */
export function privacyPhrase({ emailAddresses, cardNumbers }: Summary): string | undefined {
  const { l10n } = vscode;
  const found = [
    ...some(
      emailAddresses,
      l10n.t('1 e-mail address'),
      l10n.t('{0} e-mail addresses', formatCount(emailAddresses)),
    ),
    ...some(
      cardNumbers,
      l10n.t('1 payment card number'),
      l10n.t('{0} payment card numbers', formatCount(cardNumbers)),
    ),
  ];
  return found.length === 0 ? undefined : found.join(', ');
}

/** How much there is to train on, called the estimate that it is. */
export function tokensPhrase({ estimatedTokens }: Summary): string {
  const rounded = Number(estimatedTokens.toPrecision(2));
  return vscode.l10n.t('about {0} tokens (an estimate)', formatCount(rounded));
}

/** What the summary of a submission tells of the check: verdict, size in tokens, and what may be private. */
export function checkRows(check: Summary | 'unchecked'): { icon: string; name: string; value: string }[] {
  const { l10n } = vscode;
  const name = l10n.t('Check');
  if (check === 'unchecked') return [{ icon: 'warning', name, value: l10n.t('not done: the check failed') }];
  const privacy = privacyPhrase(check);
  return [
    { icon: check.verdict === 'errors' ? 'error' : 'checklist', name, value: verdictPhrase(check) },
    ...(check.kind === 'rows'
      ? [{ icon: 'symbol-text', name: l10n.t('Length'), value: tokensPhrase(check) }]
      : []),
    ...(privacy === undefined ? [] : [{ icon: 'eye', name: l10n.t('Personal data'), value: privacy }]),
  ];
}

/** What stops a submission until a person has looked: "3 errors, 1 secret", or what the file is instead of rows. */
export function stoppingPhrase(summary: Summary): string {
  const { l10n } = vscode;
  if (summary.kind !== 'rows') return kindName(summary.kind);
  if (summary.isBlank) return l10n.t('it has only blank rows');
  return [
    ...(foundCounts({ ...summary, warnings: 0 }) ?? []),
    ...some(
      summary.unchecked,
      l10n.t('1 row too long to be checked'),
      l10n.t('{0} rows too long to be checked', formatCount(summary.unchecked)),
    ),
  ].join(', ');
}

/** What is wrong with a file that has no rows, and what to do. */
export function kindSentence(kind: 'utf-16' | 'binary' | 'json-array'): string {
  const { l10n } = vscode;
  switch (kind) {
    case 'utf-16':
      return l10n.t(
        'The file is UTF-16 text. The service reads UTF-8: save it with that encoding (the encoding stands in the status bar).',
      );
    case 'binary':
      return l10n.t('The file is no text. A dataset is UTF-8 text with one JSON object on each line.');
    case 'json-array':
      return l10n.t(
        'The whole file is one JSON array. A dataset has one JSON object on each line: turn the array into lines.',
      );
  }
}

/** Why a check came to no verdict, and what to do. */
export function failureSentence(name: string, failure: CheckFailure): string {
  const { l10n } = vscode;
  switch (failure) {
    case 'missing':
      return l10n.t('{0} does not exist any more.', name);
    case 'unreadable':
      return l10n.t('{0} could not be read to its end.', name);
    case 'changing':
      return l10n.t('{0} was written to while it was checked. Check it again when it is complete.', name);
    case 'worker-died':
      return l10n.t('The check of {0} ended before it came to a verdict. The log says why.', name);
  }
}

/** What does not fit into the Problems panel. */
export function moreSentence(shown: number, hiddenErrors: number, hiddenWarnings: number): string {
  const { l10n } = vscode;
  const hidden = [
    ...some(hiddenErrors, l10n.t('1 more error'), l10n.t('{0} more errors', formatCount(hiddenErrors))),
    ...some(
      hiddenWarnings,
      l10n.t('1 more warning'),
      l10n.t('{0} more warnings', formatCount(hiddenWarnings)),
    ),
  ].join(l10n.t(' and '));
  return l10n.t(
    '{0}: only {1} are listed here. The preview of the dataset counts them all, and shows more of them.',
    hidden,
    formatCount(shown),
  );
}

function kindName(kind: 'utf-16' | 'binary' | 'json-array'): string {
  const { l10n } = vscode;
  switch (kind) {
    case 'utf-16':
      return l10n.t('UTF-16 text instead of UTF-8');
    case 'binary':
      return l10n.t('no text');
    case 'json-array':
      return l10n.t('one JSON array instead of a JSON object on each line');
  }
}

function rowCount({ rows, isBlank }: Summary): string {
  if (isBlank) return vscode.l10n.t('only blank rows');
  return rows === 1 ? vscode.l10n.t('1 row') : vscode.l10n.t('{0} rows', formatCount(rows));
}

/** Errors, secrets and warnings, as far as there are some; undefined where there are none. */
function foundCounts({ errors, secrets, warnings }: Summary): string[] | undefined {
  const { l10n } = vscode;
  const found = [
    ...some(errors, l10n.t('1 error'), l10n.t('{0} errors', formatCount(errors))),
    ...some(secrets, l10n.t('1 secret'), l10n.t('{0} secrets', formatCount(secrets))),
    ...some(warnings, l10n.t('1 warning'), l10n.t('{0} warnings', formatCount(warnings))),
  ];
  return found.length === 0 ? undefined : found;
}

function some(count: number, one: string, many: string): string[] {
  return count === 0 ? [] : [count === 1 ? one : many];
}
