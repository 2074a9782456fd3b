import path from 'node:path';
import * as vscode from 'vscode';
import { MAX_DATASET_BYTES, WARN_DATASET_BYTES } from '../api/types.ts';
import { CancelledError } from '../base/errors.ts';
import { inspectDataset, type DatasetFile } from '../dataset/inspect.ts';
import { chooseDataset, refuseDataset, saveIfNeeded } from '../host/dialogs/datasetDialogs.ts';
import { askToSubmit, type ConsentedChoices } from '../host/dialogs/submissionDialogs.ts';
import { COMMANDS } from '../host/ids.ts';
import { cutLabel, defaultLabel } from '../host/label.ts';
import type { Log } from '../host/log.ts';
import { modelOf } from '../host/modelArgument.ts';
import { withCancellableProgress } from '../host/progress.ts';
import { askWhereToWork } from '../host/wording/accounts.ts';
import { uploadText } from '../host/wording/runs.ts';
import {
  confirmAnother,
  submissionWords,
  tellCharged,
  tellNoModels,
  tellNotCharged,
  tellUnknown,
} from '../host/wording/submission.ts';
import type { Session } from '../runs/session.ts';
import type { Sessions } from '../runs/sessions.ts';
import type { Draft, Submitter } from '../runs/submitter.ts';

/** What "Submit Again…" takes over from an earlier run. */
export interface Preset {
  modelId?: string;
  label?: string;
}

/**
 * Leads from a file to a run: which file, saved, fit to be sent, choices and consents by a person, upload, outcome.
 * Called as `(uri?, uris?)` from menus, with a row of the Models view, and with a preset by "Submit Again…".
 * @param reveal shows a loaded run
 * @throws ApiError, KeyMissingError when models cannot be read; after consent it throws nothing
 */
export function submitDataset(
  sessions: Sessions,
  submitter: Submitter,
  reveal: (runId: string) => Promise<void>,
  log: Log,
) {
  return async (argument?: unknown, selection?: unknown, preset?: unknown): Promise<void> => {
    const session = sessions.active ?? (await startSomewhere(sessions));
    if (session === undefined) return;
    const file = await readyFile(argument, selection);
    if (file === undefined) return;
    const open = submitter.pending.find(
      ({ accountId, draft }) => accountId === session.account.id && draft.dataset.path === file.path,
    );
    if (open !== undefined && !(await confirmAnother(path.basename(file.path), open.state === 'unknown')))
      return;
    const { modelId, label: presetLabel } = presetOf(preset);
    const choices = await askForChoices(session, file, modelId ?? argument, presetLabel);
    if (choices === undefined) return;
    const { model, label, priority, ...consents } = choices;
    const draft: Draft = {
      dataset: { path: file.path, filename: path.basename(file.path), sizeBytes: file.sizeBytes },
      model_id: model.model_id,
      ...(label === '' ? {} : { label }),
      ...consents,
      priority_processing: priority,
    };
    await submitAndTell(session, submitter, draft, reveal, log);
  };
}

/** Commands can be called by anybody with anything. */
function presetOf(value: unknown): Preset {
  if (typeof value !== 'object' || value === null) return {};
  const { modelId, label } = value as Record<string, unknown>;
  return { ...(typeof modelId === 'string' && { modelId }), ...(typeof label === 'string' && { label }) };
}

async function startSomewhere(sessions: Sessions): Promise<Session | undefined> {
  const where = await askWhereToWork();
  if (where === undefined) return undefined;
  await vscode.commands.executeCommand(where === 'signIn' ? COMMANDS.signIn : COMMANDS.useSandbox);
  return sessions.active;
}

async function readyFile(argument: unknown, selection: unknown): Promise<DatasetFile | undefined> {
  const chosen = await chooseDataset(argument, selection);
  const saved = chosen === undefined ? undefined : await saveIfNeeded(chosen);
  if (saved === undefined) return undefined;
  const name = path.posix.basename(saved.path);
  if (saved.scheme !== 'file') {
    refuseDataset(name, 'not-on-disk', MAX_DATASET_BYTES);
    return undefined;
  }
  const limits = { maxBytes: MAX_DATASET_BYTES, warnBytes: WARN_DATASET_BYTES };
  const file = await inspectDataset(saved.fsPath, limits);
  if (typeof file !== 'string') return file;
  refuseDataset(name, file, MAX_DATASET_BYTES);
  return undefined;
}

async function askForChoices(
  session: Session,
  file: DatasetFile,
  model: unknown,
  label: string | undefined,
): Promise<ConsentedChoices | undefined> {
  const [models, balance] = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: submissionWords.preparing() },
    () =>
      Promise.all([
        session.models.refresh(),
        // The summary can do without: it says that the balance is not known.
        session.balance.refresh().catch(() => undefined),
      ]),
  );
  const available = models.filter(({ available }) => available);
  if (available.length === 0) {
    tellNoModels();
    return undefined;
  }
  const fileName = path.basename(file.path);
  return askToSubmit(
    {
      accountName: session.account.name,
      isSandbox: session.account.kind === 'sandbox',
      fileName,
      sizeBytes: file.sizeBytes,
      nearLimit: file.nearLimit,
      models: available,
      balance,
    },
    {
      model: modelOf(model, available),
      label: label === undefined ? defaultLabel(fileName) : cutLabel(label),
      priority: false,
    },
  );
}

async function submitAndTell(
  session: Session,
  submitter: Submitter,
  draft: Draft,
  reveal: (runId: string) => Promise<void>,
  log: Log,
): Promise<void> {
  const { filename } = draft.dataset;
  const title = submissionWords.title(filename, session.account.name);
  const outcome = await withCancellableProgress(title, async (signal, report) => {
    const subscription = submitter.onDidChange((pending) => {
      if (pending.draft === draft)
        report(uploadText(pending, Date.now()), pending.sentBytes / pending.totalBytes);
    });
    try {
      return await submitter.submit(session, draft, signal);
    } finally {
      subscription.dispose();
    }
  });
  switch (outcome.kind) {
    case 'charged': {
      const { run_id } = outcome.run;
      tellCharged(outcome.run, filename, session.account.kind === 'sandbox', () => {
        void vscode.commands.executeCommand(COMMANDS.showRun, run_id);
      });
      // The charge is told; that the view could not show the run would only confuse.
      await reveal(run_id).catch(() => undefined);
      return;
    }
    case 'not-charged':
      // Cancelled before anything could be charged: silent.
      if (outcome.error instanceof CancelledError) return;
      log.error('not-submitted', outcome.error);
      tellNotCharged(outcome.error, session.balance.current, () => {
        const preset: Preset = { modelId: draft.model_id, label: draft.label ?? '' };
        const uri = vscode.Uri.file(draft.dataset.path);
        void vscode.commands.executeCommand(COMMANDS.submitDataset, uri, undefined, preset);
      });
      return;
    case 'unknown':
      log.error('outcome-unknown', outcome.error);
      tellUnknown(filename, outcome.error);
  }
}
