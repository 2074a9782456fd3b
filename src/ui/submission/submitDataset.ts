import path from 'node:path';
import * as vscode from 'vscode';
import { offerOpenOne } from './pendingDialogs.ts';
import { askToSubmit } from './submissionDialogs.ts';
import { COMMANDS } from '../shared/ids.ts';
import { cutLabel, defaultLabel } from '../shared/label.ts';
import type { Log } from '../shared/log.ts';
import { modelOf } from '../shared/modelArgument.ts';
import { prepareDataset, type CheckedDataset, type DatasetChecks } from '../shared/prepareDataset.ts';
import { labelMarkerSetting } from '../shared/settings.ts';
import { usingStorage } from '../shared/storageError.ts';
import { tellOutcome } from './submissionOutcome.ts';
import { withSubmissionProgress } from './submissionProgress.ts';
import { askWhereToWork } from '../shared/accountMessages.ts';
import { submissionWords, tellNoModels } from './messages.ts';
import { placeOf } from '../../core/accounts/account.ts';
import type { Draft } from '../../core/submission/intent.ts';
import type { Journal } from '../../core/submission/journal.ts';
import { newMarker, withMarker, withoutMarker } from '../../core/runs/marker.ts';
import type { PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import { priorsOf } from '../../core/submission/priors.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import type { Submitter } from '../../core/submission/submitter.ts';
import { withProgress } from '../shared/notifications.ts';

/** What "Submit Again…" and a refused submission hand over. */
interface Preset {
  modelId?: string;
  label?: string;
  priority?: boolean;
  /** The refused submission that this one takes the place of. */
  replaces?: string;
}

/** What the command works with, besides VS Code. */
interface Parts extends DatasetChecks {
  sessions: Sessions;
  submitter: Submitter;
  journal: Pick<Journal, 'receipts'>;
  /** Resolves when the journal was read. @throws what the file system says */
  openJournal: () => Promise<void>;
  /** Makes an account the active one, if it is not and the person agrees. */
  beActive: (accountId: string) => Promise<boolean>;
  /** Shows a loaded run. */
  reveal: (runId: string) => Promise<void>;
  log: Log;
}

/**
 * Leads from a file to a run: which file, saved, checked, choices and consents by a person, upload, outcome.
 * Called as `(uri?, uris?)` from menus, with a row of the Models view, and with a preset by "Submit Again…".
 * @throws ApiError, KeyMissingError when models cannot be read, StorageError where the journal cannot, CancelledError; after
 * consent it throws nothing
 */
export function submitDataset(parts: Parts) {
  const { sessions, submitter, beActive, reveal, log } = parts;
  return async (argument?: unknown, selection?: unknown, given?: unknown): Promise<void> => {
    const session = sessions.active ?? (await startSomewhere(sessions));
    if (session === undefined) return;
    await usingStorage(parts.openJournal);
    const dataset = await prepareDataset(argument, selection, session.account.name, parts);
    if (dataset === undefined) return;
    const openOnes = submitter.openOnesOf(session.account, dataset.sha256);
    if (!(await mayGoBeside(openOnes, session, dataset.file.path))) return;
    const besideOtherAccounts = openOnes.some(({ accountId }) => accountId !== session.account.id);
    const { preset, draft } = (await askForDraft(session, dataset, argument, presetOf(given), parts)) ?? {};
    if (draft === undefined || preset === undefined) return;
    const { filename } = draft.dataset;
    const { id, result: outcome } = await withSubmissionProgress(
      submissionWords.title(filename, session.account.name),
      (signal) => submitter.submit(session, draft, signal, besideOtherAccounts),
    );
    const submitted = {
      id,
      path: dataset.file.path,
      filename,
      preset,
      account: session.account,
      readBalance: () => session.balance.refresh(),
    };
    // The draft that was continued has become this submission.
    const isBegun = outcome.kind !== 'open' && !(outcome.kind === 'not-charged' && !outcome.kept);
    const replaced = refusedOne(submitter, session.account.id, presetOf(given).replaces);
    if (replaced !== undefined && isBegun) await submitter.discard(replaced.id).catch(() => false);
    await tellOutcome(outcome, submitted, beActive, log);
    // The charge is told; that the view could not show the run would only confuse.
    if (outcome.kind === 'charged') await reveal(outcome.run.run_id).catch(() => undefined);
  };
}

/** Commands can be called by anybody with anything. */
function presetOf(value: unknown): Preset {
  if (typeof value !== 'object' || value === null) return {};
  const { modelId, label, priority, replaces } = value as Record<string, unknown>;
  return {
    ...(typeof modelId === 'string' && { modelId }),
    ...(typeof label === 'string' && { label }),
    ...(typeof priority === 'boolean' && { priority }),
    ...(typeof replaces === 'string' && { replaces }),
  };
}

/** Anybody can name any submission: of one that may have been charged, or of another account, nothing is taken away. */
function refusedOne({ pending }: Submitter, accountId: string, id: string | undefined) {
  return pending.find((one) => one.id === id && one.accountId === accountId && one.state === 'refused');
}

async function startSomewhere(sessions: Sessions): Promise<Session | undefined> {
  const where = await askWhereToWork();
  if (where === undefined) return undefined;
  await vscode.commands.executeCommand(where === 'signIn' ? COMMANDS.signIn : COMMANDS.useSandbox);
  return sessions.active;
}

/** Asks about each open submission of the same dataset. @returns whether to submit it all the same */
async function mayGoBeside(
  openOnes: readonly PendingSubmission[],
  { account, models }: Session,
  filePath: string,
): Promise<boolean> {
  for (const one of openOnes) {
    const modelName = models.nameOf(one.intent.model_id);
    const isOther = one.accountId !== account.id;
    const choice = await offerOpenOne(path.basename(filePath), one, modelName, isOther);
    if (choice === 'open') await vscode.commands.executeCommand(COMMANDS.resolveSubmission, one.id);
    if (choice !== 'another') return false;
  }
  return true;
}

/** Leads through the steps; undefined where no model is available, or the person gave it up. */
async function askForDraft(
  session: Session,
  dataset: CheckedDataset,
  argument: unknown,
  given: Preset,
  parts: Parts,
): Promise<{ draft: Draft; preset: Required<Omit<Preset, 'replaces'>> } | undefined> {
  const { file, check, sha256 } = dataset;
  const [models, balance, receipts] = await withProgress(
    { location: vscode.ProgressLocation.Window, title: submissionWords.preparing() },
    () => readFacts(session, parts),
  );
  const available = models.filter((model) => model.available);
  if (available.length === 0) {
    tellNoModels();
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
      marker: marker === undefined ? undefined : { text: marker, join: (label) => withMarker(label, marker) },
      priors: priorsOf(receipts, placeOf(session.account), sha256).map((prior) => ({
        ...prior,
        modelName: session.models.nameOf(prior.modelId),
      })),
    },
    {
      model: modelOf(given.modelId ?? argument, available),
      label: given.label === undefined ? defaultLabel(filename) : cutLabel(given.label),
      priority: given.priority ?? false,
    },
  );
  if (choices === undefined) return undefined;
  const { model, label, priority, consents } = choices;
  const rows = check === 'unchecked' || check.kind !== 'rows' ? {} : { rows: check.rows };
  const draft: Draft = {
    dataset: { path: file.path, filename, sizeBytes: file.sizeBytes, mtimeMs: file.mtimeMs, sha256, ...rows },
    model_id: model.model_id,
    ...(label === '' ? {} : { label }),
    ...(marker === undefined ? {} : { marker }),
    priority_processing: priority,
    consents,
    ...(balance === undefined ? {} : { balanceBefore: balance }),
  };
  return { draft, preset: { modelId: model.model_id, label: withoutMarker(label), priority } };
}

/** What the steps show: models, balance and the receipts of earlier submissions. @throws ApiError, KeyMissingError */
function readFacts(session: Session, { journal, log }: Parts) {
  return Promise.all([
    session.models.refresh(),
    // The summary can do without: it says that the balance is not known.
    session.balance.refresh().catch(() => undefined),
    // What was submitted earlier is pointed out, and never a reason to stop.
    journal.receipts().catch((error: unknown) => {
      log.error('receipts', error);
      return [];
    }),
  ]);
}
