import { commands, l10n, Uri } from 'vscode';
import type { Account } from '../../core/accounts/account.ts';
import { MAX_DATASET_BYTES } from '../../core/api/types.ts';
import { onDisk } from '../../core/base/diskError.ts';
import { inspectDataset } from '../../core/datasets/fileKind.ts';
import { withoutMarker } from '../../core/runs/marker.ts';
import type { RunStore } from '../../core/runs/runStore.ts';
import { receiptOf } from '../../core/submission/receipts.ts';
import type { Draft } from '../../core/submission/submission.ts';
import type { Services } from '../../services.ts';
import { chooseRun, runChoices } from '../shared/arguments.ts';
import { openDataset } from '../shared/chooseDataset.ts';
import type { CommandResult } from '../shared/commands.ts';
import { inSandbox } from '../shared/format.ts';
import { COMMANDS, VIEWS } from '../shared/ids.ts';
import { showWarning, withViewProgress } from '../shared/notifications.ts';
import type { Proposal } from '../shared/proposal.ts';
import { receiptsOf } from './review.ts';

/** What "Submit Again…" and a refused submission start with. */
export interface SubmissionPreset {
  modelId?: string | undefined;
  /** Without its marker; the default is the file name. */
  label?: string | undefined;
  priority?: boolean;
  /** The refused submission that this one replaces. */
  replacesRefused?: string | undefined;
  /** Whether it replaces a submission that was too old. */
  isAnew?: boolean;
  /** The run whose dataset is submitted again. */
  runToRepeat?: string | undefined;
  /** The account that this was chosen for, which may no longer be active. */
  accountId?: string | undefined;
  /** Given if an agent proposed it. */
  proposal?: Proposal | undefined;
}

/** The choices of an earlier submission, with which a new one starts. */
export function presetOf({ model_id, label = '', priority_processing }: Draft): SubmissionPreset {
  return { modelId: model_id, label: withoutMarker(label), priority: priority_processing };
}

/**
 * Starts a new submission with the model and label of an earlier run. If the receipt is on this machine, also
 * with its queue and dataset. The user consents again.
 * @throws ApiError, KeyMissingError for a run that is not loaded and cannot be read
 */
export async function submitAgain(
  services: Pick<Services, 'journal' | 'log' | 'openJournal' | 'sessions'>,
  argument: unknown,
): Promise<CommandResult> {
  const { openJournal, sessions } = services;
  const session = sessions.active;
  if (session === undefined) return { outcome: 'unavailable' };
  const runId = await chooseRun(argument, runChoices(session));
  if (typeof runId === 'object') return runId;
  const { account } = session;
  await onDisk(openJournal(), 'submissions');
  const receipt = receiptOf(await receiptsOf(services), account.id, runId);
  const preset: SubmissionPreset =
    receipt === undefined
      ? await withViewProgress(VIEWS.runs, () => presetOfRun(session.runs, runId))
      : { ...presetOf(receipt), runToRepeat: runId };
  return continueWithDataset(receipt?.dataset, { ...preset, accountId: account.id }, account);
}

/** Starts a new submission in place of one that was too old. The user consents again. */
export function startAnew(draft: Draft, account: Account): Promise<CommandResult> {
  return continueWithDataset(
    draft.dataset,
    { ...presetOf(draft), isAnew: true, accountId: account.id },
    account,
  );
}

/** Starts a submission of an earlier dataset; if the file is gone or unknown, the user chooses one. */
export async function continueWithDataset(
  dataset: { path: string; filename: string } | undefined,
  preset: SubmissionPreset,
  account: Account,
): Promise<CommandResult> {
  const found = dataset && (await inspectDataset(dataset.path, MAX_DATASET_BYTES));
  let file = dataset && Uri.file(dataset.path);
  if (dataset === undefined || found === 'missing' || found === 'folder' || found === 'not-a-file') {
    if (dataset !== undefined) {
      const text = l10n.t('{0} was moved or deleted. Choose the dataset to submit.', dataset.filename);
      void showWarning(inSandbox(text, account.kind === 'sandbox'));
    }
    file = await openDataset();
  }
  if (file === undefined) return { outcome: 'cancelled' };
  return commands.executeCommand<CommandResult>(COMMANDS.submitDataset, file, undefined, preset);
}

/** Reads the details if necessary, since the list has no labels. */
async function presetOfRun(runs: RunStore, runId: string): Promise<SubmissionPreset> {
  const row = runs.get(runId);
  const known = runs.label(runId);
  if (row !== undefined && known !== undefined) return { modelId: row.model_id, label: withoutMarker(known) };
  try {
    const { model_id, label } = runs.detail(runId) ?? (await runs.loadDetail(runId));
    return { modelId: model_id, ...(label === undefined ? {} : { label: withoutMarker(label) }) };
  } catch (error) {
    if (row === undefined) throw error;
    return { modelId: row.model_id };
  }
}
