import path from 'node:path';
import * as vscode from 'vscode';
import { onDisk } from '../../core/base/diskError.ts';
import { throwIfCancelled } from '../../core/base/errors.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Draft } from '../../core/submission/intent.ts';
import type { KnownSubmissions } from '../../core/submission/rivals.ts';
import type { PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import { isDatasetOf, receiptOf } from '../../core/submission/receipts.ts';
import type { Services } from '../../services.ts';
import { openDataset } from '../shared/chooseDataset.ts';
import type { CommandResult } from '../shared/commands.ts';
import { COMMANDS } from '../shared/ids.ts';
import { askModal, showInformation } from '../shared/notifications.ts';
import { TERMS } from '../shared/terms.ts';
import { placeOf } from './datasetPlace.ts';
import { chooseCheckedDataset, type CheckedDataset } from './checkedDataset.ts';
import { initialChoices, presetFrom, type Preset } from './preset.ts';
import { endLongWait, readFacts } from './readFacts.ts';
import { DatasetReview, type Restart, type SubmissionContext } from './review.ts';
import { reportResult, withSubmissionProgress } from './submissionResult.ts';
import { reviewSubmission, type Confirmed } from './submissionSteps.ts';

type Parts = Pick<
  Services,
  | 'agreedUnreadable'
  | 'ensureActiveAccount'
  | 'journal'
  | 'log'
  | 'openJournal'
  | 'reports'
  | 'sandboxFault'
  | 'sessions'
  | 'submitted'
  | 'submissions'
>;

/**
 * Leads from a file to a run: choose, save, and check the file; review and consent; upload; result. If the account or the file
 * changes meanwhile, it returns to the check. Called as `(uri?, uris?)` from menus, with a row of the Models view, or with a
 * preset.
 * @throws ApiError, KeyMissingError if the models can't be read, DiskError if the journal can't, CancelledError; never
 * after consent
 */
export async function submitDataset(
  services: Parts,
  argument?: unknown,
  selection?: unknown,
  given?: unknown,
): Promise<CommandResult> {
  const { log, openJournal, reports, sessions, submissions } = services;
  let preset = presetFrom(given);
  let chosen: { file: unknown; selection?: unknown } = { file: argument, selection };
  let restarted: Restart | undefined;
  for (;;) {
    const { proposal } = preset;
    throwIfCancelled(proposal?.signal);
    if (proposal?.isOver === true) return { outcome: 'cancelled' };
    const session = sessions.active ?? (await startSomewhere(sessions));
    if (session === undefined) return { outcome: 'cancelled' };
    await onDisk(openJournal(), 'submissions');
    if (!(await endLongWait(session, submissions))) return { outcome: 'unavailable' };
    const { id, name } = session.account;
    if (preset.accountId !== undefined && preset.accountId !== id) restarted ??= 'account-changed';
    // A changed dataset has other bytes than those that were refused.
    const refused = restarted === 'dataset-changed' ? undefined : refusedOf(submissions, id, preset.replaces);
    const checked = await chooseCheckedDataset(chosen.file, chosen.selection, name, {
      reports: await reports(),
      log,
      known: refused?.intent.dataset,
    });
    if ('outcome' in checked) return checked;
    const facts = await readFacts(session, services);
    if (facts === undefined) return { outcome: 'unavailable' };
    const filename = path.basename(checked.file.path);
    const anew = preset.isAnew
      ? vscode.l10n.t('This starts a new submission. Nothing has been sent yet.')
      : undefined;
    const notice = restarted === undefined ? anew : restartNotice(restarted, filename, name);
    const earlier = receiptOf(facts.receipts, id, preset.again ?? '');
    const place = await placeOf(checked.file.path);
    const shown = { notice, earlier, proposal };
    const review = new DatasetReview({ ...checked, place }, session, facts, services, shown);
    const context = review.context();
    const initial = initialChoices(context, argument, preset, facts.receipts, submissions.pending);
    const result = await reviewSubmission(review, initial).finally(() => review.dispose());
    if (result === undefined) return { outcome: 'cancelled' };
    if (result.kind === 'open') {
      if (proposal !== undefined) proposal.metOpen = true;
      return result.end;
    }
    if (result.kind === 'confirmed') {
      const draft = draftOf(checked, review.context(), result);
      return send(services, session, draft, review.known, preset);
    }
    restarted = result.reason;
    const { model, label, priority } = result.choices;
    // A label that the user didn't change follows the file name.
    const isDefault = label === path.parse(filename).name;
    preset = { ...preset, modelId: model?.model_id, label: isDefault ? undefined : label, priority };
    const other = restarted === 'other-dataset' ? await openDataset() : undefined;
    if (other !== undefined) {
      preset = { ...preset, again: undefined, replaces: undefined, proposal: undefined };
      if (proposal !== undefined) {
        proposal.isReplaced = true;
        // They were chosen for the proposed dataset.
        preset = { ...preset, label: undefined, priority: undefined };
      }
    }
    chosen = { file: other ?? vscode.Uri.file(checked.file.path) };
  }
}

/** Uploads the draft, discards the refused submission that it replaces, and reports the result. */
async function send(
  services: Parts,
  session: Session,
  draft: Draft,
  known: KnownSubmissions,
  { proposal, replaces }: Preset,
): Promise<CommandResult> {
  const { submissions } = services;
  const { id, result } = await withSubmissionProgress(session, draft, (signal) =>
    submissions.submit(session, draft, signal, known),
  );
  if (result.kind === 'open' && proposal !== undefined) proposal.metOpen = true;
  const isBegun = result.kind !== 'open' && !(result.kind === 'not-charged' && !result.kept);
  const replaced = isBegun ? refusedOf(submissions, session.account.id, replaces) : undefined;
  if (replaced !== undefined && isDatasetOf(replaced.intent, draft))
    await submissions.discard(replaced.id, 'not-charged').catch(() => false);
  return reportResult(result, id, draft, session, services);
}

/** Only accepts a refused submission of the same account, since any extension can pass any ID. */
function refusedOf(
  { pending }: Services['submissions'],
  accountId: string,
  replaces: string | undefined,
): PendingSubmission | undefined {
  return pending.find((one) => one.id === replaces && one.state === 'refused' && one.accountId === accountId);
}

/** Why the summary is shown again; undefined if the user requested it. */
function restartNotice(reason: Restart, fileName: string, accountName: string): string | undefined {
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
