import { l10n } from 'vscode';
import type { RunDetail } from '../../core/api/types.ts';
import { onDisk } from '../../core/base/diskError.ts';
import { CancelledError } from '../../core/base/errors.ts';
import type { Session } from '../../core/runs/session.ts';
import { submissionName, type Intent } from '../../core/submission/intent.ts';
import {
  afterCheck,
  canCheck,
  canDiscard,
  isCancellable,
  type PendingSubmission,
} from '../../core/submission/pendingSubmission.ts';
import { isPastBoundary, isUncertain, stageOf } from '../../core/submission/stage.ts';
import { compact, formatMoney, formatPrice, formatTime } from '../shared/format.ts';
import {
  CHARGE,
  cancelDetail,
  discardDetail,
  moneySentence,
  recognizedDetail,
} from '../shared/chargeText.ts';
import type { CommandResult } from '../shared/commands.ts';
import { askModal, showWarning } from '../shared/notifications.ts';
import { asText, explain } from '../shared/serviceErrors.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { pick, separator, type PickRow } from '../shared/steps.ts';
import { TERMS } from '../shared/terms.ts';
import { cancelNow } from './cancelUpload.ts';
import { chooseSubmission, findSubmission } from './chooseSubmission.ts';
import {
  checkSubmission,
  continueSubmission,
  obstacleOf,
  showChargedRun,
  situationOf,
  whileChecking,
  type Checked,
  type ResolveParts,
} from './continueSubmission.ts';
import { factRows, UNCERTAINTIES } from './resolveFacts.ts';
import { BUTTONS } from './submissionTexts.ts';
import { showEnd } from './submissionResult.ts';

/** The action of a row on the current submission; resolves to undefined to show the dialog again. */
type Action = (submission: PendingSubmission) => Promise<CommandResult | undefined>;

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
  const { id, accountId, intent } = chosen;
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
      return showChargedRun(parts, session, intent, checked.finding.run);
    const submission = findSubmission(submissions, id);
    if (submission === undefined) return showEnd(id, parts, canDiscard(asked));
    const obstacle = await obstacleOf(submission, session);
    const action = await ask(parts, session, submission, { ...checked, obstacle });
    if (action === undefined) return { outcome: 'cancelled', id };
    // Another window may have changed it meanwhile.
    const now = findSubmission(submissions, id) ?? submission;
    if (action === 'check') {
      checked = await check(parts, session, now);
      continue;
    }
    const end = await action(now);
    if (end !== undefined) return end;
  }
}

async function check(parts: ResolveParts, session: Session, submission: PendingSubmission): Promise<Checked> {
  // Another window may have been checking it when its state was read.
  const isPast = isPastBoundary(stageOf(submission.intent));
  const mayBeFree = submission.state === 'elsewhere' && isPast;
  return canCheck(submission) || mayBeFree ? checkSubmission(parts, session, submission) : {};
}

/** Shows the dialog. @returns what the user decided; undefined if the dialog was closed */
async function ask(
  parts: ResolveParts,
  session: Session,
  submission: PendingSubmission,
  { finding, error, obstacle }: Checked & { obstacle: string | undefined },
): Promise<'check' | Action | undefined> {
  const { intent, state } = submission;
  const nowMs = Date.now();
  const uncertain = finding?.verdict === 'cannot-tell' ? finding : undefined;
  const modelName = session.models.nameOf(intent.model_id);
  const isFailed = error !== undefined && !(error instanceof CancelledError);
  // The record itself has no reason.
  const why = uncertain && !('why' in stageOf(intent)) ? UNCERTAINTIES[uncertain.reason] : undefined;
  const failure = isFailed ? asText(explain(error)) : why;
  const facts = factRows(submission, session, modelName, failure, nowMs);
  // Before a boundary was sent, possible runs matter only if the look needs them.
  const mayBeRun = state === 'unknown' || (state === 'stopped' && uncertain?.reason === 'candidates');
  const candidates = mayBeRun ? (uncertain?.candidates ?? []) : [];
  const actions = actionRows(parts, session, submission, { candidates, obstacle });
  const answer = await pick<'check' | Action | undefined>(
    { title: l10n.t('Submission of {0}', intent.dataset.filename) },
    {
      placeholder: moneySentence(submission, nowMs),
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
function actionRows(
  parts: ResolveParts,
  session: Session,
  submission: PendingSubmission,
  { candidates, obstacle }: { candidates: readonly RunDetail[]; obstacle: string | undefined },
): PickRow<'check' | Action | undefined>[] {
  const { submissions } = parts;
  const { intent, state } = submission;
  const stage = stageOf(intent, situationOf(session));
  const isPast = isPastBoundary(stage);
  // Until a look is answered, the record may be from before a charge.
  const mustLook = state === 'stopped' || (state === 'unknown' && stage.name === 'cleared');
  const rows: PickRow<'check' | Action | undefined>[] = [];
  const add = (icon: string, label: string, detail: string, value?: 'check' | Action) =>
    rows.push({ icon, label, detail, value });
  if (canCheck(submission))
    add('search', BUTTONS.checkNow, l10n.t('Reads your runs and balance. Nothing is sent.'), 'check');
  for (const run of candidates) {
    const label = l10n.t('This Is the Run: {0}', run.label || l10n.t('no label'));
    const facts = runFacts(run, session, intent);
    add('pass', label, facts, (now) => adopt(parts, session, now, run));
  }
  if (isCancellable(submission)) {
    add('close', l10n.t('Cancel Upload'), cancelDetail(isPast), (now) =>
      Promise.resolve(cancelNow(submissions, now)),
    );
  }
  // Shown in place of an action that isn't possible.
  if (obstacle !== undefined)
    add('circle-slash', isPast ? l10n.t('Can’t resend') : l10n.t('Can’t continue'), obstacle);
  else if (canDiscard(submission) && !mustLook) {
    const [label, detail] = isPast
      ? [BUTTONS.resend, CHARGE.sameRequest]
      : [
          BUTTONS.continue,
          state === 'refused' || stage.obstacle !== undefined
            ? l10n.t('Review and consent again, then submit.')
            : l10n.t('Asks first, then uploads the same dataset.'),
        ];
    add('play', label, detail, ({ id }) => continueSubmission(parts, id));
  }
  if (canDiscard(submission)) {
    const detail = discardDetail(submission);
    add('trash', l10n.t('Discard…'), detail, (now) => discard(parts, session, now));
  }
  return rows;
}

async function discard(
  parts: ResolveParts,
  session: Session,
  submission: PendingSubmission,
): Promise<CommandResult | undefined> {
  const { submissions } = parts;
  const { id, intent, state } = submission;
  if (!canDiscard(submission)) return undefined;
  const question = l10n.t('Discard the submission of {0}?', submissionName(intent));
  const isAgreed = async (detail: string) =>
    (await askModal(showWarning, question, detail, { [TERMS.discard]: true })) === true;
  const end = (confirmed: 'may-be-charged' | 'not-charged') =>
    onDisk(
      whileChecking(intent, (signal) => submissions.discard(id, confirmed, session, signal)),
      'submissions',
    ).catch((error: unknown) => {
      if (!(error instanceof CancelledError)) throw error;
      return 'cancelled' as const;
    });
  const mayBeCharged = state === 'unknown';
  if (!(await isAgreed(discardDetail(submission, true)))) return undefined;
  let ended = await end(mayBeCharged ? 'may-be-charged' : 'not-charged');
  if (ended === 'cancelled') return undefined;
  if (ended === undefined) {
    const now = findSubmission(submissions, id);
    if (now === undefined || now.state === 'elsewhere') return showEnd(id, parts, true);
    // It may be charged by now: let the user decide again with what is known now.
    if (isUncertain(stageOf(now.intent))) return undefined;
    const unanswered = [CHARGE.unanswered, l10n.t('Compare your balance and runs first.')].join(' ');
    if (!(await isAgreed(unanswered))) return undefined;
    ended = await end('may-be-charged');
    if (ended === 'cancelled') return undefined;
  }
  if (ended === undefined) return showEnd(id, parts, true);
  if (ended.kind === 'charged') return showChargedRun(parts, session, intent, ended.run);
  return { outcome: ended.kind === 'not-charged' ? 'not-charged' : 'unknown', id };
}

/** Settles a submission with the run that the user recognized. */
async function adopt(
  parts: ResolveParts,
  session: Session,
  { id, intent }: PendingSubmission,
  run: RunDetail,
): Promise<CommandResult | undefined> {
  const question = l10n.t('Is this the run of {0}?', submissionName(intent));
  const facts = runFacts(run, session, intent);
  // Cut the label, so that the rest stays readable.
  const what = compact(run.label && sanitizeServiceText(run.label), facts).join(' · ');
  const yes = { [l10n.t('This Is the Run')]: true };
  if ((await askModal(showWarning, question, recognizedDetail(what), yes)) !== true) return undefined;
  const isAdopted = await onDisk(parts.submissions.adopt(session, id, run.run_id), 'submissions');
  return isAdopted ? showChargedRun(parts, session, intent, run) : showEnd(id, parts, true);
}

function runFacts(
  { created_at, model_id, price_cents, run_id }: RunDetail,
  { account, balance: { current } }: Session,
  { balanceBefore }: Intent,
): string {
  // As its receipt would say: the balance may be in another currency by now.
  const { currency } = balanceBefore ?? current ?? {};
  const formatted = account.kind === 'sandbox' ? formatMoney : formatPrice;
  return [
    model_id,
    created_at === undefined ? l10n.t('time unknown') : formatTime(created_at),
    price_cents === undefined ? l10n.t('price not provided') : formatted(price_cents, currency),
    run_id,
  ].join(' · ');
}
