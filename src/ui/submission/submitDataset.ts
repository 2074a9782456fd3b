import path from 'node:path';
import { commands, l10n, Uri } from 'vscode';
import type { Account } from '../../core/accounts/account.ts';
import { MAX_LABEL_LENGTH } from '../../core/api/types.ts';
import { onDisk } from '../../core/base/diskError.ts';
import { cutAtWholeCharacters } from '../../core/base/plainText.ts';
import { RETRIES } from '../../core/base/retry.ts';
import { withoutMarker } from '../../core/runs/marker.ts';
import type { Session } from '../../core/runs/session.ts';
import type { KnownSubmissions } from '../../core/submission/journal.ts';
import type { PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import { hasSameDataset, receiptOf } from '../../core/submission/receipts.ts';
import { busyUntilMs } from '../../core/submission/stage.ts';
import { isRefused, isSent, type Draft, type Receipt } from '../../core/submission/submission.ts';
import type { Services } from '../../services.ts';
import { modelOf } from '../shared/arguments.ts';
import type { CommandResult } from '../shared/commands.ts';
import { inSandbox } from '../shared/format.ts';
import { COMMANDS } from '../shared/ids.ts';
import { askModal, showInformation, showWarning, withProgress } from '../shared/notifications.ts';
import { Proposal } from '../shared/proposal.ts';
import { TERMS } from '../shared/terms.ts';
import { chooseCheckedDataset, type CheckedDataset } from './checkedDataset.ts';
import {
  DatasetReview,
  LOADING,
  readReviewFacts,
  type InitialChoices,
  type Restart,
  type SubmissionContext,
} from './review.ts';
import { showResult, withSubmissionProgress, type EndParts } from './submissionResult.ts';
import { reviewSubmission, type Again, type Confirmed } from './submissionSteps.ts';
import { waitSentence } from './submissionText.ts';
import type { SubmissionPreset } from './submitAgain.ts';

type Parts = Pick<
  Services,
  | 'ensureActiveAccount'
  | 'fingerprints'
  | 'journal'
  | 'log'
  | 'openJournal'
  | 'readings'
  | 'reports'
  | 'sandboxFault'
  | 'sessions'
  | 'submissions'
> &
  EndParts;

/**
 * Leads from a file to a run: choose, save, and check the file; review and consent; upload; result. If the
 * account or the file changes meanwhile, it begins again. Called as `(uri?, uris?)` from menus, with a row of
 * the Models view, or with a preset.
 * @param reason why it begins again
 * @throws ApiError, KeyMissingError if the models can't be read, DiskError if the journal can't,
 * CancelledError; never after consent
 */
export async function submitDataset(
  services: Parts,
  argument?: unknown,
  selection?: unknown,
  given?: unknown,
  reason?: Restart,
): Promise<CommandResult> {
  const { log, reports, submissions } = services;
  const preset = presetFrom(given);
  const { proposal } = preset;
  if (proposal?.isOver === true || proposal?.signal.aborted) return { outcome: 'cancelled' };
  const session = await payingSession(services);
  if ('outcome' in session) return session;
  const { account } = session;

  const refused = refusedOf(submissions, account.id, preset.replacesRefused);
  // A changed dataset has other bytes than those that were refused.
  const known = reason === 'dataset-changed' ? undefined : refused?.submission.dataset;
  const checks = { accountName: account.name, reports: await reports(), log, known };
  const checked = await chooseCheckedDataset(argument, selection, checks);
  if ('outcome' in checked) return checked;
  const { path: file } = checked.file;

  const facts = await readReviewFacts(session, services);
  if (facts === undefined) return { outcome: 'unavailable' };
  const review = new DatasetReview(checked, session, facts, services, {
    notice: noticeOf(reason, preset, path.basename(file), account),
    earlier: receiptOf(facts.receipts, account.id, preset.runToRepeat ?? ''),
    proposal,
  });
  const initial = initialChoices(review.context(), argument, preset, facts.receipts, submissions.pending);
  const end = await reviewSubmission(review, initial).finally(() => review.dispose());
  if ('outcome' in end) return end;
  if ('consents' in end)
    return send(services, session, draftOf(checked, review.context(), end), end.known, preset);
  const next = nextPreset(preset, end, file, account.id);
  return submitDataset(services, end.other ?? Uri.file(file), undefined, next, end.reason);
}

/** Returns the session of the account that pays, if it may submit now. */
async function payingSession({
  openJournal,
  sessions,
  submissions,
}: Parts): Promise<Session | CommandResult> {
  const session = sessions.active ?? (await startSomewhere(sessions));
  if (session === undefined) return { outcome: 'cancelled' };
  await onDisk(openJournal(), 'submissions');
  return (await endLongWait(session, submissions)) ? session : { outcome: 'unavailable' };
}

/** Asks, before the first use, whether to sign in or to use the sandbox. */
async function startSomewhere(sessions: Services['sessions']): Promise<Session | undefined> {
  const question = l10n.t('Sign in first, or try it in the sandbox.');
  const detail = l10n.t('The sandbox needs no account: no training, no charges.');
  const where = await askModal(showInformation, question, detail, {
    [TERMS.signIn]: COMMANDS.signIn,
    [TERMS.useSandbox]: COMMANDS.useSandbox,
  });
  if (where === undefined) return undefined;
  await commands.executeCommand(where);
  return sessions.active;
}

/**
 * Asks whether to try although the service asked submissions to wait for long. If so, an answered read ends
 * that wait. Unsent submissions get rid of it as well: the user may be about to submit one again.
 * @returns whether to continue
 * @throws ApiError, KeyMissingError
 */
async function endLongWait(
  session: Session,
  submissions: Pick<Services['submissions'], 'endLongWait' | 'pending'>,
): Promise<boolean> {
  const { account } = session;
  const nowMs = Date.now();
  // Another window may have ended the account's wait, but not that of submissions left unsent here.
  const ownMs = submissions.pending
    .filter(({ accountId, submission }) => accountId === account.id && !isSent(submission))
    .map(({ submission }) => busyUntilMs(submission, nowMs) ?? 0)
    .filter((untilMs) => untilMs - nowMs > RETRIES.submission.longestRetryAfterMs);
  const untilMs = Math.max(session.longWaitUntilMs ?? 0, ...ownMs);
  if (untilMs === 0) return true;
  const question = inSandbox(waitSentence(untilMs), account.kind === 'sandbox');
  const buttons = { [l10n.t('OK')]: false, [l10n.t('Try Anyway')]: true };
  if ((await askModal(showWarning, question, '', buttons)) !== true) return false;
  await withProgress(LOADING, () => submissions.endLongWait(session));
  return true;
}

/** Validates the preset, since any extension can call a command with anything. */
function presetFrom(value: unknown): SubmissionPreset {
  const given = { ...(value as Record<string, unknown> | undefined) };
  const text = (field: keyof SubmissionPreset) =>
    typeof given[field] === 'string' ? given[field] : undefined;
  return {
    modelId: text('modelId'),
    label: text('label'),
    priority: given['priority'] === true,
    replacesRefused: text('replacesRefused'),
    isAnew: given['isAnew'] === true,
    runToRepeat: text('runToRepeat'),
    accountId: text('accountId'),
    proposal: given['proposal'] instanceof Proposal ? given['proposal'] : undefined,
  };
}

/** Keeps the choices: fewer for another dataset, and fewer still if an agent made them. */
function nextPreset(
  preset: SubmissionPreset,
  { choices: { model, label, priority }, other }: Again,
  file: string,
  accountId: string,
): SubmissionPreset {
  const { proposal } = preset;
  const modelId = model.model_id;
  if (proposal !== undefined && other !== undefined) {
    proposal.isReplaced = true;
    return { modelId, accountId };
  }
  // A label that the user didn't change follows the file name.
  const chosen = { ...(label !== path.parse(file).name && { label }), modelId, priority, accountId };
  return other === undefined ? { ...preset, label: undefined, ...chosen } : chosen;
}

/** The default model is the one last used with this account. The queue, which may cost extra, is not remembered. */
function initialChoices(
  { account, dataset: { filename }, models }: SubmissionContext,
  argument: unknown,
  { modelId, label = path.parse(filename).name, priority = false }: SubmissionPreset,
  receipts: readonly Receipt[],
  pending: readonly PendingSubmission[],
): InitialChoices {
  const [last] = [...receipts, ...pending.map(({ submission }) => submission)]
    .filter(({ accountId }) => accountId === account.id)
    .sort((a, b) => b.created.localMs - a.created.localMs);
  const model =
    modelId === undefined
      ? (modelOf(argument, models) ?? modelOf(last?.model_id, models))
      : modelOf(modelId, models);
  return { model, label: withoutMarker(cutAtWholeCharacters(label, MAX_LABEL_LENGTH)), priority };
}

/** The notice at the top of Summary: why it is shown again, unless the user asked for it. */
function noticeOf(
  given: Restart | undefined,
  { accountId, isAnew }: SubmissionPreset,
  fileName: string,
  { id, name }: Account,
): string | undefined {
  const isOtherAccount = accountId !== undefined && accountId !== id;
  const reason = given ?? (isOtherAccount ? 'account-changed' : isAnew ? 'anew' : undefined);
  const notices: Record<Restart | 'anew', string> = {
    anew: l10n.t('This starts a new submission. Nothing has been sent yet.'),
    'dataset-changed': l10n.t('{0} changed and was checked again. Nothing has been sent yet.', fileName),
    'account-changed': l10n.t('The account is now {0}. Nothing has been sent yet.', name),
    reconnected: l10n.t('The connection to {0} changed. Nothing has been sent yet.', name),
    'submitted-meanwhile': l10n.t(
      '{0} was submitted in the meantime. Nothing more has been sent yet.',
      fileName,
    ),
  };
  return reason && notices[reason];
}

function draftOf(
  { file, counts }: CheckedDataset,
  { balance, marker, proposal }: SubmissionContext,
  { sha256, consents, label, model_id, priority_processing }: Confirmed,
): Draft {
  return {
    dataset: { ...file, filename: path.basename(file.path), sha256, ...counts },
    ...{ consents, model_id, priority_processing },
    ...(label === undefined ? {} : { label }),
    ...(marker === undefined ? {} : { marker }),
    ...(proposal === undefined ? {} : { proposedBy: 'agent' }),
    ...(balance === undefined ? {} : { balanceBefore: balance }),
  };
}

/** Uploads the draft, discards the refused submission that it replaces, and reports the result. */
async function send(
  services: Parts,
  session: Session,
  draft: Draft,
  known: KnownSubmissions,
  { proposal, replacesRefused }: SubmissionPreset,
): Promise<CommandResult> {
  const { submissions } = services;
  const { id, result } = await withSubmissionProgress(session, draft, (signal) =>
    submissions.submit(session, draft, signal, known),
  );
  if (result.kind === 'open' && proposal !== undefined) proposal.metOpen = true;
  const isBegun = result.kind !== 'open' && !(result.kind === 'not-charged' && !result.isKept);
  const replaced = isBegun ? refusedOf(submissions, session.account.id, replacesRefused) : undefined;
  if (replaced !== undefined && hasSameDataset(replaced.submission, draft))
    await submissions.discard(replaced.id, 'not-charged').catch(() => false);
  return showResult(result, id, draft, session, services);
}

/** Only accepts a refused submission of the same account, since any extension can pass any ID. */
function refusedOf(
  { pending }: Services['submissions'],
  accountId: string,
  refusedId: string | undefined,
): PendingSubmission | undefined {
  return pending.find(
    (one) => one.id === refusedId && isRefused(one.submission) && one.accountId === accountId,
  );
}
