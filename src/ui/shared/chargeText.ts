// Whether a submission was charged, in the words of rows, sentences and dialogs. Only here and in the table
// of refusals (`notCharged.ts`), so that no two texts disagree. Money comes first: narrow views cut.
import { l10n } from 'vscode';
import type { Account } from '../../core/accounts/account.ts';
import type { Balance, RunCreation } from '../../core/api/types.ts';
import { currencyOf, type Estimate } from '../../core/money/estimate.ts';
import {
  isCharged,
  isCanceledUpload,
  runsOf,
  submissionName,
  type ChargedReceipt,
  type Draft,
  type Intent,
  type Receipt,
} from '../../core/submission/intent.ts';
import {
  isCancellable,
  type PendingSubmission,
  type SubmissionState,
} from '../../core/submission/pendingSubmission.ts';
import { chargedAt } from '../../core/submission/receipts.ts';
import { isPastBoundary, stageOf } from '../../core/submission/stage.ts';
import {
  compact,
  formatCount,
  formatDuration,
  formatMoment,
  formatMoney,
  formatPercent,
  formatPrice,
  inSandbox,
} from './format.ts';
import { unexpectedPrice } from './priceText.ts';
import { leftText } from './runText.ts';
import { sanitizeServiceText } from './serviceText.ts';
import { TERMS } from './terms.ts';

export const CHARGE = {
  mayBeCharged: l10n.t('May be charged'),
  /** Why a resend is safe. */
  sameRequest: l10n.t('The service documents that the same request ID isn’t charged twice.'),
  unanswered: l10n.t('The service didn’t answer whether it was charged.'),
  notCharged: l10n.t('Not charged.'),
  mayHaveBeenCharged: l10n.t('You may have been charged.'),
} as const;

/** The state in few words, as in a row. */
export function shortText(submission: PendingSubmission, nowMs: number): string {
  const { attempt, intent, isAsked, state, tickMs = nowMs, retryAtMs = tickMs } = submission;
  const leftToWait = formatDuration(retryAtMs - tickMs);
  const texts: Record<SubmissionState, () => string> = {
    queued: () => l10n.t('Upload queued'),
    uploading: () => uploadText(submission, nowMs),
    validating: () => validatingText(submission, tickMs),
    waiting: () =>
      (isAsked
        ? [l10n.t('Starts in {0}', leftToWait), l10n.t('the service asked to wait')]
        : [l10n.t('Retry in {0}', leftToWait), l10n.t('attempt {0}', attempt + 1)]
      ).join(' · '),
    checking: () => TERMS.checking,
    elsewhere: () => l10n.t('Other window'),
    stopped: () => l10n.t('Upload stopped'),
    unsent: () =>
      notCharged(
        stageOf(intent, { nowMs }).busyUntilMs === undefined
          ? l10n.t('upload stopped')
          : l10n.t('service busy'),
      ),
    'not-charged': () => notCharged(l10n.t('2 checks')),
    unknown: () => [CHARGE.mayBeCharged, whyUnknown(intent, nowMs)].join(' · '),
    refused: () => notCharged(refusal(intent.refused?.code)),
  };
  return texts[state]();
}

/** The state in its progress, and what the only button, Cancel, does about the money. */
export function progressText(submission: PendingSubmission, nowMs: number): string {
  const text = shortText(submission, nowMs);
  return isCancellable(submission) && isPastBoundary(stageOf(submission.intent))
    ? l10n.t('{0}. Cancel stops resending. You may have been charged already.', text)
    : text;
}

function notCharged(why: string): string {
  return [l10n.t('Not charged'), why].join(' · ');
}

function refusal(code: string | undefined): string {
  if (code === 'insufficient_balance') return l10n.t('balance too low');
  if (code === 'model_not_available') return l10n.t('model unavailable');
  return code === 'invalid_api_key' ? l10n.t('API key rejected') : l10n.t('refused');
}

function uploadText(submission: PendingSubmission, nowMs: number): string {
  const { attempt, sentBytes, startedAtMs = nowMs, totalBytes } = submission;
  const percent = formatPercent(Math.floor((100 * sentBytes) / totalBytes) / 100);
  const passedMs = nowMs - startedAtMs;
  const leftMs = (passedMs * (totalBytes - sentBytes)) / sentBytes;
  return compact(
    l10n.t('Uploading {0}', percent),
    passedMs >= 500 && sentBytes > 0 && leftText(formatDuration(leftMs)),
    attempt > 1 && l10n.t('attempt {0}', attempt),
  ).join(' · ');
}

function validatingText({ intent: { attempts } }: PendingSubmission, nowMs: number): string {
  const minutes = Math.floor((nowMs - (attempts.at(-1)?.closed?.localMs ?? nowMs)) / 60_000);
  return minutes < 1 ? l10n.t('Validating…') : l10n.t('Validating… · {0} min', minutes);
}

function whyUnknown({ attempts, lastCheck }: Intent, nowMs: number): string {
  if (lastCheck === undefined) {
    const { httpStatus } = attempts.at(-1) ?? {};
    if (httpStatus === 429) return l10n.t('too many requests');
    if (httpStatus === 503) return l10n.t('service busy');
    if (httpStatus === undefined) return l10n.t('no answer');
    return httpStatus >= 400 ? l10n.t('error {0}', httpStatus) : l10n.t('answer not readable');
  }
  const runs = lastCheck.candidates.length;
  if (runs === 0) return l10n.t('checked {0}', formatMoment(lastCheck.at.localMs, nowMs));
  return runs === 1 ? l10n.t('1 possible run') : l10n.t('{0} possible runs', formatCount(runs));
}

/** Rounds up: a request that comes too early is refused again. */
function waitTime(untilMs: number): string {
  return formatMoment(Math.ceil(untilMs / 60_000) * 60_000, Date.now());
}

/** Until when the service asked not to submit. */
export function waitSentence(untilMs: number): string {
  return l10n.t('The service asked to wait until {0}.', waitTime(untilMs));
}

/** For a submission that wasn't sent because the service is busy. */
export function busySentence(untilMs: number): string {
  return l10n.t('Not charged: the service asked to wait until {0}. Continue then.', waitTime(untilMs));
}

/** So that the name and its sentence take two lines of the final question. */
const MAX_FILE_UNITS = 32;

/** Whether an open submission was charged, in a sentence. */
export function moneySentence(submission: PendingSubmission, nowMs: number): string {
  const { intent, state } = submission;
  const stage = stageOf(intent, { nowMs });
  const filename = sanitizeServiceText(intent.dataset.filename, MAX_FILE_UNITS);
  switch (state) {
    case 'stopped':
      return l10n.t(
        'The upload of {0} was interrupted. The service didn’t answer whether it was charged.',
        filename,
      );
    case 'unsent':
      return stage.busyUntilMs === undefined
        ? l10n.t('Not charged: the upload of {0} was interrupted.', filename)
        : busySentence(stage.busyUntilMs);
    case 'not-charged':
      return intent.lastCheck?.explainedByReceipts
        ? l10n.t('Not charged: two checks found no such run, and your other runs explain the lower balance.')
        : l10n.t('Not charged: two checks found no such run and no lower balance.');
    case 'unknown':
      return isCanceledUpload(intent)
        ? l10n.t('You may have been charged: you canceled after the upload finished.')
        : l10n.t('You may have been charged: the service didn’t confirm it.');
    case 'refused':
      return shortText(submission, nowMs);
    // This window may not know yet how far the other one got.
    case 'elsewhere':
      return isPastBoundary(stage)
        ? l10n.t('You may have been charged. Continue in the other window.')
        : l10n.t('Open in another window. Continue there.');
    default:
      if (state === 'checking' && !isPastBoundary(stage))
        return l10n.t('The upload of {0} was interrupted. Checking whether it was charged…', filename);
      return isPastBoundary(stage)
        ? l10n.t('You may have been charged. {0}', shortText(submission, nowMs))
        : l10n.t('Not charged so far. {0}', shortText(submission, nowMs));
  }
}

/** The start of the final question before a resend. */
export function resentSentence(submission: PendingSubmission): string {
  if (submission.state === 'unsent') return moneySentence(submission, Date.now());
  const money =
    submission.state === 'not-charged' ? l10n.t('Not charged so far.') : CHARGE.mayHaveBeenCharged;
  return [money, CHARGE.sameRequest].join(' ');
}

/** What ends if the user cancels what this window sends. */
export function cancelDetail(isPast: boolean): string {
  return isPast
    ? l10n.t('Stops resending. You may have been charged already.')
    : l10n.t('Not charged if canceled before the upload completes.');
}

/** What ends if it is discarded. @param isAsked in the question, which says what to do first */
export function discardDetail({ state }: PendingSubmission, isAsked = false): string {
  if (state === 'unknown')
    return isAsked
      ? l10n.t('You may have been charged, and checks will stop. Compare your balance and runs first.')
      : l10n.t('Stops checking. You may have been charged.');
  const known = state !== 'stopped' && CHARGE.notCharged;
  const effect = isAsked ? l10n.t('The dataset is not deleted.') : l10n.t('Removes it from the list.');
  return compact(known, effect).join(' ');
}

/** The question before the user recognizes a run. @param what facts of the run */
export function recognizedDetail(what: string): string {
  return l10n.t('{0}. If it is, you were charged for it.', what);
}

/** The title of the progress while a submission's run is looked for. */
export function checkingChargeTitle(draft: Draft): string {
  return l10n.t('Checking whether {0} was charged', submissionName(draft));
}

/** For submissions whose answer was lost. @param first any of them; there are `count` */
export function unconfirmedSentence(first: Draft, count: number): string {
  return count === 1
    ? l10n.t('You may have been charged for {0}: the service didn’t confirm it.', nameOf(first))
    : l10n.t(
        'You may have been charged for {0} submissions: the service didn’t confirm them.',
        formatCount(count),
      );
}

/** For uploads that an earlier window left. @param state `stopped` if their looks weren't answered */
export function interruptedSentence(
  [first, ...others]: readonly [PendingSubmission, ...PendingSubmission[]],
  state: 'stopped' | 'unsent',
): string {
  if (others.length === 0) return moneySentence({ ...first, state }, Date.now());
  const count = formatCount(others.length + 1);
  return state === 'unsent'
    ? l10n.t('Not charged: {0} uploads were interrupted.', count)
    : l10n.t('{0} uploads were interrupted. The service didn’t answer whether they were charged.', count);
}

/** For a submission whose two checks found no charge. */
export function clearedSentence(intent: Intent): string {
  return intent.lastCheck?.explainedByReceipts
    ? l10n.t(
        'Not charged for {0}: two checks found no such run, and your other runs explain the lower balance.',
        nameOf(intent),
      )
    : l10n.t('Not charged for {0}: two checks found no such run and no lower balance.', nameOf(intent));
}

/** For an upload that the user canceled before its boundary. */
export function canceledSentence(filename: string): string {
  return l10n.t('Not charged: the upload of {0} was canceled.', sanitizeServiceText(filename));
}

/** For a submission that wasn't sent, since no look for its run was answered. */
export function unansweredSentence(filename: string): string {
  const name = sanitizeServiceText(filename);
  return l10n.t('Nothing was sent: the service didn’t answer whether {0} was charged.', name);
}

/** The sentence about a submission that another window worked on; a charge is reported as a charge. */
export function endSentence(receipt: Receipt | undefined, open: PendingSubmission | undefined): string {
  const intent = receipt ?? open?.intent;
  const text = () => {
    if (receipt === undefined)
      return open && l10n.t('{0}: {1}', nameOf(open.intent), moneySentence(open, Date.now()));
    if (receipt.settled.kind === 'discarded')
      return l10n.t('You may have been charged for {0}: the submission was discarded.', nameOf(receipt));
    if (isCharged(receipt)) return undefined;
    return l10n.t('Not charged: the submission of {0} was canceled or discarded.', nameOf(receipt));
  };
  return inSandbox(text() ?? l10n.t('This submission is already resolved.'), intent?.origin === 'sandbox');
}

/**
 * How the user learns of a charge. `answered`: from its response. `found`: by a look for its run, which
 * reveals less. `continued`: by acting on a submission that had continued. `instead`: on one that gave way
 * to it. `earlier`: at a start, from a receipt.
 */
export type LearnedBy = 'answered' | 'found' | 'continued' | 'instead' | 'earlier';

/** What is known of a charge besides its run. */
export interface ChargeFacts {
  /** After the charge, if known. */
  balance: Balance | undefined;
  /** The estimate before the charge. */
  before: Estimate | undefined;
  how: LearnedBy;
  receipt: ChargedReceipt | undefined;
  /** Whether the disk didn't take it. */
  isUnrecorded: boolean;
  /** Says what it cost, if that exceeded a limit of the budget. */
  exceeded: (price: string | undefined) => string | undefined;
}

/** At most two sentences: what was submitted, and its cost with the most important other fact. */
export function chargedText(run: RunCreation, draft: Draft, account: Account, facts: ChargeFacts): string {
  const { balance, before, exceeded, how, isUnrecorded, receipt } = facts;
  const { balance_after_cents: afterCents, currency, price_cents: cents } = run;
  const isSandbox = account.kind === 'sandbox';
  const label = nameOf(draft);
  // The details of a found run have no currency, and the balance's may have changed since.
  const known = currency ?? (receipt && currencyOf(receipt)) ?? balance?.currency;
  const isAssumed = !isSandbox && cents !== undefined && currency === undefined;
  const price = isAssumed ? formatPrice(cents, known) : formatMoney(cents, known);
  const unexpected =
    isSandbox || cents === undefined ? undefined : before && unexpectedPrice(before, cents, known, price);
  const paid = isSandbox ? l10n.t('{0} of sandbox money', price) : (unexpected ?? price);
  const over = exceeded(cents === undefined ? undefined : paid);
  if (how === 'earlier' && receipt !== undefined && cents !== undefined && over === undefined) {
    const time = formatMoment(chargedAt(receipt).localMs, Date.now());
    const text = l10n.t('{0}: charged {1} ({2}), as you may have seen.', label, paid, time);
    return inSandbox(text, isSandbox);
  }
  const isPriced = cents !== undefined && over === undefined;
  if (how === 'continued' && isPriced)
    return inSandbox(l10n.t('{0} was continued meanwhile: charged {1}.', label, paid), isSandbox);
  const instead = l10n.t('Another submission of {0} replaced this one: charged {1}.', label, paid);
  if (how === 'instead' && isPriced) return inSandbox(instead, isSandbox);
  const costs = () => {
    if (isUnrecorded)
      return cents === undefined
        ? l10n.t('Charged; its price isn’t known yet, and the charge couldn’t be recorded here.')
        : l10n.t('Charged {0}, but the charge couldn’t be recorded here.', paid);
    if (cents === undefined) return l10n.t('Charged; its price isn’t known yet.');
    if (how === 'found' || how === 'earlier')
      return isSandbox ? l10n.t('{0}.', paid) : l10n.t('Charged {0}.', paid);
    const [leftCents, unit] =
      afterCents === undefined ? [balance?.balance_cents, balance?.currency] : [afterCents, known];
    return isSandbox
      ? l10n.t('{0}; {1} left.', paid, formatMoney(leftCents))
      : l10n.t('Charged {0}; balance {1}.', paid, formatMoney(leftCents, unit));
  };
  const attempt = receipt?.settled.foundBy === 'answered' ? receipt.attempts.length : 1;
  const isLate = how === 'found' && (receipt === undefined || wasLost(receipt));
  return l10n.t('{0}. {1}', submittedPhrase(label, account, how, isLate, attempt), over ?? costs());
}

/** Whether the answer was lost: all attempts had ended before, or no boundary was recorded. */
function wasLost({ attempts, lastCheck }: ChargedReceipt): boolean {
  if (lastCheck !== undefined || !attempts.some(({ closed }) => closed !== undefined)) return true;
  return attempts.every(({ ended }) => ended !== undefined);
}

function submittedPhrase(
  label: string,
  { kind, name }: Pick<Account, 'kind' | 'name'>,
  how: LearnedBy,
  isLate: boolean,
  attempt: number,
): string {
  const isSandbox = kind === 'sandbox';
  if (how === 'continued') return inSandbox(l10n.t('{0} was continued meanwhile', label), isSandbox);
  if (how === 'instead')
    return inSandbox(l10n.t('Another submission of {0} replaced this one', label), isSandbox);
  const payer = sanitizeServiceText(name);
  if (how === 'earlier')
    return isSandbox
      ? l10n.t('Sandbox: {0} was submitted, as you may have seen', label)
      : l10n.t('{0} was submitted to {1}, as you may have seen', label, payer);
  if (isLate)
    return isSandbox
      ? l10n.t('Sandbox: {0} was submitted after all', label)
      : l10n.t('{0} was submitted to {1} after all', label, payer);
  if (attempt > 1)
    return isSandbox
      ? l10n.t('Sandbox: submitted {0} at attempt {1}', label, attempt)
      : l10n.t('Submitted {0} to {1} at attempt {2}', label, payer, attempt);
  return isSandbox ? l10n.t('Sandbox: submitted {0}', label) : l10n.t('Submitted {0} to {1}', label, payer);
}

/** What a run cost, in few words. */
export function chargedPhrase(price: string, isSandbox: boolean): string {
  return isSandbox ? l10n.t('{0} of sandbox money', price) : l10n.t('Charged {0}', price);
}

/** The warning about a submission with several runs: it was, or may have been, charged more than once. */
export function severalRunsSentence(receipt: ChargedReceipt): string {
  const runs = runsOf(receipt.settled);
  const [name, count] = [nameOf(receipt), formatCount(runs.length)];
  const ids = runs.map(({ run_id }) => sanitizeServiceText(run_id)).join(', ');
  const isKnown = runs.every(({ price_cents = 0 }) => price_cents > 0);
  if (runs.length === 2)
    return isKnown
      ? l10n.t('Charged twice for {0}: {1}. Contact the service.', name, ids)
      : l10n.t('Two runs have the marker of {0}: {1}. You may have been charged twice.', name, ids);
  return isKnown
    ? l10n.t('Charged {0} times for {1}: {2}. Contact the service.', count, name, ids)
    : l10n.t('{0} runs have the marker of {1}: {2}. You may have been charged for each.', count, name, ids);
}

function nameOf(draft: Pick<Draft, 'label' | 'dataset'>): string {
  return sanitizeServiceText(submissionName(draft));
}
