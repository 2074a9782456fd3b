import type { RunDetail } from '../../core/api/types.ts';
import { onDisk } from '../../core/base/diskError.ts';
import type { Session } from '../../core/runs/session.ts';
import { mayBeCharged, submissionName } from '../../core/submission/intent.ts';
import {
  canCheck,
  canDiscard,
  isCancellable,
  type PendingSubmission,
} from '../../core/submission/pendingSubmission.ts';
import { isUncertain } from '../../core/submission/reconcilePolicy.ts';
import type { UnreadRecord } from '../../core/submission/unreadRecord.ts';
import type { Services } from '../../services.ts';
import { showInformation } from '../shared/notifications.ts';
import { timesOfAlike, withTime } from '../shared/rowText.ts';
import { pick, separator, type Choice } from '../shared/steps.ts';
import { TERMS } from '../shared/terms.ts';
import {
  checkSubmission,
  continueSubmission,
  obstacleOf,
  reportRun,
  type Checked,
  type ResolveParts,
} from './continueSubmission.ts';
import { discardRecord } from './discardRecord.ts';
import { confirmDiscard, confirmIsRun, factRows, resolveMessages } from './resolveMessages.ts';
import { BUTTONS, moneySentence, RESENDING } from './submissionMoney.ts';
import { reportEnd } from './submissionResult.ts';
import { damagedDescription, damagedName, submissionDescription } from './submissionState.ts';

/** The action of a dialog row on the submission's current state; resolves to whether the dialog is done. */
type Action = (submission: PendingSubmission) => Promise<boolean>;

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
): Promise<void> {
  const { ensureActiveAccount, sessions, submitter } = parts;
  const chosen = await chooseSubmission(parts, argument);
  if (chosen === undefined) return;
  if ('stamp' in chosen) {
    await discardRecord(parts, chosen);
    return;
  }
  const { id, accountId, intent } = chosen;
  const session = sessions.find(accountId);
  if (session === undefined) {
    // Notifies the user that the account is signed out.
    await ensureActiveAccount(accountId);
    return;
  }
  if (begin === 'continue' && canDiscard(chosen) && (await continueSubmission(parts, id))) return;
  let checked = await check(parts, session, chosen);
  for (;;) {
    if (checked.finding?.verdict === 'charged') {
      reportRun(parts, session, intent, checked.finding.run);
      return;
    }
    const submission = find(submitter, id);
    if (submission === undefined) {
      await reportEnd(id, parts);
      return;
    }
    const obstacle = await obstacleOf(submission, session);
    const action = await ask(parts, session, submission, { ...checked, obstacle });
    if (action === undefined) return;
    // Another window may have changed it meanwhile.
    const now = find(submitter, id) ?? submission;
    if (action === 'check') checked = await check(parts, session, now);
    else if (await action(now)) return;
  }
}

/**
 * Cancels an upload before it is complete; the command that started it reports the result. Without a row, which VS Code doesn't
 * always pass when its button is pressed, it cancels the only upload or the one that the user picks.
 */
export async function cancelUpload(
  { sessions, submitter }: Pick<Services, 'sessions' | 'submitter'>,
  argument?: unknown,
): Promise<void> {
  const given = submissionIdOf(argument);
  const { pending } = submitter;
  if (given !== undefined) {
    const submission = find(submitter, given);
    if (submission !== undefined) cancel(submitter, submission);
    return;
  }
  const uploads = pending.filter(isCancellable);
  const [only] = uploads;
  if (only === undefined) {
    void showInformation(resolveMessages.noUpload());
    return;
  }
  // The user may have meant a submission whose upload was just completed.
  const isClear = uploads.length === 1 && pending.every(({ state }) => state !== 'validating');
  const chosen = isClear ? only : await pickSubmission(uploads, sessions);
  if (chosen !== undefined) cancel(submitter, chosen);
}

function cancel(submitter: Services['submitter'], { id, intent }: PendingSubmission): void {
  if (submitter.cancel(id)) return;
  const isLate = find(submitter, id)?.state === 'validating';
  void showInformation(isLate ? resolveMessages.tooLate(intent) : resolveMessages.noUpload());
}

function find({ pending }: Services['submitter'], id: string | undefined): PendingSubmission | undefined {
  return pending.find((one) => one.id === id);
}

/** Returns the ID of the submission that a command was called with, as a row or as an ID. */
function submissionIdOf(argument: unknown): string | undefined {
  const id = typeof argument === 'object' && argument !== null && 'id' in argument ? argument.id : argument;
  return typeof id === 'string' ? id : undefined;
}

async function chooseSubmission(
  { journal, sessions, submitter }: ResolveParts,
  argument: unknown,
): Promise<PendingSubmission | UnreadRecord | undefined> {
  const { pending } = submitter;
  const { damaged } = journal;
  const given = submissionIdOf(argument);
  if (given !== undefined) {
    const found = find(submitter, given) ?? damaged.find(({ id }) => id === given);
    if (found === undefined) await reportEnd(given, { journal, sessions, submitter });
    return found;
  }
  const signedIn = pending.filter(({ accountId }) => sessions.find(accountId) !== undefined);
  const reachable = [...signedIn, ...damaged];
  if (reachable.length > 1) return pickSubmission(reachable, sessions);
  if (reachable.length === 0)
    void showInformation(pending.length === 0 ? resolveMessages.noneOpen() : resolveMessages.onlySignedOut());
  return reachable[0];
}

async function pickSubmission<T extends PendingSubmission | UnreadRecord>(
  submissions: readonly T[],
  sessions: Services['sessions'],
): Promise<T | undefined> {
  const otherAccount = (accountId: string) =>
    accountId === sessions.active?.account.id
      ? undefined
      : (sessions.find(accountId)?.account.name ?? resolveMessages.signedOut());
  const row = (one: PendingSubmission | UnreadRecord) =>
    'stamp' in one
      ? {
          label: damagedName(one),
          description: damagedDescription(one, one.hint && otherAccount(one.hint.accountId)),
          atMs: NaN,
        }
      : {
          label: submissionName(one.intent),
          description: submissionDescription(one, Date.now(), otherAccount(one.accountId)),
          atMs: one.intent.created.localMs,
        };
  const rows = submissions.map((one) => ({ ...row(one), value: one }));
  const times = timesOfAlike(
    rows.map(({ label, description, atMs, value }) => ({ id: value.id, text: label + description, atMs })),
  );
  const items = rows.map(({ label, description, value }) => ({
    label,
    description: withTime(description, times.get(value.id)),
    value,
  }));
  const answer = await pick<T>({ title: resolveMessages.choose() }, { items });
  return answer.kind === 'value' ? answer.value : undefined;
}

/** Checks a submission that may have been charged. */
async function check(parts: ResolveParts, session: Session, submission: PendingSubmission): Promise<Checked> {
  const isCheckable = canCheck(submission) || submission.state === 'checking';
  return isCheckable ? checkSubmission(parts, session, submission) : {};
}

/** Shows the dialog. @returns what the user decided; undefined if the dialog was closed */
async function ask(
  parts: ResolveParts,
  session: Session,
  submission: PendingSubmission,
  { finding, failure, obstacle }: Checked & { obstacle: string | undefined },
): Promise<'check' | Action | undefined> {
  const { intent, state } = submission;
  const nowMs = Date.now();
  const uncertain = finding?.verdict === 'cannot-tell' ? finding : undefined;
  const modelName = session.models.nameOf(intent.model_id);
  const facts = factRows(submission, session, modelName, failure, nowMs);
  const candidates = state === 'unknown' ? (uncertain?.candidates ?? []) : [];
  const actions = actionRows(parts, session, submission, candidates, obstacle);
  const answer = await pick<'check' | Action | undefined>(
    { title: resolveMessages.title(intent.dataset.filename) },
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
  candidates: readonly RunDetail[],
  obstacle: string | undefined,
): Choice<'check' | Action | undefined>[] {
  const { submitter } = parts;
  const { intent, state } = submission;
  const rows: Choice<'check' | Action | undefined>[] = [];
  const add = (icon: string, label: string, detail: string, value?: 'check' | Action) =>
    rows.push({ icon, label, detail, value });
  if (canCheck(submission)) add('search', BUTTONS.checkNow, resolveMessages.checkDetail(), 'check');
  for (const run of candidates) {
    const facts = resolveMessages.runDetail(run, intent.balanceBefore?.currency);
    add('pass', resolveMessages.run(run), facts, (now) => adopt(parts, session, now, run));
  }
  if (isCancellable(submission))
    add('close', resolveMessages.cancel(), resolveMessages.cancelDetail(mayBeCharged(intent)), (now) => {
      cancel(submitter, now);
      return Promise.resolve(true);
    });
  if (obstacle !== undefined) add('circle-slash', resolveMessages.cantSend(mayBeCharged(intent)), obstacle);
  else if (canDiscard(submission)) {
    const [label, detail] = mayBeCharged(intent)
      ? [BUTTONS.resend, RESENDING]
      : [BUTTONS.continue, resolveMessages.continueDetail(state === 'refused')];
    add('play', label, detail, ({ id }) => continueSubmission(parts, id));
  }
  if (canDiscard(submission)) {
    const detail = resolveMessages.discardDetail(state);
    add('trash', resolveMessages.discard(), detail, (now) => discard(parts, now));
  }
  return rows;
}

async function discard(
  { journal, sessions, submitter }: ResolveParts,
  submission: PendingSubmission,
): Promise<boolean> {
  const { id, intent } = submission;
  if (!canDiscard(submission)) return false;
  const isOpen = isUncertain(intent);
  if (!(await confirmDiscard(submission))) return false;
  const confirmed = isOpen ? 'may-be-charged' : 'not-charged';
  if (await onDisk(submitter.discard(id, confirmed), 'submissions')) return true;
  const now = find(submitter, id);
  // It may have been charged meanwhile, so the user decides again with what is known now.
  if (now !== undefined && now.state !== 'elsewhere') return false;
  await reportEnd(id, { journal, sessions, submitter });
  return true;
}

/** Settles a submission with the run that the user recognized. */
async function adopt(
  parts: ResolveParts,
  session: Session,
  { id, intent }: PendingSubmission,
  run: RunDetail,
): Promise<boolean> {
  const name = submissionName(intent);
  const facts = resolveMessages.runDetail(run, session.balance.current?.currency);
  if (!(await confirmIsRun(name, run, facts))) return false;
  if (await onDisk(parts.submitter.adopt(session, id, run.run_id), 'submissions'))
    reportRun(parts, session, intent, run);
  else await reportEnd(id, parts);
  return true;
}
