import { l10n } from 'vscode';
import { MAX_DATASET_BYTES, WARN_DATASET_BYTES } from '../../core/api/types.ts';
import type { DatasetProblem } from '../../core/datasets/fileKind.ts';
import {
  countOf,
  countProblems,
  hasOnlyBlankRows,
  isConvertible,
  isUntrainable,
  mainFormat,
  type CheckFailure,
  type FileKind,
  type Format,
  type Report,
} from '../../core/datasets/report.ts';
import { phaseOf, type Phase } from '../../core/runs/run.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import type { EarlierSubmission, TrainedBefore } from '../../core/submission/earlier.ts';
import { compact, formatCount, formatDay, formatMoney, formatRows } from './format.ts';
import { COMMANDS, type CommandId } from './ids.ts';
import { sanitizeServiceText } from './serviceText.ts';
import { TERMS } from './terms.ts';

type OtherKind = Exclude<FileKind, 'rows'>;

export const FORMAT_NAMES: Readonly<Record<Format, string>> = {
  chat: l10n.t('chat'),
  'prompt-completion': l10n.t('prompt/completion'),
  instruction: l10n.t('instruction/output'),
  'question-answer': l10n.t('question/answer'),
  text: l10n.t('plain text'),
  preference: l10n.t('preference pairs'),
  sharegpt: l10n.t('ShareGPT conversations'),
  unknown: l10n.t('an unknown format'),
};

/** The verdict where space is limited: "7,473 rows · question/answer · 2 warnings". */
export function verdictLine(report: Report): string {
  return compact(kindLine(report), ...(report.kind === 'rows' ? problemsFound(report) : [])).join(' · ');
}

/** What a file is: "7,473 rows · question/answer". */
export function kindLine(report: Report): string {
  if (report.kind !== 'rows') return KINDS[report.kind][0];
  return compact(rowCount(report), formatText(report)).join(' · ');
}

/** The verdict as part of a sentence: "7,473 rows of question/answer, 2 warnings", or "645 rows in 5 formats, no problems". */
export function verdictPhrase(report: Report): string {
  if (report.kind !== 'rows') return KINDS[report.kind][0];
  const [count, format] = [rowCount(report), formatText(report)];
  const isMixed = typeof mainFormat(report) === 'number';
  const rows =
    format && (isMixed ? l10n.t('{0} in {1}', count, format) : l10n.t('{0} of {1}', count, format));
  return [rows ?? count, ...problemsFound(report)].join(', ');
}

function formatText(report: Report): string | undefined {
  const format = mainFormat(report);
  return typeof format === 'number' ? l10n.t('{0} formats', format) : format && FORMAT_NAMES[format];
}

export function problemsFound(report: Report, found = foundCounts(report)): string[] {
  return found.length === 0 ? [l10n.t('no problems')] : found;
}

/** Warns of a size that the service may reject: "600 MB" may mean 600,000,000 bytes or more (spec: "Limits"). */
export function sizePhrase(sizeBytes: number): string | undefined {
  return sizeBytes < WARN_DATASET_BYTES
    ? undefined
    : l10n.t('close to the 600 MB limit; the service may reject it');
}

/** Possible personal data: "email addresses (12), payment card numbers (1)"; empty if none was found. */
export function privacyPhrase(report: Report): string {
  const [emailAddresses, cardNumbers] = [countOf(report, 'email-address'), countOf(report, 'card-number')];
  return compact(
    emailAddresses > 0 && l10n.t('email addresses ({0})', formatCount(emailAddresses)),
    cardNumbers > 0 && l10n.t('payment card numbers ({0})', formatCount(cardNumbers)),
  ).join(', ');
}

/** An earlier run in a sentence: "May 3, 2026 with Qwen3 8B, 5.17 USD", with the payer if it isn't the active account. */
export function earlierPhrase(
  { submittedAtMs, runId, priceCents, currency, modelName, otherAccount }: ShownEarlier,
  time = formatDay(submittedAtMs),
): string {
  const model = sanitizeServiceText(modelName);
  const run =
    otherAccount === undefined
      ? l10n.t('{0} with {1}', time, model)
      : l10n.t('{0} with {1} ({2})', time, model, sanitizeServiceText(otherAccount));
  if (runId === undefined) return l10n.t('{0}, discarded: you may have been charged', run);
  return priceCents === undefined ? run : l10n.t('{0}, {1}', run, formatMoney(priceCents, currency));
}

/** An earlier submission, with what is shown besides its record. */
export interface ShownEarlier extends EarlierSubmission {
  modelName: string;
  /** The account that paid, if it isn't the active one. */
  otherAccount: string | undefined;
  isCompleted: boolean;
  /** Its status as a word; undefined if the run isn't known now. */
  status: string | undefined;
}

/** The last run of a file, as it is shown. */
export type ShownTrained = TrainedBefore & {
  run: ShownEarlier;
  /** What changed since, in numbers, once that is known. */
  since?: string | undefined;
};

/** Adds names, and the status of the run if its account's runs are loaded. */
export function shownEarlier<T extends EarlierSubmission>(
  one: T,
  { models }: Pick<Session, 'models'>,
  sessions: Pick<Sessions, 'find' | 'otherName'>,
): T & ShownEarlier {
  const { accountId, modelId, runId } = one;
  const names = { ...one, modelName: models.nameOf(modelId), otherAccount: sessions.otherName(accountId) };
  const session = runId === undefined ? undefined : sessions.find(accountId);
  const detail = session?.runs.detail(runId ?? '');
  const run = session?.runs.get(runId ?? '') ?? (detail && { ...detail, artifacts_available: false });
  const phase = run && session?.isLocked === false ? phaseOf(run, detail) : undefined;
  const status = run && phase && statusWord(run.status, phase);
  return { ...names, isCompleted: phase === 'finished', status };
}

function statusWord(status: string, phase: Phase): string | undefined {
  if (phase === 'waiting') return l10n.t('queued');
  return phase === 'finished' ? l10n.t('completed') : sanitizeServiceText(status) || undefined;
}

/** The name of a row about an earlier run: `Trained before`, or `Submitted before · queued`. @param isRepeat warns that it is recent */
export function earlierName({ kind, isCompleted, status }: ShownEarlier, isRepeat = false): string {
  if (kind === 'elsewhere') return compact(TERMS.submittedElsewhere, status).join(' · ');
  return isCompleted && !isRepeat ? TERMS.trainedBefore : compact(TERMS.submittedBefore, status).join(' · ');
}

/** The last run of a dataset, and whether the file changed since. */
export function trainedPhrase({ kind, run, since }: ShownTrained): string {
  const { currency, modelName, otherAccount, priceCents } = run;
  const price = priceCents !== undefined && formatMoney(priceCents, currency);
  const names = [modelName, otherAccount ?? ''].map((one) => sanitizeServiceText(one));
  if (since !== undefined) return compact(since, ...names, price).join(' · ');
  return kind === 'same' ? earlierPhrase(run) : l10n.t('{0}; changed since', earlierPhrase(run));
}

const OBJECTS = l10n.t('A dataset has one JSON object per line.');
const TO_JSONL = l10n.t('Convert it to JSONL.');

/** The name of each kind, and what to do. */
export const KINDS: Readonly<Record<OtherKind, readonly [string, string]>> = {
  'utf-16': [l10n.t('UTF-16, not UTF-8'), TO_JSONL],
  'utf-32': [l10n.t('UTF-32, not UTF-8'), l10n.t('Convert it to UTF-8.')],
  gzip: [l10n.t('compressed (gzip)'), l10n.t('Decompress it.')],
  binary: [l10n.t('not text'), OBJECTS],
  'git-lfs': [l10n.t('a Git LFS pointer'), l10n.t('Run git lfs pull.')],
  html: [l10n.t('a web page'), l10n.t('Download the dataset again.')],
  csv: [l10n.t('CSV, not JSONL'), TO_JSONL],
  'cr-only': [l10n.t('JSONL with CR line endings'), l10n.t('Change them to LF.')],
  python: [l10n.t('Python, not JSON'), l10n.t('Write rows with json.dumps.')],
  answers: [l10n.t('a list of answers, not a dataset'), l10n.t('Run Compare Answers.')],
  requests: [l10n.t('API requests or responses, not a dataset'), TO_JSONL],
  'other-form': [l10n.t('rows in another service’s format'), TO_JSONL],
  'json-array': [l10n.t('a JSON array, not JSONL'), TO_JSONL],
  array: [l10n.t('a JSON array whose elements aren’t objects'), OBJECTS],
  'pretty-json': [l10n.t('pretty-printed JSON, not JSONL'), TO_JSONL],
};

/** The button for a file of another kind, or that isn't UTF-8. */
export function useOf(file: FileKind | Report): { title: string; command: CommandId } | undefined {
  const kind = typeof file === 'string' ? file : countOf(file, 'invalid-utf8') > 0 ? 'csv' : file.kind;
  if (kind === 'answers') return { title: TERMS.compareAnswers, command: COMMANDS.compareAnswers };
  return isConvertible(kind) ? { title: TERMS.convertToJsonl, command: COMMANDS.convertToJsonl } : undefined;
}

/** Why a check failed, and what to do. */
export function failureSentence(name: string, failure: CheckFailure): string {
  const sentences: Readonly<Record<CheckFailure, string>> = {
    missing: diskSentence(name, 'missing'),
    unreadable: l10n.t('{0} couldn’t be read completely.', name),
    changing: l10n.t('{0} changed during the check. Check it again.', name),
    'worker-died': l10n.t('Couldn’t check {0}. See the log for details.', name),
  };
  return sentences[failure];
}

/** Why a file can't be used as a dataset, and what to do. */
export function refusalSentence(name: string, problem: DatasetProblem | 'not-on-disk'): string {
  if (problem === 'missing') return diskSentence(name, problem);
  const sentences: Readonly<Record<typeof problem, string>> = {
    folder: l10n.t('{0} is a folder. Choose a JSONL file.', name),
    'not-a-file': l10n.t('{0} isn’t a regular file.', name),
    unreadable: l10n.t('{0} can’t be read. Check its permissions.', name),
    empty: l10n.t('{0} is empty.', name),
    'too-large': l10n.t(
      '{0} is larger than the service’s limit of 600 MB ({1} bytes). Split it or remove rows.',
      name,
      formatCount(MAX_DATASET_BYTES),
    ),
    'not-on-disk': notOnDisk(name),
  };
  return sentences[problem];
}

/** Says that a file on disk no longer matches what was read. */
export function diskSentence(name: string, change: 'changed' | 'missing'): string {
  return change === 'changed'
    ? l10n.t('{0} has changed on disk.', name)
    : l10n.t('{0} no longer exists.', name);
}

/** For a file on the client's machine, or in another file system. */
export function notOnDisk(name: string): string {
  return l10n.t('{0} isn’t on the machine where extensions run. Save a copy there first.', name);
}

export function checkingDatasetTitle(name: string): string {
  return l10n.t('Checking {0}', name);
}

function rowCount(report: Report): string {
  return hasOnlyBlankRows(report) ? l10n.t('only blank rows') : formatRows(report.rows);
}

/** Counts of errors, secrets, and warnings, except zeros; and that no row can be trained on. */
export function foundCounts(report: Report, withWarnings = true): string[] {
  const { errors, secrets, ...found } = countProblems(report);
  const warnings = withWarnings ? found.warnings : 0;
  const rows = report.rows - report.blankRows;
  const isUnknown = rows > 1 && report.untrainable.format === rows;
  return compact(
    errors > 0 && (errors === 1 ? l10n.t('1 error') : l10n.t('{0} errors', formatCount(errors))),
    secrets > 0 && (secrets === 1 ? l10n.t('1 secret') : l10n.t('{0} secrets', formatCount(secrets))),
    warnings > 0 && (warnings === 1 ? l10n.t('1 warning') : l10n.t('{0} warnings', formatCount(warnings))),
    isUnknown && l10n.t('none of the {0} rows has a known training format', formatCount(rows)),
    !isUnknown && isUntrainable(report) && l10n.t('no row can be used for training'),
  );
}
