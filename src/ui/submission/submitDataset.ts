import path from 'node:path';
import * as vscode from 'vscode';
import { placeOf } from '../../core/accounts/account.ts';
import { sha256OfFile } from '../../core/api/dataset.ts';
import { MAX_LABEL_LENGTH } from '../../core/api/types.ts';
import { onDisk } from '../../core/base/diskError.ts';
import { cutAtWholeCharacters } from '../../core/base/plainText.ts';
import { newMarker, withoutMarker } from '../../core/runs/marker.ts';
import type { RunStore } from '../../core/runs/runStore.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Draft } from '../../core/submission/intent.ts';
import type { PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import { priorsOf } from '../../core/submission/trainedBefore.ts';
import type { Services } from '../../services.ts';
import { askWhereToWork } from '../shared/accountMessages.ts';
import { gateMessages } from '../shared/datasetMessages.ts';
import { COMMANDS, VIEWS } from '../shared/ids.ts';
import { modelOf, chooseRun, runChoices } from '../shared/arguments.ts';
import { showWarning, withLateProgress, withProgress, withViewProgress } from '../shared/notifications.ts';
import { prepareDataset, type CheckedDataset } from '../shared/prepareDataset.ts';
import { labelMarkerSetting } from '../shared/settings.ts';
import { openMessages, stepMessages } from './stepMessages.ts';
import { reportResult, withSubmissionProgress } from './submissionResult.ts';
import { askToSubmit, rowsOf } from './submissionSteps.ts';

/** What "Submit Again…" and a refused submission start with. */
interface Preset {
  modelId?: string;
  label?: string;
  priority?: boolean;
  /** The refused submission that this one replaces. */
  replaces?: string;
}

type Parts = Pick<
  Services,
  | 'digestWorker'
  | 'ensureActiveAccount'
  | 'journal'
  | 'log'
  | 'openJournal'
  | 'reports'
  | 'sessions'
  | 'submitted'
  | 'submitter'
>;

/**
 * Leads from a file to a run: choose, save and check the file, choices and consents by the user, upload, result.
 * Called as `(uri?, uris?)` from menus, with a row of the Models view, and with a preset.
 * @throws ApiError, KeyMissingError if the models can't be read, StorageError if the journal can't, DatasetChangedError,
 * DigestError, CancelledError; nothing
 * after consent
 */
export async function submitDataset(
  services: Parts,
  argument?: unknown,
  selection?: unknown,
  given?: unknown,
): Promise<void> {
  const { digestWorker, log, openJournal, reports, sessions, submitter } = services;
  const session = sessions.active ?? (await startSomewhere(sessions));
  if (session === undefined) return;
  const { account } = session;
  await onDisk(openJournal(), 'submissions');
  const dataset = await prepareDataset(argument, selection, account.name, {
    reports: await reports(),
    log,
  });
  if (dataset === undefined) return;
  const { file } = dataset;
  const sha256 = await withLateProgress(
    gateMessages.hashing(path.basename(file.path)),
    (signal, onProgress) =>
      sha256OfFile(file, {
        worker: digestWorker,
        signal,
        onProgress: (hashedBytes, totalBytes) => onProgress(hashedBytes / totalBytes),
      }),
  );
  const openOnes = submitter.openOnesOf(account, sha256);
  if (!(await mayGoBeside(openOnes, session, dataset))) return;
  const besides = openOnes.map((one) => one.id);
  const preset = presetFrom(given);
  const draft = await askForDraft(session, { ...dataset, sha256 }, argument, preset, services);
  if (draft === undefined) return;
  const { id, result } = await withSubmissionProgress(session, draft, (signal) =>
    submitter.submit(session, draft, signal, besides),
  );
  const isBegun = result.kind !== 'open' && !(result.kind === 'not-charged' && !result.kept);
  if (isBegun) await discardReplaced(submitter, account.id, preset.replaces);
  await reportResult(result, id, draft, session, services);
}

/**
 * Starts a new submission with the model and label of an earlier run; file and consents are asked for again.
 * @throws ApiError, KeyMissingError for a run that is not loaded and cannot be read
 */
export async function submitAgain(
  { sessions }: Pick<Services, 'sessions'>,
  argument: unknown,
): Promise<void> {
  const session = sessions.active;
  if (session === undefined) return;
  const runId = await chooseRun(argument, runChoices(session));
  if (runId === undefined) return;
  const preset = await withViewProgress(VIEWS.runs, () => presetOfRun(session.runs, runId));
  await vscode.commands.executeCommand(COMMANDS.submitDataset, undefined, undefined, preset);
}

/** The list has no labels: they are in the details. */
async function presetOfRun(runs: RunStore, runId: string): Promise<Preset> {
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

/** Anybody can call a command with anything. */
function presetFrom(value: unknown): Preset {
  if (typeof value !== 'object' || value === null) return {};
  const { modelId, label, priority, replaces } = value as Record<string, unknown>;
  return {
    ...(typeof modelId === 'string' && { modelId }),
    ...(typeof label === 'string' && { label }),
    ...(typeof priority === 'boolean' && { priority }),
    ...(typeof replaces === 'string' && { replaces }),
  };
}

/** Anybody can name any submission: only a refused one of the same account is discarded. */
async function discardReplaced(
  submitter: Services['submitter'],
  accountId: string,
  replaces: string | undefined,
): Promise<void> {
  const replaced = submitter.pending.find(({ id }) => id === replaces);
  if (replaced?.state === 'refused' && replaced.accountId === accountId)
    await submitter.discard(replaced.id, 'not-charged').catch(() => false);
}

async function startSomewhere(sessions: Services['sessions']): Promise<Session | undefined> {
  const where = await askWhereToWork();
  if (where === undefined) return undefined;
  await vscode.commands.executeCommand(where === 'signIn' ? COMMANDS.signIn : COMMANDS.useSandbox);
  return sessions.active;
}

/** Asks about each open submission of the same dataset. @returns whether to submit it anyway */
async function mayGoBeside(
  openOnes: readonly PendingSubmission[],
  { account, models }: Session,
  { file }: CheckedDataset,
): Promise<boolean> {
  for (const one of openOnes) {
    const isOther = one.accountId !== account.id;
    const open = openMessages.open();
    const another = openMessages.another(isOther);
    const choice = await showWarning(
      openMessages.question(path.basename(file.path), isOther),
      { modal: true, detail: openMessages.detail(one, models.nameOf(one.intent.model_id), isOther) },
      open,
      another,
    );
    if (choice === open) await vscode.commands.executeCommand(COMMANDS.resolveSubmission, one.id);
    if (choice !== another) return false;
  }
  return true;
}

/** Leads through the steps; undefined if no model is available, or the user gave up. */
async function askForDraft(
  session: Session,
  { file, check, sha256 }: CheckedDataset & { sha256: string },
  argument: unknown,
  preset: Preset,
  services: Parts,
): Promise<Draft | undefined> {
  const [models, balance, receipts] = await withProgress(
    { location: vscode.ProgressLocation.Window, title: stepMessages.preparing() },
    () => readFacts(session, services),
  );
  const available = models.filter((model) => model.available);
  if (available.length === 0) {
    void showWarning(stepMessages.noModels());
    return undefined;
  }
  const filename = path.basename(file.path);
  const marker = labelMarkerSetting() ? newMarker() : undefined;
  const choices = await askToSubmit(
    {
      account: session.account,
      fileName: filename,
      sizeBytes: file.sizeBytes,
      check,
      models: available,
      balance,
      marker,
      priors: priorsOf(receipts, placeOf(session.account), sha256).map((prior) => ({
        ...prior,
        modelName: session.models.nameOf(prior.modelId),
      })),
    },
    {
      model: modelOf(preset.modelId ?? argument, available),
      label: cutAtWholeCharacters(preset.label ?? path.parse(filename).name, MAX_LABEL_LENGTH),
      priority: preset.priority ?? false,
    },
  );
  if (choices === undefined) return undefined;
  const { model, label, priority, consents } = choices;
  const rows = rowsOf(check);
  return {
    dataset: {
      path: file.path,
      filename,
      sizeBytes: file.sizeBytes,
      mtimeMs: file.mtimeMs,
      sha256,
      ...(rows !== undefined && { rows }),
    },
    model_id: model.model_id,
    ...(label === '' ? {} : { label }),
    ...(marker === undefined ? {} : { marker }),
    priority_processing: priority,
    consents,
    ...(balance === undefined ? {} : { balanceBefore: balance }),
  };
}

/** Models, balance and the receipts of earlier submissions. @throws ApiError, KeyMissingError if there are no models */
function readFacts(session: Session, { journal, log }: Parts) {
  return Promise.all([
    session.models.refresh(),
    session.balance.refresh().catch(() => undefined),
    // They inform, and never stop a submission.
    journal.receipts().catch((error: unknown) => {
      log.error('receipts', error);
      return [];
    }),
  ]);
}
