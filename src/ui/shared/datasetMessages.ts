import * as vscode from 'vscode';
import { MAX_DATASET_BYTES, WARN_DATASET_BYTES } from '../../core/api/types.ts';
import {
  isUnread,
  type CheckFailure,
  type FileKind,
  type Format,
  type Summary,
} from '../../core/datasets/report.ts';
import type { DatasetProblem } from '../../core/datasets/fileKind.ts';
import type { Prior, TrainedBefore } from '../../core/submission/trainedBefore.ts';
import { formatCount, formatDay, formatMoney, formatRows } from './format.ts';
import { sanitizeServiceText } from './serviceText.ts';

type OtherKind = Exclude<FileKind, 'rows'>;

const FORMATS: Readonly<Record<Format, string>> = {
  chat: vscode.l10n.t('chat'),
  'prompt-completion': vscode.l10n.t('prompt/completion'),
  instruction: vscode.l10n.t('instruction/output'),
  'question-answer': vscode.l10n.t('question/answer'),
  text: vscode.l10n.t('plain text'),
  preference: vscode.l10n.t('preference pairs'),
  sharegpt: vscode.l10n.t('ShareGPT conversations'),
  unknown: vscode.l10n.t('an unknown format'),
};

/** What a format is called. */
export function formatName(format: Format): string {
  return FORMATS[format];
}

/** The verdict where there is little room: "7,473 rows · question/answer · 2 warnings". */
export function verdictLine(summary: Summary): string {
  if (summary.kind !== 'rows') return KINDS[summary.kind][0];
  const { format } = summary;
  return [
    rowCount(summary),
    ...(format === undefined ? [] : [formatName(format)]),
    ...(foundCounts(summary) ?? [vscode.l10n.t('no problems')]),
  ].join(' · ');
}

/** The verdict within a sentence: "7,473 rows of question/answer, 2 warnings". */
export function verdictPhrase(summary: Summary): string {
  const { l10n } = vscode;
  if (summary.kind !== 'rows') return KINDS[summary.kind][0];
  const { format } = summary;
  const count = rowCount(summary);
  const what = format === undefined ? count : l10n.t('{0} of {1}', count, formatName(format));
  return [what, ...(foundCounts(summary) ?? [l10n.t('no problems')])].join(', ');
}

/** About a size that the service may reject: "600 MB" can be 600,000,000 bytes or more (spec: "Limits"). */
export function sizePhrase(sizeBytes: number): string | undefined {
  return sizeBytes < WARN_DATASET_BYTES
    ? undefined
    : vscode.l10n.t('close to the 600 MB limit; the service may reject it');
}

/** What may be private beside API keys: "12 email addresses, 1 card number"; undefined where nothing was found. */
export function privacyPhrase({ emailAddresses, cardNumbers }: Summary): string | undefined {
  const { l10n } = vscode;
  const found = [
    ...counted(
      emailAddresses,
      l10n.t('1 email address'),
      l10n.t('{0} email addresses', formatCount(emailAddresses)),
    ),
    ...counted(
      cardNumbers,
      l10n.t('1 payment card number'),
      l10n.t('{0} payment card numbers', formatCount(cardNumbers)),
    ),
  ];
  return found.length === 0 ? undefined : found.join(', ');
}

/** How much there is to train on. */
export function tokensPhrase({ estimatedTokens }: Pick<Summary, 'estimatedTokens'>): string {
  const rounded = Number(estimatedTokens.toPrecision(2));
  return vscode.l10n.t('about {0} tokens (estimate)', formatCount(rounded));
}

/** An earlier run within a sentence: "May 3, 2026 with Qwen3 8B, 5.17 USD". @param otherAccount that paid, if it isn't the active one */
export function priorPhrase(
  { submittedAtMs, runId, priceCents, currency }: Prior,
  modelName: string,
  otherAccount: string | undefined,
  time = formatDay(submittedAtMs),
): string {
  const { l10n } = vscode;
  const model = sanitizeServiceText(modelName);
  const run =
    otherAccount === undefined
      ? l10n.t('{0} with {1}', time, model)
      : l10n.t('{0} with {1} by {2}', time, model, sanitizeServiceText(otherAccount));
  if (runId === undefined) return l10n.t('{0}, discarded: you may have been charged', run);
  return priceCents === undefined ? run : l10n.t('{0}, {1}', run, formatMoney(priceCents, currency));
}

/** How an earlier run is named. */
export interface RunNames {
  modelName: string;
  /** The account that paid, if it isn't the active one. */
  otherAccount: string | undefined;
}

/** The last run of a dataset, and whether that was of other bytes. @param rows of the file now */
export function trainedPhrase(
  { kind, run, modelName, otherAccount }: TrainedBefore & RunNames,
  rows: number | undefined,
): string {
  const { l10n } = vscode;
  const phrase = priorPhrase(run, modelName, otherAccount);
  if (kind === 'same') return phrase;
  const more = rows === undefined || run.rows === undefined ? 0 : rows - run.rows;
  const count = formatCount(Math.abs(more));
  if (more === 0) return l10n.t('{0}; changed since', phrase);
  if (Math.abs(more) === 1)
    return more > 0
      ? l10n.t('{0}; changed since (1 more row)', phrase)
      : l10n.t('{0}; changed since (1 row fewer)', phrase);
  return more > 0
    ? l10n.t('{0}; changed since ({1} more rows)', phrase, count)
    : l10n.t('{0}; changed since ({1} fewer rows)', phrase, count);
}

/** What a check found that the summary of a submission has to say: problems, and what may be private. */
export function checkRows(check: Summary | 'unchecked'): { icon: string; name: string; value: string }[] {
  const { l10n } = vscode;
  const name = l10n.t('Check');
  if (check === 'unchecked') return [{ icon: 'warning', name, value: l10n.t('skipped, the check failed') }];
  const privacy = privacyPhrase(check);
  const icon = check.verdict === 'errors' ? 'error' : 'warning';
  return [
    ...(check.verdict === 'clean' ? [] : [{ icon, name, value: verdictPhrase(check) }]),
    ...(privacy === undefined ? [] : [{ icon: 'eye', name: l10n.t('Personal data'), value: privacy }]),
  ];
}

/** What a file is instead of rows, and what to do. */
export function kindSentence(kind: OtherKind): string {
  return KINDS[kind][1];
}

/** Name and sentence. */
const KINDS: Readonly<Record<OtherKind, readonly [string, string]>> = {
  'utf-16': [
    vscode.l10n.t('UTF-16 instead of UTF-8'),
    vscode.l10n.t('The file is UTF-16. Save it as UTF-8: change the encoding in the status bar.'),
  ],
  'utf-32': [
    vscode.l10n.t('UTF-32 instead of UTF-8'),
    vscode.l10n.t('The file is UTF-32. Convert it to UTF-8.'),
  ],
  gzip: [vscode.l10n.t('compressed'), vscode.l10n.t('The file is compressed (gzip). Decompress it.')],
  binary: [
    vscode.l10n.t('not a text file'),
    vscode.l10n.t('Not a text file. A dataset is a UTF-8 file with one JSON object per line.'),
  ],
  'git-lfs': [
    vscode.l10n.t('a Git LFS pointer'),
    vscode.l10n.t('The file is a Git LFS pointer, not the dataset. Run git lfs pull.'),
  ],
  html: [
    vscode.l10n.t('a web page'),
    vscode.l10n.t('The file is a web page, not a dataset. Download the dataset again.'),
  ],
  csv: [
    vscode.l10n.t('CSV instead of JSONL'),
    vscode.l10n.t('The file is CSV. Convert it to JSONL: one JSON object per line.'),
  ],
  python: [
    vscode.l10n.t('Python literals instead of JSON'),
    vscode.l10n.t('The rows are Python literals, not JSON. Write them with json.dumps.'),
  ],
  'json-array': [
    vscode.l10n.t('a JSON array instead of one JSON object per line'),
    vscode.l10n.t('The file is a single JSON array. Convert it to JSONL: one JSON object per line.'),
  ],
  'pretty-json': [
    vscode.l10n.t('pretty-printed JSON instead of one JSON object per line'),
    vscode.l10n.t('The file is pretty-printed JSON. Convert it to JSONL: one JSON object per line.'),
  ],
};

/** Why a check came to no verdict, and what to do. */
export function failureSentence(name: string, failure: CheckFailure): string {
  const { l10n } = vscode;
  const sentences: Readonly<Record<CheckFailure, string>> = {
    missing: l10n.t('{0} no longer exists.', name),
    unreadable: l10n.t('{0} couldn’t be read completely.', name),
    changing: l10n.t('{0} changed during the check. Check it again once it is complete.', name),
    'worker-died': l10n.t('The check of {0} failed. See the log for details.', name),
  };
  return sentences[failure];
}

/** Why a file can't be used as a dataset, and what to do. */
export function refusal(name: string, problem: DatasetProblem | 'not-on-disk'): string {
  const { l10n } = vscode;
  const sentences: Readonly<Record<typeof problem, string>> = {
    missing: l10n.t('{0} no longer exists.', name),
    folder: l10n.t('{0} is a folder. Choose a JSONL file.', name),
    'not-a-file': l10n.t('{0} is not a regular file. Choose a JSONL file.', name),
    unreadable: l10n.t('{0} can’t be read. Check its permissions.', name),
    empty: l10n.t('{0} is empty. A dataset has one JSON object per line.', name),
    'too-large': l10n.t(
      '{0} is larger than the service’s limit of 600 MB ({1} bytes at most). Split it or remove rows.',
      name,
      formatCount(MAX_DATASET_BYTES),
    ),
    'not-on-disk': l10n.t('{0} is not on the machine where extensions run. Save a copy there first.', name),
  };
  return sentences[problem];
}

/** For choosing a dataset. */
export const chooseMessages = {
  title: () => vscode.l10n.t('Choose a Dataset'),
  open: () => vscode.l10n.t('Use as Dataset'),
  allFiles: () => vscode.l10n.t('All Files'),
  whichOne: () => vscode.l10n.t('A run trains on one file. Which one?'),
  otherFile: () => vscode.l10n.t('Choose Another File…'),
};

/** For what a dataset has to pass before it is submitted. */
export const gateMessages = {
  unsaved: (name: string) => vscode.l10n.t('{0} has unsaved changes.', name),
  onlySaved: () => vscode.l10n.t('Only the saved file is submitted.'),
  save: () => vscode.l10n.t('Save and Continue'),
  checking: (name: string) => vscode.l10n.t('Checking {0}', name),
  hashing: (name: string) => vscode.l10n.t('Hashing {0}', name),
  showProblems: () => vscode.l10n.t('Show Problems'),
  convert: () => vscode.l10n.t('Convert to JSONL'),
  checkAgain: () => vscode.l10n.t('Check Again'),
  submitAnyway: () => vscode.l10n.t('Submit Anyway'),
  submitAnywayNext: () => vscode.l10n.t('Submit Anyway…'),
  withoutChecking: () => vscode.l10n.t('Submit Without Checking'),
  withoutCheckingNext: () => vscode.l10n.t('Submit Without Checking…'),
  nothingSent: () => vscode.l10n.t('Nothing has been sent.'),
  notReady: (name: string, summary: Summary) =>
    vscode.l10n.t('{0} is not ready to submit: {1}.', name, stoppingPhrase(summary)),
  notReadyDetail: ({ kind, errors, secrets, unchecked }: Summary): string => {
    const { l10n } = vscode;
    return [
      ...(kind === 'rows' ? [] : [kindSentence(kind)]),
      ...(kind === 'rows' && errors > 0
        ? [l10n.t('The service may reject the file, or charge for rows it cannot use.')]
        : []),
      ...(kind === 'rows' && secrets > 0
        ? [l10n.t('Secrets such as API keys would leave this machine, and a model can repeat them.')]
        : []),
      ...(unchecked > 0 || isUnread(kind)
        ? [l10n.t('What could not be checked was not searched for secrets either.')]
        : []),
      gateMessages.nothingSent(),
    ].join(' ');
  },
  despiteProblems: (name: string) => vscode.l10n.t('Submit {0} despite these problems?', name),
  despiteProblemsDetail: (accountName: string, summary: Summary) =>
    vscode.l10n.t(
      'It will be sent to {0} unchanged: {1}. Model, terms and a final confirmation come next.',
      accountName,
      stoppingPhrase(summary),
    ),
  unchecked: (name: string) => vscode.l10n.t('Submit {0} without checking?', name),
  uncheckedDetail: (name: string, accountName: string) =>
    vscode.l10n.t(
      '{0} will be sent to {1} without checking for errors or secrets. Model, terms and a final confirmation come next.',
      name,
      accountName,
    ),
};

/** What stops a submission until the user confirms: "3 errors, 1 secret", or what the file is instead of rows. */
function stoppingPhrase(summary: Summary): string {
  const { l10n } = vscode;
  if (summary.kind !== 'rows') return KINDS[summary.kind][0];
  if (summary.isBlank) return l10n.t('it has only blank rows');
  return [
    ...(foundCounts({ ...summary, warnings: 0 }) ?? []),
    ...counted(
      summary.unchecked,
      l10n.t('1 row too long to check'),
      l10n.t('{0} rows too long to check', formatCount(summary.unchecked)),
    ),
  ].join(', ');
}

function rowCount({ rows, isBlank }: Summary): string {
  if (isBlank) return vscode.l10n.t('only blank rows');
  return formatRows(rows);
}

/** Errors, secrets and warnings, as far as there are some; undefined where there are none. */
function foundCounts({ errors, secrets, warnings }: Summary): string[] | undefined {
  const { l10n } = vscode;
  const found = [
    ...counted(errors, l10n.t('1 error'), l10n.t('{0} errors', formatCount(errors))),
    ...counted(secrets, l10n.t('1 secret'), l10n.t('{0} secrets', formatCount(secrets))),
    ...counted(warnings, l10n.t('1 warning'), l10n.t('{0} warnings', formatCount(warnings))),
  ];
  return found.length === 0 ? undefined : found;
}

/** Nothing, the singular, or the plural. */
export function counted(count: number, one: string, many: string): string[] {
  return count === 0 ? [] : [count === 1 ? one : many];
}
