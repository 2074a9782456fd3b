// What the user reads about a submission: the table of docs/journal.md, for row, sentence and buttons.
// Here, and not at each place, so that no two texts disagree. Money comes first: narrow views cut.
import { l10n } from 'vscode';
import type { Session } from '../../core/runs/session.ts';
import {
  afterCheck,
  isCancellable,
  type PendingSubmission,
} from '../../core/submission/pendingSubmission.ts';
import { busyUntilMs } from '../../core/submission/stage.ts';
import {
  isCanceledUpload,
  isRefused,
  submissionName,
  type Draft,
  type Submission,
  type Receipt,
} from '../../core/submission/submission.ts';
import type { Submissions } from '../../core/submission/submissions.ts';
import { compact, formatCount, formatDuration, formatMoment, formatPercent } from '../shared/format.ts';
import { leftText } from '../shared/runText.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { TERMS } from '../shared/terms.ts';

export const CHARGE = {
  mayBeCharged: l10n.t('May be charged'),
  /** Why a resend is safe. */
  sameRequest: l10n.t('The service’s docs say the same request ID isn’t charged twice.'),
  notCharged: l10n.t('Not charged.'),
  notChargedSoFar: l10n.t('Not charged so far.'),
  mayHaveBeenCharged: l10n.t('You may have been charged.'),
  /** About an earlier one of the bytes to be submitted. */
  unreadable: l10n.t(
    'You may have been charged: the record of an earlier submission of this dataset can’t be read.',
  ),
  compare: l10n.t('Compare your balance with your runs first.'),
} as const;

/** A row of the table: the stage of an open submission, and who works on it. */
export type Kind =
  | 'checking'
  | 'unanswered'
  | 'here'
  | 'elsewhere'
  | 'interrupted'
  | 'busy'
  | 'sent'
  | 'cleared'
  | 'refused';

export type Button = 'check' | 'cancel' | 'continue' | 'resend' | 'discard';

export const BUTTONS: Readonly<Record<Button, string>> = {
  check: l10n.t('Check Now'),
  cancel: l10n.t('Cancel Upload'),
  continue: l10n.t('Continue…'),
  resend: l10n.t('Resend…'),
  discard: l10n.t('Discard…'),
};

/** The session as far as texts need it. */
type Known = { account: Pick<Session['account'], 'name'> } & Pick<Session, 'models' | 'state'>;
interface Names {
  file: string;
  /** The label, or the file. */
  name: string;
  account: string;
  model: string;
}
type Facts = Names & PendingSubmission & { nowMs: number };

interface Cell {
  icon: string;
  row: (of: Facts) => string;
  sentence: (of: Facts) => string;
  /** The sentence in a notification, if the one above doesn't name the submission. */
  named?: (of: Facts) => string;
  buttons: readonly Button[];
}

const notCharged = (why: string) => [l10n.t('Not charged'), why].join(' · ');

/** The table. */
const CELLS: Readonly<Record<Kind, Cell>> = {
  checking: {
    icon: 'search',
    row: () => TERMS.checking,
    sentence: ({ file }) => l10n.t('Checking whether you were charged for {0}…', file),
    buttons: ['discard'],
  },
  unanswered: {
    icon: 'stop-circle',
    row: () => l10n.t('Not checked yet'),
    sentence: ({ file }) => l10n.t('The service didn’t say whether you were charged for {0}.', file),
    buttons: ['check', 'discard'],
  },
  here: {
    icon: 'sync',
    row: hereText,
    sentence: ({ submission }) =>
      submission.stage === 'sent' ? CHARGE.mayHaveBeenCharged : CHARGE.notChargedSoFar,
    named: (of) => l10n.t('{0}: {1}', of.name, hereText(of)),
    buttons: ['cancel'],
  },
  elsewhere: {
    icon: 'multiple-windows',
    row: () => l10n.t('Other window'),
    sentence: () => l10n.t('Open in another window. Continue there.'),
    buttons: [],
  },
  interrupted: {
    icon: 'circle-slash',
    row: () => notCharged(l10n.t('upload stopped')),
    sentence: ({ file }) => l10n.t('Not charged: the upload of {0} was interrupted.', file),
    buttons: ['continue', 'discard'],
  },
  busy: {
    icon: 'circle-slash',
    row: () => notCharged(l10n.t('service busy')),
    sentence: ({ submission, nowMs }) => busySentence(busyUntilMs(submission, nowMs) ?? nowMs),
    buttons: ['discard'],
  },
  sent: {
    icon: 'warning',
    row: ({ submission, nowMs }) => [CHARGE.mayBeCharged, whySent(submission, nowMs)].join(' · '),
    sentence: ({ submission }) =>
      isCanceledUpload(submission)
        ? l10n.t('You may have been charged: you canceled after the upload finished.')
        : l10n.t('You may have been charged: the service didn’t confirm it.'),
    named: ({ name }) => l10n.t('You may have been charged for {0}: the service didn’t confirm it.', name),
    buttons: ['check', 'resend', 'discard'],
  },
  cleared: {
    icon: 'circle-slash',
    row: () => notCharged(l10n.t('2 checks')),
    sentence: ({ submission }) =>
      submission.lastCheck?.explainedByReceipts
        ? l10n.t(
            'Not charged: two checks found no matching run, and your other runs explain the lower balance.',
          )
        : l10n.t('Not charged: two checks found no matching run and no drop in your balance.'),
    named: ({ submission, name }) =>
      submission.lastCheck?.explainedByReceipts
        ? l10n.t(
            'Not charged for {0}: two checks found no matching run, and your other runs explain the lower balance.',
            name,
          )
        : l10n.t('Not charged for {0}: two checks found no matching run and no drop in your balance.', name),
    buttons: ['resend', 'discard'],
  },
  refused: {
    icon: 'circle-slash',
    row: ({ submission }) => notCharged(refusal(submission.end?.code)),
    sentence: (of) => refusedSentence(of.submission.end?.code, of),
    buttons: ['continue', 'discard'],
  },
};

const ICONS_HERE: Readonly<Partial<Record<PendingSubmission['state'], string>>> = {
  queued: 'clockface',
  uploading: 'cloud-upload',
  waiting: 'watch',
  checking: 'search',
};

/** What this window is doing, as a row says it. */
function hereText(of: Facts): string {
  const { attempt, submission, isAsked, nowMs, sentBytes, startedAtMs = nowMs, state, totalBytes } = of;
  const { tickMs = nowMs, retryAtMs = tickMs } = of;
  const [left, passedMs] = [formatDuration(retryAtMs - tickMs), nowMs - startedAtMs];
  const minutes = Math.floor((tickMs - (submission.attempts.at(-1)?.closed?.localMs ?? tickMs)) / 60_000);
  switch (state) {
    case 'uploading':
      return compact(
        l10n.t('Uploading {0}', formatPercent(Math.floor((100 * sentBytes) / totalBytes) / 100)),
        passedMs >= 500 &&
          sentBytes > 0 &&
          leftText(formatDuration((passedMs * (totalBytes - sentBytes)) / sentBytes)),
        attempt > 1 && l10n.t('attempt {0}', attempt),
      ).join(' · ');
    case 'validating':
      return minutes < 1 ? l10n.t('Validating…') : l10n.t('Validating… · {0} min', minutes);
    case 'waiting':
      return isAsked
        ? [l10n.t('Starts in {0}', left), l10n.t('the service asked you to wait')].join(' · ')
        : [l10n.t('Retry in {0}', left), l10n.t('attempt {0}', attempt + 1)].join(' · ');
    default:
      return state === 'queued' ? l10n.t('Upload queued') : TERMS.checking;
  }
}

function refusal(code: string | undefined): string {
  if (code === 'insufficient_balance') return l10n.t('balance too low');
  if (code === 'model_not_available') return l10n.t('model unavailable');
  return code === 'invalid_api_key' ? l10n.t('API key rejected') : l10n.t('refused');
}

/** Says why the service refused a submission. @param code from the service */
export function refusedSentence(code: string | undefined, { account, file, model, name }: Names): string {
  switch (code) {
    case 'insufficient_balance':
      return l10n.t('Not charged: the balance of {0} is too low for {1}.', account, name);
    case 'model_not_available':
      return l10n.t('Not charged: {0} isn’t available.', model);
    case 'invalid_api_key':
      return l10n.t(
        'Not charged: the service rejected the API key for {0}. Replace it, then continue {1}.',
        account,
        file,
      );
    case 'validation_failed':
      return l10n.t('Not charged: the service rejected {0} as invalid.', file);
    default:
      return l10n.t('Not charged: the service rejected the submission of {0}.', file);
  }
}

function whySent({ attempts, lastCheck }: Submission, nowMs: number): string {
  if (lastCheck === undefined) {
    const { httpStatus } = attempts.at(-1) ?? {};
    if (httpStatus === 429) return l10n.t('too many requests');
    if (httpStatus === 503) return l10n.t('service busy');
    if (httpStatus === undefined) return l10n.t('no response');
    return httpStatus >= 400 ? l10n.t('error {0}', httpStatus) : l10n.t('unreadable response');
  }
  const runs = lastCheck.candidates.length;
  if (runs === 0) return l10n.t('checked {0}', formatMoment(lastCheck.at.localMs, nowMs));
  return runs === 1 ? l10n.t('1 possible run') : l10n.t('{0} possible runs', formatCount(runs));
}

/** Which row of the table it is. @param session whether the service may answer its first look now */
export function submissionKindOf(
  { submission, hasLooked, state }: Pick<PendingSubmission, 'submission' | 'hasLooked' | 'state'>,
  nowMs: number,
  session?: Pick<Session, 'state'>,
): Kind {
  if (state === 'elsewhere') return state;
  const isConnected = session?.state === 'connecting' || session?.state === 'ready';
  if (state === 'unchecked') return isConnected && hasLooked !== true ? 'checking' : 'unanswered';
  if (state === 'checking' && submission.stage !== 'sent') return 'checking';
  if (state !== 'idle') return 'here';
  if (isRefused(submission)) return 'refused';
  if (submission.stage === 'sent' || submission.stage === 'cleared') return submission.stage;
  return busyUntilMs(submission, nowMs) === undefined ? 'interrupted' : 'busy';
}

/** Keeps the name and its sentence on two lines of the final question. */
const MAX_FILE_UNITS = 32;

export function submissionNames(
  draft: Pick<Draft, 'dataset' | 'label' | 'model_id'>,
  session?: Omit<Known, 'state'>,
  fileUnits?: number,
): Names {
  return {
    file: sanitizeServiceText(draft.dataset.filename, fileUnits),
    name: sanitizeServiceText(submissionName(draft)),
    account: sanitizeServiceText(session?.account.name ?? ''),
    model: sanitizeServiceText(session?.models.nameOf(draft.model_id) ?? draft.model_id),
  };
}

/** Returns all texts about an open submission, from its row of the table. */
export function submissionTextOf(pending: PendingSubmission, nowMs: number, session?: Known) {
  const kind = submissionKindOf(pending, nowMs, session);
  const { buttons, icon, named, row, sentence } = CELLS[kind];
  const of = { ...pending, ...submissionNames(pending.submission, session, MAX_FILE_UNITS), nowMs };
  return {
    kind,
    icon: (kind === 'here' && ICONS_HERE[pending.state]) || icon,
    row: row(of),
    sentence: sentence(of),
    /** In a notification. */
    named: (named ?? sentence)(of),
    buttons: kind === 'here' && !isCancellable(pending) ? [] : buttons,
  };
}

/** The title of the progress while a submission's run is looked for. */
export function checkingTitle(submission: Submission): string {
  return l10n.t('Checking whether you were charged for {0}…', submissionNames(submission).file);
}

/** The state, and what Cancel means for the money. */
export function progressText(pending: PendingSubmission, nowMs: number): string {
  const { row } = submissionTextOf(pending, nowMs);
  return isCancellable(pending) && pending.submission.stage === 'sent'
    ? l10n.t('{0}. You may already have been charged. Cancel stops resending.', row)
    : row;
}

/** The start of the final question before a resend. */
export function resentSentence(pending: PendingSubmission): string {
  const { kind, sentence } = submissionTextOf(pending, Date.now());
  if (kind !== 'sent' && kind !== 'cleared') return sentence;
  return [kind === 'sent' ? CHARGE.mayHaveBeenCharged : CHARGE.notChargedSoFar, CHARGE.sameRequest].join(' ');
}

/** What ends if the user cancels what this window sends. */
export function cancelDetail({ stage }: Submission): string {
  return stage === 'sent'
    ? l10n.t('You may already have been charged. Canceling stops resending.')
    : l10n.t('Not charged if canceled before the upload completes.');
}

/** What ends if it is discarded. @param isAsked whether the text is for the question */
export function discardDetail(kind: Kind, isAsked = false): string {
  if (kind === 'sent')
    return isAsked
      ? [l10n.t('You may have been charged, and checks will stop.'), CHARGE.compare].join(' ')
      : l10n.t('You may have been charged. Discarding stops the checks.');
  const isUnknown = kind === 'unanswered' || kind === 'checking';
  const effect = isAsked ? l10n.t('The dataset isn’t deleted.') : l10n.t('Removes it from the list.');
  return compact(!isUnknown && CHARGE.notCharged, effect).join(' ');
}

/** The question before the user recognizes a run. @param what facts of the run */
export function recognizedDetail(what: string): string {
  return l10n.t('{0}. If this is the run, you were charged for it.', what);
}

/** For an upload that the user canceled before its last bytes left. */
export function canceledSentence(draft: Draft): string {
  return l10n.t('Not charged: the upload of {0} was canceled.', submissionNames(draft).file);
}

/** The sentence about a submission that is over, unless it was charged. */
export function endSentence(receipt: Receipt | undefined): string {
  if (receipt?.reason === 'discarded')
    return l10n.t(
      'You may have been charged for {0}: the submission was discarded.',
      submissionNames(receipt).name,
    );
  return receipt?.stage === 'ended'
    ? canceledSentence(receipt)
    : l10n.t('This submission is already resolved.');
}

/** Until when the service asked not to submit. */
export function waitSentence(untilMs: number): string {
  return l10n.t('The service asked you to wait until {0}.', waitTime(untilMs));
}

/** For a submission that wasn't sent because the service is busy. */
export function busySentence(untilMs: number): string {
  return l10n.t('Not charged: the service asked you to wait until {0}. Continue then.', waitTime(untilMs));
}

/** Rounds up: a request that comes too early is refused again. */
function waitTime(untilMs: number): string {
  return formatMoment(Math.ceil(untilMs / 60_000) * 60_000, Date.now());
}

/** Why a run that was submitted elsewhere may be of this dataset. Its bytes aren't known here. */
export const SAME_LABEL = l10n.t('same label');

/** How many records can't be read; empty if all can. */
export function unreadableText(count: number): string {
  if (count === 0) return '';
  return count === 1
    ? l10n.t('You may have been charged: a submission record can’t be read.')
    : l10n.t('You may have been charged: {0} submission records can’t be read.', formatCount(count));
}

/** Returns an open submission as it will be after a check in progress; undefined if it is resolved. */
export function findSubmission(
  { pending }: Pick<Submissions, 'pending'>,
  id: string | undefined,
): PendingSubmission | undefined {
  const found = pending.find((one) => one.id === id);
  return found && afterCheck(found);
}
