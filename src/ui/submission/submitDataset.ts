import path from 'node:path';
import * as vscode from 'vscode';
import { onDisk } from '../../core/base/diskError.ts';
import { throwIfCancelled } from '../../core/base/errors.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Draft } from '../../core/submission/intent.ts';
import type { KnownSubmissions } from '../../core/submission/earlier.ts';
import type { PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import { isDatasetOf, receiptOf } from '../../core/submission/receipts.ts';
import type { Services } from '../../services.ts';
import { openDataset } from '../shared/chooseDataset.ts';
import type { CommandResult } from '../shared/commands.ts';
import { COMMANDS } from '../shared/ids.ts';
import { askModal, showInformation } from '../shared/notifications.ts';
import { TERMS } from '../shared/terms.ts';
import { datasetPlaceOf } from './datasetPlace.ts';
import { chooseCheckedDataset, type CheckedDataset } from './checkedDataset.ts';
import { initialChoices, presetFrom, type SubmissionPreset } from './preset.ts';
import { endLongWait, readReviewFacts } from './readFacts.ts';
import { DatasetReview, type Restart, type SubmissionContext } from './review.ts';
import { showResult, withSubmissionProgress } from './submissionResult.ts';
import { reviewSubmission, type Confirmed, type ReviewResult } from './submissionSteps.ts';

type Parts = Pick<
  Services,
  | 'agreedUnreadable'
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
>;

/** One pass from the choice of a file to Submit; another one follows if something changed meanwhile. */
interface Round {
  file: unknown;
  /** Given by a menu. */
  selection?: unknown;
  /** A row of the Models view, if it was called with one. */
  modelRow: unknown;
  preset: SubmissionPreset;
  /** Why it isn't the first pass. */
  restarted?: Restart;
}

/**
 * Leads from a file to a run: choose, save, and check the file; review and consent; upload; result. If the
 * account or the file changes meanwhile, it returns to the check. Called as `(uri?, uris?)` from menus, with
 * a row of the Models view, or with a preset.
 * @throws ApiError, KeyMissingError if the models can't be read, DiskError if the journal can't,
 * CancelledError; never after consent
 */
export async function submitDataset(
  services: Parts,
  argument?: unknown,
  selection?: unknown,
  given?: unknown,
): Promise<CommandResult> {
  let round: Round = { file: argument, selection, modelRow: argument, preset: presetFrom(given) };
  for (;;) {
    const end = await checkAndReview(services, round);
    if ('outcome' in end) return end;
    round = end;
  }
}

/** @returns the end of the command, or the next round if something changed meanwhile */
async function checkAndReview(services: Parts, round: Round): Promise<CommandResult | Round> {
  const { log, openJournal, reports, sessions, submissions } = services;
  const { preset } = round;
  const { proposal } = preset;
  throwIfCancelled(proposal?.signal);
  if (proposal?.isOver === true) return { outcome: 'cancelled' };
  const session = sessions.active ?? (await startSomewhere(sessions));
  if (session === undefined) return { outcome: 'cancelled' };
  await onDisk(openJournal(), 'submissions');
  if (!(await endLongWait(session, submissions))) return { outcome: 'unavailable' };
  const { id, name } = session.account;
  const isOtherAccount = preset.accountId !== undefined && preset.accountId !== id;
  const restarted = round.restarted ?? (isOtherAccount ? 'account-changed' : undefined);
  // A changed dataset has other bytes than those that were refused.
  const refused =
    restarted === 'dataset-changed' ? undefined : refusedOf(submissions, id, preset.replacesRefused);
  const checked = await chooseCheckedDataset(round.file, round.selection, name, {
    reports: await reports(),
    log,
    known: refused?.intent.dataset,
  });
  if ('outcome' in checked) return checked;
  const facts = await readReviewFacts(session, services);
  if (facts === undefined) return { outcome: 'unavailable' };
  const shown = {
    notice: noticeOf(restarted, preset, path.basename(checked.file.path), name),
    earlier: receiptOf(facts.receipts, id, preset.runToRepeat ?? ''),
    proposal,
  };
  const place = await datasetPlaceOf(checked.file.path);
  const review = new DatasetReview({ ...checked, place }, session, facts, services, shown);
  const context = review.context();
  const initial = initialChoices(context, round.modelRow, preset, facts.receipts, submissions.pending);
  const result = await reviewSubmission(review, initial).finally(() => review.dispose());
  if (result === undefined) return { outcome: 'cancelled' };
  if (result.kind === 'open') {
    if (proposal !== undefined) proposal.metOpen = true;
    return result.end;
  }
  if (result.kind === 'restart') return nextRound(round, result, checked.file.path);
  return send(services, session, draftOf(checked, review.context(), result), review.known, preset);
}

/** Begins again with the same choices, or with another dataset if the user asked for it. */
async function nextRound(
  { modelRow, preset: before }: Round,
  { choices, reason }: Extract<ReviewResult, { kind: 'restart' }>,
  file: string,
): Promise<Round> {
  const { model, label, priority } = choices;
  // A label that the user didn't change follows the file name.
  const isDefault = label === path.parse(file).name;
  const preset = {
    ...before,
    modelId: model?.model_id,
    label: isDefault ? undefined : label,
    priority,
  };
  const same = { file: vscode.Uri.file(file), modelRow, preset, restarted: reason };
  const other = reason === 'other-dataset' ? await openDataset() : undefined;
  if (other === undefined) return same;
  const { proposal } = preset;
  const ofOther = { ...preset, runToRepeat: undefined, replacesRefused: undefined, proposal: undefined };
  if (proposal === undefined) return { ...same, file: other, preset: ofOther };
  proposal.isReplaced = true;
  // These were chosen for the proposed dataset.
  return { ...same, file: other, preset: { ...ofOther, label: undefined, priority: false } };
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
  const isBegun = result.kind !== 'open' && !(result.kind === 'not-charged' && !result.kept);
  const replaced = isBegun ? refusedOf(submissions, session.account.id, replacesRefused) : undefined;
  if (replaced !== undefined && isDatasetOf(replaced.intent, draft))
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
    (one) => one.id === refusedId && one.state === 'refused' && one.accountId === accountId,
  );
}

/** The notice at the top of Summary: why it is shown again, unless the user asked for it. */
function noticeOf(
  reason: Restart | undefined,
  { isAnew }: SubmissionPreset,
  fileName: string,
  accountName: string,
): string | undefined {
  if (reason === undefined)
    return isAnew ? vscode.l10n.t('This starts a new submission. Nothing has been sent yet.') : undefined;
  if (reason === 'other-dataset') return undefined;
  if (reason === 'submitted-meanwhile')
    return vscode.l10n.t('{0} was submitted meanwhile. Nothing more has been sent yet.', fileName);
  const notices: Record<typeof reason, string> = {
    'dataset-changed': vscode.l10n.t('{0} changed and was checked again.', fileName),
    'account-changed': vscode.l10n.t('The account is now {0}.', accountName),
    reconnected: vscode.l10n.t('The connection to {0} changed.', accountName),
  };
  return [notices[reason], vscode.l10n.t('Nothing has been sent yet.')].join(' ');
}

/** Asks, before the first use, whether to sign in or to use the sandbox. */
async function startSomewhere(sessions: Services['sessions']): Promise<Session | undefined> {
  const question = vscode.l10n.t('Sign in first, or try it in the sandbox.');
  const detail = vscode.l10n.t('The sandbox needs no account: no training, no charges.');
  const where = await askModal(showInformation, question, detail, {
    [TERMS.signIn]: COMMANDS.signIn,
    [TERMS.useSandbox]: COMMANDS.useSandbox,
  });
  if (where === undefined) return undefined;
  await vscode.commands.executeCommand(where);
  return sessions.active;
}

function draftOf(
  { file, counts }: CheckedDataset,
  { balance, marker, proposal }: SubmissionContext,
  confirmed: Confirmed,
): Draft {
  const { model, label, priority, consents, sha256 } = confirmed;
  return {
    dataset: {
      path: file.path,
      filename: path.basename(file.path),
      sizeBytes: file.sizeBytes,
      mtimeMs: file.mtimeMs,
      ctimeMs: file.ctimeMs,
      sha256,
      ...counts,
    },
    model_id: model.model_id,
    ...(label === '' ? {} : { label }),
    ...(marker === undefined ? {} : { marker }),
    priority_processing: priority,
    ...(proposal === undefined ? {} : { proposedBy: 'agent' }),
    consents,
    ...(balance === undefined ? {} : { balanceBefore: balance }),
  };
}
