import * as vscode from 'vscode';
import {
  formatAgo,
  formatBytes,
  formatCount,
  formatDuration,
  formatMoment,
  formatTime,
} from '../shared/format.ts';
import { strangerText } from '../shared/strangerText.ts';

/** Where a submission that is not settled stands, as `runs/` tells it. */
type SubmissionState =
  | 'queued'
  | 'uploading'
  | 'validating'
  | 'waiting'
  | 'checking'
  | 'elsewhere'
  | 'unsent'
  | 'unknown'
  | 'not-charged'
  | 'refused';

/** What is said of a submission that is not settled: the part of `runs/`'s own type that makes sentences. */
export interface SubmissionView {
  readonly id: string;
  readonly state: SubmissionState;
  readonly sentBytes: number;
  readonly totalBytes: number;
  /** When this attempt's upload began; milliseconds since the epoch. */
  readonly startedAtMs?: number | undefined;
  /** The last attempt that was begun, from 1. */
  readonly attempt: number;
  readonly retryAtMs?: number | undefined;
  readonly intent: {
    readonly created: { readonly localMs: number };
    readonly dataset: {
      readonly filename: string;
      readonly sizeBytes: number;
      readonly rows?: number | undefined;
    };
    readonly model_id: string;
    readonly label?: string | undefined;
    readonly marker?: string | undefined;
    readonly priority_processing: boolean;
    readonly attempts: readonly {
      readonly started: { readonly localMs: number };
      readonly closed?: { readonly localMs: number } | undefined;
      readonly ended?: { readonly localMs: number } | undefined;
      readonly code?: string | undefined;
    }[];
    readonly balanceBefore?: { readonly balance_cents: number; readonly currency: string } | undefined;
    readonly lastLook?:
      | {
          readonly at: { readonly localMs: number };
          readonly complete: boolean;
          readonly candidates: readonly string[];
          readonly balance_cents?: number | undefined;
        }
      | undefined;
    readonly refused?: { readonly code: string } | undefined;
  };
}

export const resolveTitle = () => vscode.l10n.t('Resolve Submission');

/** The label as the person gave it, or the file's name. */
export function submissionName({ intent: { label, marker, dataset } }: SubmissionView): string {
  const given = marker === undefined ? label : label?.replace(marker, '').trim();
  return given === undefined || given === '' ? dataset.filename : given;
}

/** Where it stands, in one line: bytes and speed while it is sent, else what is true of the money. */
export function stateText(view: SubmissionView, nowMs: number): string {
  const { l10n } = vscode;
  switch (view.state) {
    case 'queued':
      return l10n.t('Waiting for the upload before it');
    case 'uploading':
      return ofAttempt(view.attempt, uploadText(view, nowMs));
    case 'validating':
      return view.attempt > 1
        ? l10n.t('Attempt {0}: uploaded; the service is validating', view.attempt)
        : l10n.t('Uploaded; the service is validating');
    case 'waiting':
      return view.retryAtMs === undefined
        ? l10n.t('Waiting for attempt {0}', view.attempt + 1)
        : l10n.t('Attempt {0} in {1}', view.attempt + 1, formatDuration(view.retryAtMs - nowMs));
    case 'checking':
      return l10n.t('Checking…');
    case 'elsewhere':
      return l10n.t('Open in another window');
    case 'unsent':
      return l10n.t('Not charged · not sent');
    case 'unknown':
      return unknownText(view, nowMs);
    case 'not-charged':
      return l10n.t('Not charged');
    case 'refused':
      return refusedText(view.intent.refused?.code);
  }
}

/** The grey text of its row. @param accountName of another account than the active one */
export function submissionDescription(view: SubmissionView, nowMs: number, accountName?: string): string {
  return [
    stateText(view, nowMs),
    ...(accountName === undefined ? [] : [accountName]),
    ...(isResting(view) ? [formatAgo(sentAtMs(view), nowMs)] : []),
  ].join(' · ');
}

/** What a screen reader says of its row. */
export function submissionAccessibleLabel(view: SubmissionView, nowMs: number, accountName?: string): string {
  const name = submissionName(view);
  const { filename } = view.intent.dataset;
  const names = name === filename ? [name] : [name, filename];
  return [...names, submissionDescription(view, nowMs, accountName).replaceAll(' · ', ', ')].join(', ');
}

export function submissionTooltip(
  view: SubmissionView,
  modelName: string,
  nowMs: number,
  accountName?: string,
): string {
  const { l10n } = vscode;
  const { dataset, label } = view.intent;
  return [
    dataset.filename,
    submissionDescription(view, nowMs),
    ...(accountName === undefined ? [] : [l10n.t('Account: {0}', accountName)]),
    l10n.t('Model: {0}', modelName),
    ...(label === undefined ? [] : [l10n.t('Label: {0}', label)]),
    l10n.t('Size: {0}', formatBytes(dataset.sizeBytes)),
    l10n.t('Started: {0}', formatTime(view.intent.created.localMs)),
  ].join('\n');
}

/** What is true of the money, as a sentence. */
export function truthSentence(view: SubmissionView, nowMs: number): string {
  const { l10n } = vscode;
  switch (view.state) {
    case 'unsent':
      return l10n.t('Nothing was charged: it was not sent to its end.');
    case 'refused':
      return refusedSentence(view.intent.refused?.code);
    case 'not-charged':
      return l10n.t('Not charged: two checks found no such run and no lower balance.');
    case 'unknown':
      return isInterrupted(view)
        ? l10n.t(
            'You may have been charged: the upload finished, but the submission was interrupted before the service answered.',
          )
        : l10n.t('You may have been charged: the upload finished, but the service didn’t confirm it.');
    case 'elsewhere':
      return l10n.t('This submission is open in another window. Continue there.');
    case 'checking':
      return stateText(view, nowMs);
    default:
      return `${stateText(view, nowMs)}.`;
  }
}

/** What the last look saw, as far as it went; undefined where there was none. */
export function lookText({ intent }: SubmissionView, nowMs: number): string | undefined {
  const { l10n } = vscode;
  const { lastLook, balanceBefore } = intent;
  if (lastLook === undefined) return undefined;
  const asOf = formatMoment(lastLook.at.localMs, nowMs);
  const { length } = lastLook.candidates;
  if (length === 1) return l10n.t('1 run could be this one, as of {0}', asOf);
  if (length > 1) return l10n.t('{0} runs could be this one, as of {1}', formatCount(length), asOf);
  if (!lastLook.complete) return l10n.t('Not everything could be read at {0}', asOf);
  if (balanceBefore === undefined || lastLook.balance_cents === undefined)
    return l10n.t('No such run seen as of {0}', asOf);
  return lastLook.balance_cents < balanceBefore.balance_cents
    ? l10n.t('No such run, but a lower balance, as of {0}', asOf)
    : l10n.t('No charge seen as of {0}', asOf);
}

/** When it was last sent, or made where it never was; milliseconds since the epoch. */
export function sentAtMs({ intent: { attempts, created } }: SubmissionView): number {
  return (attempts.at(-1)?.started ?? created).localMs;
}

function isResting({ state }: SubmissionView): boolean {
  return state === 'unsent' || state === 'unknown' || state === 'not-charged' || state === 'refused';
}

/** Whether the window, the machine or the person ended it before the last attempt had an answer. */
export function isInterrupted({ intent }: SubmissionView): boolean {
  // An attempt that ended here has a code; a check notes only when it must have been over.
  const code = intent.attempts.at(-1)?.code;
  return code === undefined || code === 'cancelled';
}

/** The money first: a narrow view cuts the end. */
function unknownText(view: SubmissionView, nowMs: number): string {
  const { l10n } = vscode;
  const { lastLook } = view.intent;
  if (lastLook === undefined)
    return isInterrupted(view)
      ? l10n.t('May be charged · interrupted')
      : l10n.t('May be charged · no answer');
  const { length } = lastLook.candidates;
  if (length === 1) return l10n.t('May be charged · 1 possible run');
  if (length > 1) return l10n.t('May be charged · {0} possible runs', formatCount(length));
  return l10n.t('May be charged · checked {0}', formatMoment(lastLook.at.localMs, nowMs));
}

function refusedText(code: string | undefined): string {
  const { l10n } = vscode;
  switch (code) {
    case 'insufficient_balance':
      return l10n.t('Not charged · balance too low');
    case 'model_not_available':
      return l10n.t('Not charged · model not available');
    case 'invalid_api_key':
      return l10n.t('Not charged · API key not accepted');
    default:
      return l10n.t('Not charged · refused');
  }
}

function refusedSentence(code: string | undefined): string {
  const { l10n } = vscode;
  switch (code) {
    case 'insufficient_balance':
      return l10n.t('Nothing was charged: the service refused it, because the balance was too low.');
    case 'model_not_available':
      return l10n.t('Nothing was charged: the service refused it, because the model was not available.');
    case 'invalid_api_key':
      return l10n.t('Nothing was charged: the service refused it, because it did not accept the API key.');
    // An answer without a code that is kept.
    case undefined:
    case '':
      return l10n.t('Nothing was charged: the service refused it.');
    default:
      return l10n.t('Nothing was charged: the service refused it with the error “{0}”.', strangerText(code));
  }
}

function uploadText({ sentBytes, totalBytes, startedAtMs }: SubmissionView, nowMs: number): string {
  const { l10n } = vscode;
  const seconds = startedAtMs === undefined ? 0 : (nowMs - startedAtMs) / 1_000;
  const amount = l10n.t('{0} of {1}', formatBytes(sentBytes), formatBytes(totalBytes));
  if (seconds < 0.5 || sentBytes === 0) return amount;
  const bytesPerSecond = sentBytes / seconds;
  const leftMs = ((totalBytes - sentBytes) / bytesPerSecond) * 1_000;
  return l10n.t('{0} · {1}/s · {2} left', amount, formatBytes(bytesPerSecond), formatDuration(leftMs));
}

function ofAttempt(attempt: number, text: string): string {
  return attempt > 1 ? vscode.l10n.t('Attempt {0}: {1}', attempt, text) : text;
}
