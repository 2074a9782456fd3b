import { l10n } from 'vscode';
import type { RunDetail } from '../../core/api/types.ts';
import { onDisk } from '../../core/base/diskError.ts';
import type { Session } from '../../core/runs/session.ts';
import {
  afterCheck,
  canCheck,
  canDiscard,
  type PendingSubmission,
} from '../../core/submission/pendingSubmission.ts';
import { isSent, submissionName, type Submission } from '../../core/submission/submission.ts';
import type { CommandResult } from '../shared/commands.ts';
import { compact, formatMoney, formatPrice, formatTime } from '../shared/format.ts';
import { askModal, showWarning } from '../shared/notifications.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { pick, separator, type PickRow } from '../shared/steps.ts';
import { TERMS } from '../shared/terms.ts';
import { cancelNow } from './cancelUpload.ts';
import { chooseSubmission } from './chooseSubmission.ts';
import {
  beginsAnew,
  checkSubmission,
  continueSubmission,
  showChargedRun,
  whileChecking,
  whyNotSent,
  type Checked,
  type ResolveParts,
} from './continueSubmission.ts';
import { factRows } from './resolveFacts.ts';
import { showState } from './showState.ts';
import { showEnd } from './submissionResult.ts';
import {
  BUTTONS,
  cancelDetail,
  CHARGE,
  discardDetail,
  findSubmission,
  recognizedDetail,
  submissionTextOf,
  type Button,
} from './submissionText.ts';

/** The action of a row on the current submission; resolves to undefined to show the dialog again. */
type Action = (row: PendingSubmission) => Promise<CommandResult | undefined>;
type Choice = Action | 'check';

/**
 * Shows what is known about an open submission, money first, and does what the user decides. If it may have been charged, it is
 * checked first. Nothing is sent before the final question.
 * @param argument its row or ID; without one, the user chooses if there are several
 * @param begin `continue` to start with the final question, or with the steps if the submission was refused
 * @throws DiskError, LeaseUnavailableError, ApiError
 */
export async function resolveSubmission(
  parts: ResolveParts,
  argument?: unknown,
  begin?: 'continue',
): Promise<CommandResult> {
  const { ensureActiveAccount, sessions, submissions } = parts;
  const chosen = await chooseSubmission(parts, argument, begin);
  if ('outcome' in chosen) return chosen;
  const { id, accountId, submission } = chosen;
  const session = sessions.find(accountId);
  if (session === undefined) {
    // Notifies the user that the account is signed out.
    await ensureActiveAccount(accountId);
    return { outcome: 'unavailable', id };
  }
  const asked = afterCheck(chosen);
  const begun = begin === 'continue' && canDiscard(asked) ? await continueSubmission(parts, id) : undefined;
  if (begun !== undefined) return begun;
  let checked = await check(parts, session, asked);
  for (;;) {
    if (checked.finding?.verdict === 'charged')
      return showChargedRun(parts, session, submission, checked.finding.run);
    // Its window may have been killed: only a probe reveals that.
    if (findSubmission(submissions, id)?.state === 'elsewhere') await submissions.probe();
    const row = findSubmission(submissions, id);
    if (row?.state === 'elsewhere') showState(row, session);
    if (row === undefined || row.state === 'elsewhere') return showEnd(id, parts, canDiscard(asked));
    const action = await ask(parts, session, row, checked);
    // Another window may have changed it meanwhile.
    const now = findSubmission(submissions, id) ?? row;
    if (action === undefined) return { outcome: 'cancelled', id };
    if (action === 'check') checked = await check(parts, session, now);
    else {
      const end = await action(now);
      if (end !== undefined) return end;
    }
  }
}

async function check(parts: ResolveParts, session: Session, row: PendingSubmission): Promise<Checked> {
  // Another window may have been checking it when its state was read.
  const mayBeFree = row.state === 'elsewhere' && isSent(row.submission);
  return canCheck(row) || mayBeFree ? checkSubmission(parts, session, row) : {};
}

/** Shows the dialog. @returns what the user decided; undefined if the dialog was closed */
async function ask(
  parts: ResolveParts,
  session: Session,
  row: PendingSubmission,
  checked: Checked,
): Promise<Choice | undefined> {
  const { submission } = row;
  const nowMs = Date.now();
  const { sentence } = submissionTextOf(row, nowMs, session);
  const actions = await actionRows(parts, session, row, checked);
  const facts = factRows(row, session, checked, nowMs);
  const answer = await pick<Choice | undefined>(
    { title: l10n.t('Submission of {0}', submission.dataset.filename) },
    {
      placeholder: sentence,
      items: [
        ...(actions.length === 0 ? [] : [separator(TERMS.actions), ...actions]),
        separator(TERMS.details),
        ...facts.map((fact) => ({ ...fact, value: undefined })),
      ],
      stays: (value) => value === undefined,
    },
  );
  return answer.kind === 'value' ? answer.value : undefined;
}

/** Harmless actions come first, so that pressing Enter neither sends nor discards anything. */
async function actionRows(
  parts: ResolveParts,
  session: Session,
  row: PendingSubmission,
  { finding }: Checked,
): Promise<PickRow<Choice | undefined>[]> {
  const { submission } = row;
  const { buttons, kind } = submissionTextOf(row, Date.now(), session);
  const canSend = buttons.includes('continue') || buttons.includes('resend');
  const obstacle = canSend ? await whyNotSent(row, session) : undefined;
  const send: Action = ({ id }) => continueSubmission(parts, id);
  const anew = beginsAnew(row, session);
  const rows: Record<Button, [icon: string, detail: string, value: Choice]> = {
    check: ['search', l10n.t('Reads your runs and balance. Nothing is sent.'), 'check'],
    cancel: ['close', cancelDetail(submission), (now) => Promise.resolve(cancelNow(parts.submissions, now))],
    continue: [
      'play',
      anew
        ? l10n.t('Review and consent again, then submit.')
        : l10n.t('Asks first, then uploads the same dataset.'),
      send,
    ],
    resend: ['play', CHARGE.sameRequest, send],
    discard: ['trash', discardDetail(kind), (now) => discard(parts, session, now)],
  };
  const shown = buttons.map((button): PickRow<Choice | undefined> => {
    const [icon, detail, value] = rows[button];
    // Shown in place of an action that isn't possible.
    if (obstacle !== undefined && (button === 'continue' || button === 'resend')) {
      const label = button === 'resend' ? l10n.t('Can’t resend') : l10n.t('Can’t continue');
      return { icon: 'circle-slash', label, detail: obstacle, value: undefined };
    }
    return { icon, label: BUTTONS[button], detail, value };
  });
  // If the last bytes never left, possible runs matter only as the check's reason.
  const isMeant = finding?.verdict === 'cannot-tell' && (kind === 'sent' || finding.reason === 'candidates');
  const candidates = isMeant ? finding.candidates : [];
  const runs = candidates.map((run): PickRow<Choice> => ({
    icon: 'pass',
    label: l10n.t('This Is the Run: {0}', run.label || l10n.t('no label')),
    detail: runFacts(run, session, submission),
    value: (now) => adopt(parts, session, now, run),
  }));
  return shown.toSpliced(buttons.indexOf('check') + 1, 0, ...runs);
}

async function discard(
  parts: ResolveParts,
  session: Session,
  row: PendingSubmission,
): Promise<CommandResult | undefined> {
  const { submissions } = parts;
  const { id, submission } = row;
  if (!canDiscard(row)) return undefined;
  const question = l10n.t('Discard the submission of {0}?', submissionName(submission));
  const isAgreed = async (detail: string) =>
    (await askModal(showWarning, question, detail, { [TERMS.discard]: true })) === true;
  const end = (confirmed: 'may-be-charged' | 'not-charged') => {
    const work = (signal: AbortSignal) => submissions.discard(id, confirmed, session, signal);
    return onDisk(whileChecking(submission, work), 'submissions');
  };
  const { kind } = submissionTextOf(row, Date.now());
  if (!(await isAgreed(discardDetail(kind, true)))) return undefined;
  let ended = await end(kind === 'sent' ? 'may-be-charged' : 'not-charged');
  const now = findSubmission(submissions, id);
  if (ended === undefined && now !== undefined && now.state !== 'elsewhere') {
    // It may be charged by now: let the user decide again with what is known now.
    if (now.submission.stage === 'sent') return undefined;
    const { sentence } = submissionTextOf({ ...now, state: 'unchecked', hasLooked: true }, Date.now());
    if (!(await isAgreed([sentence, CHARGE.compare].join(' ')))) return undefined;
    ended = await end('may-be-charged');
  }
  if (ended === undefined) return showEnd(id, parts, true);
  if (ended.kind === 'charged') return showChargedRun(parts, session, submission, ended.run);
  return { outcome: ended.kind === 'not-charged' ? 'not-charged' : 'unknown', id };
}

/** Settles a submission with the run that the user recognized. */
async function adopt(
  parts: ResolveParts,
  session: Session,
  { id, submission }: PendingSubmission,
  run: RunDetail,
): Promise<CommandResult | undefined> {
  const question = l10n.t('Is this the run for {0}?', submissionName(submission));
  const facts = runFacts(run, session, submission);
  // Cut the label, so that the rest stays readable.
  const what = compact(run.label && sanitizeServiceText(run.label), facts).join(' · ');
  const yes = { [l10n.t('This Is the Run')]: true };
  if ((await askModal(showWarning, question, recognizedDetail(what), yes)) !== true) return undefined;
  const isAdopted = await onDisk(parts.submissions.adopt(session, id, run.run_id), 'submissions');
  return isAdopted ? showChargedRun(parts, session, submission, run) : showEnd(id, parts, true);
}

function runFacts(
  { created_at, model_id, price_cents, run_id }: RunDetail,
  { account, balance: { current } }: Session,
  { balanceBefore }: Submission,
): string {
  // The currency of its receipt: the balance may be in another one by now.
  const { currency } = balanceBefore ?? current ?? {};
  const formatted = account.kind === 'sandbox' ? formatMoney : formatPrice;
  return [
    model_id,
    created_at === undefined ? l10n.t('time unknown') : formatTime(created_at),
    price_cents === undefined ? l10n.t('price not provided') : formatted(price_cents, currency),
    run_id,
  ].join(' · ');
}
