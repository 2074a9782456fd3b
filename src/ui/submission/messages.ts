import path from 'node:path';
import * as vscode from 'vscode';
import { CancelledError, ExpectedError } from '../../core/base/errors.ts';
import { NetworkError, ServiceError, UnexpectedAnswerError } from '../../core/api/errors.ts';
import type { Balance, RunCreation, RunDetail } from '../../core/api/types.ts';
import type { Account } from '../../core/accounts/account.ts';
import { withoutMarker } from '../../core/runs/marker.ts';
import type { UncertaintyReason } from '../../core/submission/reconcilePolicy.ts';
import { mayBeCharged, type Draft } from '../../core/submission/intent.ts';
import type { PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import {
  formatAgo,
  formatBytes,
  formatCount,
  formatDuration,
  formatMoment,
  formatMoney,
  formatPrice,
  formatRows,
  formatTime,
  withSandboxNote,
} from '../shared/format.ts';
import { COMMANDS, type CommandId } from '../shared/ids.ts';
import { asText, explain } from '../shared/serviceErrors.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';

/** Titles, buttons, and notifications without arguments to judge. */
export const submissionMessages = {
  resolve: () => vscode.l10n.t('Resolve Submission'),
  submitting: (fileName: string, accountName: string) =>
    vscode.l10n.t('Submitting {0} to {1}', fileName, accountName),
  preparing: () => vscode.l10n.t('Fine-Tuning: Reading models and balance…'),
  checking: (name: string) => vscode.l10n.t('Checking whether {0} was charged', name),
  elsewhere: (name: string) =>
    vscode.l10n.t('Nothing was sent: {0} is open in another window or already resolved. See Runs.', name),
  canceled: (name: string) => vscode.l10n.t('Not charged: the upload of {0} was canceled.', name),
  tooLate: (name: string) => vscode.l10n.t('{0} is fully uploaded and can no longer be canceled.', name),
  noUpload: () => vscode.l10n.t('There is no upload to cancel.'),
  noModels: () => vscode.l10n.t('No base models are currently available. Nothing was submitted.'),
  noneOpen: () => vscode.l10n.t('No submission needs your attention.'),
  onlySignedOut: () =>
    vscode.l10n.t('The open submissions belong to accounts that are signed out. Sign in to resolve them.'),
  resolved: () => vscode.l10n.t('This submission is already resolved. See Runs.'),
  showRun: () => vscode.l10n.t('Show Run'),
  checkNow: () => vscode.l10n.t('Check Now'),
  continue: () => vscode.l10n.t('Continue…'),
  resend: () => vscode.l10n.t('Resend…'),
  submitAgain: () => vscode.l10n.t('Submit Again…'),
};

/** The label as the user gave it, or the file's name. */
export function submissionName({ label, marker, dataset }: Pick<Draft, 'label' | 'marker' | 'dataset'>) {
  const given = marker === undefined ? label : withoutMarker(label ?? '');
  return given === undefined || given === '' ? dataset.filename : given;
}

/** The state in one line, the money first: a narrow view cuts the end. */
export function stateText(submission: PendingSubmission, nowMs: number): string {
  const { l10n } = vscode;
  const { attempt, intent, retryAtMs = nowMs, state } = submission;
  switch (state) {
    case 'queued':
      return l10n.t('Upload queued');
    case 'uploading':
      return uploadText(submission, nowMs);
    case 'validating':
      return l10n.t('Validating…');
    case 'waiting':
      return l10n.t('Retry in {0} · attempt {1}', formatDuration(retryAtMs - nowMs), attempt + 1);
    case 'checking':
      return l10n.t('Checking…');
    case 'elsewhere':
      return l10n.t('Other window');
    case 'unsent':
      return l10n.t('Not charged · upload stopped');
    case 'not-charged':
      return l10n.t('Not charged · 2 checks');
    case 'unknown':
      return unknownText(submission, nowMs);
    case 'refused':
      switch (intent.refused?.code) {
        case 'insufficient_balance':
          return l10n.t('Not charged · balance too low');
        case 'model_not_available':
          return l10n.t('Not charged · model unavailable');
        case 'invalid_api_key':
          return l10n.t('Not charged · API key rejected');
        default:
          return l10n.t('Not charged · refused');
      }
  }
}

function uploadText(submission: PendingSubmission, nowMs: number): string {
  const { l10n } = vscode;
  const { attempt, sentBytes, startedAtMs = nowMs, totalBytes } = submission;
  const percent = Math.floor((100 * sentBytes) / totalBytes);
  const passedMs = nowMs - startedAtMs;
  const text =
    passedMs < 500 || sentBytes === 0
      ? l10n.t('Uploading {0}%', percent)
      : l10n.t(
          'Uploading {0}% · {1} left',
          percent,
          formatDuration((passedMs * (totalBytes - sentBytes)) / sentBytes),
        );
  return attempt > 1 ? l10n.t('{0} · attempt {1}', text, attempt) : text;
}

function unknownText({ intent: { lastLook } }: PendingSubmission, nowMs: number): string {
  const { l10n } = vscode;
  if (lastLook === undefined) return l10n.t('May be charged · no answer');
  const { length } = lastLook.candidates;
  if (length === 1) return l10n.t('May be charged · 1 possible run');
  if (length > 1) return l10n.t('May be charged · {0} possible runs', formatCount(length));
  return l10n.t('May be charged · checked {0}', formatMoment(lastLook.at.localMs, nowMs));
}

/** The gray text of a row. @param accountName of another account than the active one */
export function submissionDescription(
  submission: PendingSubmission,
  nowMs: number,
  accountName?: string,
  state = stateText(submission, nowMs),
): string {
  const { attempts, created } = submission.intent;
  const isResting = ['unsent', 'unknown', 'not-charged', 'refused'].includes(submission.state);
  return [
    state,
    ...(accountName === undefined ? [] : [accountName]),
    ...(isResting ? [formatAgo((attempts.at(-1)?.started ?? created).localMs, nowMs)] : []),
  ].join(' · ');
}

/** The state for screen readers and the tooltip, which have more room than a row. */
function longStateText(submission: PendingSubmission, nowMs: number): string {
  return submission.state === 'not-charged'
    ? vscode.l10n.t('Not charged · confirmed by 2 checks')
    : stateText(submission, nowMs);
}

/** What a screen reader says of a row. */
export function submissionAccessibleLabel(
  submission: PendingSubmission,
  nowMs: number,
  accountName?: string,
): string {
  const names = new Set([submissionName(submission.intent), submission.intent.dataset.filename]);
  const description = submissionDescription(
    submission,
    nowMs,
    accountName,
    longStateText(submission, nowMs),
  ).replaceAll(' · ', ', ');
  return [...names, description].join(', ');
}

export function submissionTooltip(
  submission: PendingSubmission,
  modelName: string,
  nowMs: number,
  accountName?: string,
): string {
  const { l10n } = vscode;
  const { created, dataset, label } = submission.intent;
  return [
    dataset.filename,
    submissionDescription(submission, nowMs, undefined, longStateText(submission, nowMs)),
    ...(accountName === undefined ? [] : [l10n.t('Account: {0}', accountName)]),
    l10n.t('Model: {0}', modelName),
    ...(label === undefined ? [] : [l10n.t('Label: {0}', label)]),
    l10n.t('Size: {0}', formatBytes(dataset.sizeBytes)),
    l10n.t('Started: {0}', formatTime(created.localMs)),
  ].join('\n');
}

/** What is known of the money, in a sentence. */
export function moneySentence(submission: PendingSubmission, nowMs: number): string {
  const { l10n } = vscode;
  const { intent, state } = submission;
  switch (state) {
    case 'unsent':
      return l10n.t('Not charged: the upload wasn’t completed.');
    case 'refused':
      return refusedSentence(intent.refused?.code);
    case 'not-charged':
      return l10n.t('Not charged: two checks found no such run and no lower balance.');
    case 'unknown':
      return intent.attempts.at(-1)?.code === 'cancelled'
        ? l10n.t(
            'You may have been charged: the upload finished, but you canceled before the service answered.',
          )
        : l10n.t('You may have been charged: the upload finished, but the service didn’t confirm it.');
    // What this window last read may be older than what the other one did.
    case 'elsewhere':
      return mayBeCharged(intent)
        ? l10n.t('You may have been charged. This submission is open in another window. Continue there.')
        : l10n.t('This submission is open in another window. Continue there.');
    default:
      return mayBeCharged(intent)
        ? l10n.t('You may have been charged. {0}', stateText(submission, nowMs))
        : l10n.t('Not charged so far. {0}', stateText(submission, nowMs));
  }
}

function refusedSentence(code = ''): string {
  const { l10n } = vscode;
  switch (code) {
    case 'insufficient_balance':
      return l10n.t('Not charged: the balance was too low.');
    case 'model_not_available':
      return l10n.t('Not charged: the model was not available.');
    case 'invalid_api_key':
      return l10n.t('Not charged: the service rejected the API key.');
    case '':
      return l10n.t('Not charged: the service refused it.');
    default:
      return l10n.t('Not charged: the service refused it with the error “{0}”.', sanitizeServiceText(code));
  }
}

/** What the last check saw, and no more; undefined if there was none. */
export function checkText({ intent }: PendingSubmission, nowMs: number): string | undefined {
  const { l10n } = vscode;
  const { lastLook, balanceBefore } = intent;
  if (lastLook === undefined) return undefined;
  const { at, balance_cents, candidates, complete } = lastLook;
  const time = formatMoment(at.localMs, nowMs);
  if (candidates.length === 1) return l10n.t('1 possible run · {0}', time);
  if (candidates.length > 1) return l10n.t('{0} possible runs · {1}', formatCount(candidates.length), time);
  if (!complete) return l10n.t('Incomplete · {0}', time);
  if (balanceBefore === undefined || balance_cents === undefined) return l10n.t('No such run · {0}', time);
  return balance_cents < balanceBefore.balance_cents
    ? l10n.t('No such run, but a lower balance · {0}', time)
    : l10n.t('No charge found · {0}', time);
}

/** Why a check can't tell. */
export function uncertaintySentence(reason: UncertaintyReason): string {
  const { l10n } = vscode;
  switch (reason) {
    case 'candidates':
      return l10n.t('One of your runs looks like this submission. Is it?');
    case 'balance':
      return l10n.t('No such run is listed, but the balance is lower than before.');
    case 'no-marker':
      return l10n.t('It was sent without a marker, so its run can’t be recognized.');
    case 'no-balance':
      return l10n.t('The balance before the submission is unknown.');
    case 'key-replaced':
      return l10n.t('The API key has changed since; it may belong to another account.');
    case 'too-early':
      return l10n.t('Too early to tell: the service may still be validating.');
    case 'incomplete':
      return l10n.t('Not everything could be read.');
    case 'no-clock':
      return l10n.t('The service’s clock is unknown, so it’s too soon to rule out a charge.');
  }
}

/** Everything that is known of an open submission. */
export interface KnownSubmission {
  submission: PendingSubmission;
  account: Account;
  modelName: string;
  /** Why the last check can't tell. */
  uncertainty: UncertaintyReason | undefined;
  /** When a check may tell more; milliseconds since the epoch. */
  againAtMs: number | undefined;
  /** Why the check of this moment failed. */
  failure: string | undefined;
}

/** The facts of the dialog, from the money to the technical. */
export function factRows(known: KnownSubmission, nowMs: number) {
  const { l10n } = vscode;
  const { account, againAtMs, failure, modelName, submission, uncertainty } = known;
  const { attempts, balanceBefore, dataset, label, lastLook, priority_processing } = submission.intent;
  const isChecked = submission.state === 'unknown' || submission.state === 'not-charged';
  const time = (ms: number) => formatMoment(ms, nowMs);
  const after = lastLook?.balance_cents;
  const before = balanceBefore && formatMoney(balanceBefore.balance_cents, balanceBefore.currency);
  const balance =
    before === undefined
      ? after !== undefined && l10n.t('{0} at the last check; unknown before', formatMoney(after))
      : after === undefined
        ? l10n.t('{0} before', before)
        : l10n.t('{0} before, {1} at the last check', before, formatMoney(after, balanceBefore?.currency));
  const uploaded = new Set(
    attempts.flatMap(({ closed }) => (closed === undefined ? [] : [time(closed.localMs)])),
  );
  const [first] = attempts;
  const rows: [icon: string, name: string, value: string | undefined | false][] = [
    [
      'search',
      l10n.t('Last check'),
      isChecked && (failure ?? checkText(submission, nowMs) ?? l10n.t('none yet')),
    ],
    ['question', l10n.t('Why'), uncertainty && uncertaintySentence(uncertainty)],
    [
      'clock',
      l10n.t('Next check'),
      againAtMs !== undefined && l10n.t('Check again after {0}', time(againAtMs)),
    ],
    ['credit-card', l10n.t('Balance'), balance],
    ['cloud-upload', l10n.t('Fully uploaded'), [...uploaded].join(', ') || l10n.t('never')],
    [
      'history',
      l10n.t('Attempts'),
      first === undefined
        ? l10n.t('none')
        : l10n.t('{0}, first at {1}', formatCount(attempts.length), time(first.started.localMs)),
    ],
    [
      'file',
      l10n.t('Dataset'),
      dataset.rows === undefined
        ? l10n.t('{0}, {1}', dataset.filename, formatBytes(dataset.sizeBytes))
        : l10n.t('{0}, {1}, {2}', dataset.filename, formatBytes(dataset.sizeBytes), formatRows(dataset.rows)),
    ],
    ['symbol-misc', l10n.t('Model'), modelName],
    ['tag', l10n.t('Label'), label ?? l10n.t('none')],
    ['rocket', l10n.t('Queue'), priority_processing ? l10n.t('priority') : l10n.t('standard')],
    ['account', l10n.t('Account'), accountText(account)],
    ['key', l10n.t('Idempotency-Key'), attempts.length > 0 && submission.id],
  ];
  return rows.flatMap(([icon, name, value]) =>
    value === undefined || value === false ? [] : { icon, name, value },
  );
}

/** An account, as the summary and the dialog name it. */
export function accountText({ kind, name }: Pick<Account, 'kind' | 'name'>): string {
  return kind === 'sandbox' ? vscode.l10n.t('{0}: no training, no charges', name) : name;
}

/** The dialog of an open submission: its rows and the questions they lead to. */
export const resolveMessages = {
  title: (fileName: string) => vscode.l10n.t('Submission of {0}', fileName),
  actions: () => vscode.l10n.t('Actions'),
  known: () => vscode.l10n.t('Details'),
  checkDetail: () => vscode.l10n.t('Reads your runs and balance. Nothing is sent.'),
  run: ({ label }: RunDetail) => vscode.l10n.t('This Is the Run: {0}', label || vscode.l10n.t('no label')),
  runDetail: ({ created_at, model_id, price_cents, run_id }: RunDetail, currency: string | undefined) =>
    [
      model_id,
      created_at === undefined ? vscode.l10n.t('time unknown') : formatTime(created_at),
      price_cents === undefined ? vscode.l10n.t('price not provided') : formatMoney(price_cents, currency),
      run_id,
    ].join(' · '),
  isRun: (name: string) => vscode.l10n.t('Is this the run of {0}?', name),
  isRunDetail: (run: RunDetail, facts: string) =>
    vscode.l10n.t(
      '{0}. If it is, you were charged for it, and the submission is resolved.',
      // Short, so that the rest can be read.
      run.label ? `${sanitizeServiceText(run.label)} · ${facts}` : facts,
    ),
  isRunYes: () => vscode.l10n.t('This Is the Run'),
  cancel: () => vscode.l10n.t('Cancel Upload'),
  cancelDetail: () => vscode.l10n.t('You’re not charged if it is canceled before it is fully uploaded.'),
  continueDetail: (isRefused: boolean) =>
    isRefused
      ? vscode.l10n.t('Review and consent again, then submit.')
      : vscode.l10n.t('Asks first, then uploads the same dataset.'),
  resendDetail: () => vscode.l10n.t('Asks first; charged at most once within 24 hours.'),
  discard: () => vscode.l10n.t('Discard…'),
  discardDetail: (isUnknown: boolean) =>
    isUnknown
      ? vscode.l10n.t('Remove from the list. You may have been charged.')
      : vscode.l10n.t('Remove from the list. Not charged.'),
  discardQuestion: (name: string) => vscode.l10n.t('Discard the submission of {0}?', name),
  discardWarning: (isUnknown: boolean) =>
    isUnknown
      ? vscode.l10n.t(
          'You may have been charged, and the extension will stop checking for it. Compare your balance and newest runs first.',
        )
      : vscode.l10n.t('Not charged. The dataset is not deleted.'),
  discardYes: () => vscode.l10n.t('Discard'),
  choose: () => vscode.l10n.t('Choose a Submission'),
  which: () => vscode.l10n.t('Which submission?'),
  signedOut: () => vscode.l10n.t('a signed-out account'),
};

/** Asked before the steps, if a submission of the same dataset is open. */
export const openMessages = {
  question: (fileName: string, isOtherAccount: boolean) =>
    isOtherAccount
      ? vscode.l10n.t('Another account of this service has an open submission of {0}.', fileName)
      : vscode.l10n.t('A submission of {0} is already open.', fileName),
  detail: (submission: PendingSubmission, modelName: string, isOtherAccount: boolean) => {
    const facts = [moneySentence(submission, Date.now()), sanitizeServiceText(modelName)];
    return isOtherAccount
      ? vscode.l10n.t(
          '{0} Model: {1}. If both are the same account of the service, you could be charged twice.',
          ...facts,
        )
      : vscode.l10n.t(
          '{0} Model: {1}. Resolve or discard the open submission first. With another model it is another run, with another charge.',
          ...facts,
        );
  },
  open: () => vscode.l10n.t('Open It'),
  another: (isOtherAccount: boolean) =>
    isOtherAccount ? vscode.l10n.t('Submit Anyway') : vscode.l10n.t('Use Another Model'),
};

/** @param balance after the charge, if it is known; only it names the currency of a run that was found later */
export function chargedSentence(
  run: Pick<RunCreation, 'balance_after_cents' | 'currency' | 'price_cents'>,
  name: string,
  account: Account,
  balance: Balance | undefined,
  isFound: boolean,
): string {
  const { l10n } = vscode;
  const { balance_after_cents, currency, price_cents } = run;
  const cents = balance_after_cents ?? balance?.balance_cents;
  const price =
    price_cents === undefined
      ? l10n.t('an unknown amount')
      : currency === undefined
        ? formatPrice(price_cents, balance?.currency)
        : formatMoney(price_cents, currency);
  const values = [
    name,
    sanitizeServiceText(account.name),
    price,
    cents === undefined ? l10n.t('unknown') : formatMoney(cents, currency ?? balance?.currency),
  ];
  const text = isFound
    ? l10n.t('{0} was submitted to {1} after all. You were charged {2}; balance {3}.', ...values)
    : l10n.t('Submitted {0} to {1}. You were charged {2}; balance {3}.', ...values);
  return withSandboxNote(text, account.kind === 'sandbox');
}

/**
 * A notification and its buttons, each with the command that it runs; `again` starts from the first question.
 * @param isKept whether it is still in the Runs view, to be continued
 */
export function notChargedNotification(
  error: unknown,
  draft: Draft,
  modelName: string,
  account: Account,
  isKept: boolean,
): { text: string; buttons: ReadonlyMap<string, CommandId | 'again'> } {
  const { l10n } = vscode;
  const { filename } = draft.dataset;
  const buttons = new Map<string, CommandId | 'again'>();
  const isSandbox = account.kind === 'sandbox';
  const explanation = explain(error);
  const { action } = explanation;
  let sentence: string;
  switch (error instanceof ServiceError ? error.code : undefined) {
    case 'insufficient_balance':
      sentence = l10n.t(
        'Not charged: the balance of {0} is too low for {1}. Add funds, then continue.',
        account.name,
        submissionName(draft),
      );
      if (isSandbox) buttons.set(l10n.t('Add Sandbox Funds'), COMMANDS.sandboxAddFunds);
      break;
    case 'validation_failed':
      sentence = asText({
        ...explanation,
        sentence: l10n.t('Not charged: the service rejected {0} as invalid.', filename),
      });
      buttons.set(l10n.t('Check Dataset'), COMMANDS.checkDataset);
      break;
    case 'model_not_available':
      sentence = l10n.t('Not charged: {0} isn’t available.', sanitizeServiceText(modelName));
      break;
    // Another notification asks for a new API key.
    case 'invalid_api_key':
      sentence = l10n.t('Not charged: the service rejected the API key of {0}.', account.name);
      break;
    default:
      sentence = l10n.t('Not charged: the upload of {0} failed. {1}', filename, asText(explanation));
      if (action.command !== 'again' && action.command !== COMMANDS.replaceKey)
        buttons.set(action.title, action.command);
  }
  if (isKept) buttons.set(submissionMessages.continue(), COMMANDS.resolveSubmission);
  else if (action.command === 'again') buttons.set(submissionMessages.submitAgain(), 'again');
  return { text: withSandboxNote(sentence, isSandbox), buttons };
}

/** After these nothing checks by itself. */
const UNWATCHED: ReadonlySet<string> = new Set([
  'window-closed',
  'invalid_api_key',
  'key-missing',
  'key-rejected',
]);

/** The answer was lost: how says nothing about the charge. */
const UNINFORMATIVE = [CancelledError, NetworkError, UnexpectedAnswerError] as const;

/** Names the reason only if it keeps the user from resending, or the extension from checking. */
export function mayBeChargedSentence(name: string, error: unknown, isSandbox: boolean): string {
  const { l10n } = vscode;
  const isReason =
    error instanceof ServiceError
      ? UNWATCHED.has(error.code)
      : error instanceof ExpectedError && !UNINFORMATIVE.some((type) => error instanceof type);
  const text = isReason
    ? l10n.t(
        'You may have been charged for {0}: the service didn’t confirm it. {1}',
        name,
        asText(explain(error)),
      )
    : l10n.t(
        'You may have been charged for {0}: the service didn’t confirm it. The extension keeps checking.',
        name,
      );
  return withSandboxNote(text, isSandbox);
}

export function noChargeFoundSentence(name: string, isSandbox: boolean): string {
  const text = vscode.l10n.t('Not charged for {0}: two checks found no such run and no lower balance.', name);
  return withSandboxNote(text, isSandbox);
}

/** What an earlier window left open. */
export function leftOpenSentence(
  submissions: readonly PendingSubmission[],
  mayBeCharged: boolean,
  isSandbox: boolean,
): string {
  const { l10n } = vscode;
  const [first] = submissions;
  const count = formatCount(submissions.length);
  const text =
    submissions.length === 1 && first !== undefined
      ? mayBeCharged
        ? l10n.t(
            'You may have been charged for {0}: the service didn’t confirm it.',
            submissionName(first.intent),
          )
        : l10n.t('Not charged: the upload of {0} was interrupted.', first.intent.dataset.filename)
      : mayBeCharged
        ? l10n.t('You may have been charged for {0} submissions: the service didn’t confirm them.', count)
        : l10n.t('Not charged: {0} uploads were interrupted.', count);
  return withSandboxNote(text, isSandbox);
}

/** A file of the journal that could not be read: nothing of it was deleted. */
export function unreadableRecordSentence(file: string): string {
  const { l10n } = vscode;
  const name = path.basename(file);
  return name.endsWith('.json')
    ? l10n.t(
        'A submission record ({0}) can’t be read and was left untouched. You may have been charged for it: compare your balance and runs. Folder: {1}',
        name,
        path.dirname(file),
      )
    : l10n.t(
        'A submission record couldn’t be read and was set aside as {0}. You may have been charged for it: compare your balance and runs. Folder: {1}',
        name,
        path.dirname(file),
      );
}
