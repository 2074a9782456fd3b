import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as vscode from 'vscode';
import { MAX_DATASET_BYTES, type Balance } from '../api/types.ts';
import { ServiceError } from '../api/errors.ts';
import { CancelledError } from '../base/errors.ts';
import { inspectDataset, type DatasetFile } from '../dataset/inspect.ts';
import type { Reports } from '../dataset/reports.ts';
import { summaryOrFailure, type Summary } from '../dataset/summary.ts';
import { chooseDataset, refuseDataset, saveIfNeeded } from '../host/dialogs/datasetDialogs.ts';
import { askToSubmit, type ConsentedChoices } from '../host/dialogs/submissionDialogs.ts';
import { COMMANDS, type CommandId } from '../host/ids.ts';
import { cutLabel, defaultLabel } from '../host/label.ts';
import type { Log } from '../host/log.ts';
import { modelOf } from '../host/modelArgument.ts';
import { withCancellableProgress } from '../host/progress.ts';
import { passGate } from '../host/submissionGate.ts';
import { askWhereToWork } from '../host/wording/accounts.ts';
import { uploadText } from '../host/wording/runs.ts';
import {
  confirmAnother,
  submissionWords,
  tellCancelled,
  tellCharged,
  tellNoModels,
  tellNotCharged,
  tellUnknown,
} from '../host/wording/submission.ts';
import type { Outcome } from '../runs/outcome.ts';
import type { Session } from '../runs/session.ts';
import type { Sessions } from '../runs/sessions.ts';
import type { Draft, SubmissionState, Submitter } from '../runs/submitter.ts';

/** How long a refusal waits for the balance that it is told with. */
const BALANCE_WAIT_MS = 5_000;

/** What "Submit Again…" takes over from an earlier run. */
export interface Preset {
  modelId?: string;
  label?: string;
}

/**
 * Leads from a file to a run: which file, saved, checked, choices and consents by a person, upload, outcome.
 * Called as `(uri?, uris?)` from menus, with a row of the Models view, and with a preset by "Submit Again…".
 * @param beActive makes an account the active one, if it is not and the person agrees
 * @param reveal shows a loaded run
 * @throws ApiError, KeyMissingError when models cannot be read, CancelledError; after consent it throws nothing
 */
export function submitDataset(
  sessions: Sessions,
  submitter: Submitter,
  reports: Reports,
  beActive: (accountId: string) => Promise<boolean>,
  reveal: (runId: string) => Promise<void>,
  log: Log,
) {
  return async (argument?: unknown, selection?: unknown, preset?: unknown): Promise<void> => {
    const session = sessions.active ?? (await startSomewhere(sessions));
    if (session === undefined) return;
    const filePath = await readyFile(argument, selection);
    if (filePath === undefined) return;
    const open = submitter.pending.find(
      ({ accountId, draft }) => accountId === session.account.id && draft.dataset.path === filePath,
    );
    if (open !== undefined && !(await confirmAnother(path.basename(filePath), open.state === 'unknown')))
      return;
    const checked = await passChecked(filePath, session.account.name, reports, log);
    if (checked === undefined) return;
    const { file, check } = checked;
    const { modelId, label: presetLabel } = presetOf(preset);
    const choices = await askForChoices(session, file, check, modelId ?? argument, presetLabel);
    if (choices === undefined) return;
    const { model, label, priority, ...consents } = choices;
    const draft: Draft = {
      dataset: {
        path: file.path,
        filename: path.basename(file.path),
        sizeBytes: file.sizeBytes,
        mtimeMs: file.mtimeMs,
      },
      model_id: model.model_id,
      ...(label === '' ? {} : { label }),
      ...consents,
      priority_processing: priority,
    };
    const outcome = await submitWithProgress(session, submitter, draft);
    // A notification can be answered after a switch: its button acts on the account of its run.
    const act = async (command: CommandId, ...args: unknown[]) => {
      if (await beActive(session.account.id)) await vscode.commands.executeCommand(command, ...args);
    };
    await tell(session, draft, outcome, act, log);
    // The charge is told; that the view could not show the run would only confuse.
    if (outcome.kind === 'charged') await reveal(outcome.run.run_id).catch(() => undefined);
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

/** Which file, saved and fit to be sent. */
async function readyFile(argument: unknown, selection: unknown): Promise<string | undefined> {
  const chosen = await chooseDataset(argument, selection);
  const saved = chosen === undefined ? undefined : await saveIfNeeded(chosen);
  if (saved === undefined) return undefined;
  const name = path.posix.basename(saved.path);
  if (saved.scheme !== 'file') {
    refuseDataset(name, 'not-on-disk', MAX_DATASET_BYTES);
    return undefined;
  }
  return (await inspected(saved.fsPath))?.path;
}

async function inspected(filePath: string): Promise<DatasetFile | undefined> {
  const file = await inspectDataset(filePath, MAX_DATASET_BYTES);
  if (typeof file !== 'string') return file;
  refuseDataset(path.basename(filePath), file, MAX_DATASET_BYTES);
  return undefined;
}

/** Checks the file and lets it pass the gate; what is returned, and only that, is what was checked. */
async function passChecked(
  filePath: string,
  accountName: string,
  reports: Reports,
  log: Log,
): Promise<{ file: DatasetFile; check: Summary | 'unchecked' } | undefined> {
  for (;;) {
    const check = await passGate(vscode.Uri.file(filePath), accountName, (signal, tell) =>
      summaryOrFailure(reports.fresh(filePath, signal, tell), (error) => log.error('not-checked', error)),
    );
    const file = check === undefined ? undefined : await inspected(filePath);
    if (check === undefined || file === undefined) return undefined;
    const isSame =
      check !== 'unchecked' && check.sizeBytes === file.sizeBytes && check.mtimeMs === file.mtimeMs;
    if (check === 'unchecked' || isSame) return { file, check };
  }
}

async function askForChoices(
  session: Session,
  file: DatasetFile,
  check: Summary | 'unchecked',
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
      check,
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

async function submitWithProgress(session: Session, submitter: Submitter, draft: Draft): Promise<Outcome> {
  const title = submissionWords.title(draft.dataset.filename, session.account.name);
  return withCancellableProgress(title, async (signal, report) => {
    let state: SubmissionState | undefined;
    const subscription = submitter.onDidChange((pending) => {
      if (pending.draft !== draft) return;
      // Of progress some may be left out, of states none.
      const isProgress = pending.state === state;
      state = pending.state;
      report(
        uploadText(pending, Date.now()),
        isProgress ? pending.sentBytes / pending.totalBytes : undefined,
      );
    });
    try {
      return await submitter.submit(session, draft, signal);
    } finally {
      subscription.dispose();
    }
  });
}

async function tell(
  session: Session,
  draft: Draft,
  outcome: Outcome,
  act: (command: CommandId, ...args: unknown[]) => Promise<void>,
  log: Log,
): Promise<void> {
  const { filename } = draft.dataset;
  const isSandbox = session.account.kind === 'sandbox';
  switch (outcome.kind) {
    case 'charged': {
      const { run } = outcome;
      tellCharged(run, filename, isSandbox, () => void act(COMMANDS.showRun, run.run_id));
      return;
    }
    case 'not-charged':
      if (outcome.error instanceof CancelledError) {
        tellCancelled(filename);
        return;
      }
      log.error('not-submitted', outcome.error);
      tellNotCharged(
        outcome.error,
        await balanceNow(session, outcome.error),
        isSandbox,
        () => {
          const preset: Preset = { modelId: draft.model_id, label: draft.label ?? '' };
          void act(COMMANDS.submitDataset, vscode.Uri.file(draft.dataset.path), undefined, preset);
        },
        // The log is that of all accounts.
        (command) =>
          void (command === COMMANDS.showLog ? vscode.commands.executeCommand(command) : act(command)),
      );
      return;
    case 'unknown':
      log.error('outcome-unknown', outcome.error);
      tellUnknown(filename, outcome.error, isSandbox, () => void act(COMMANDS.refresh));
  }
}

/** The balance beside a refusal for its sake, as it is now and not as it was; undefined where it does not come soon. */
async function balanceNow(session: Session, error: unknown): Promise<Balance | undefined> {
  if (!(error instanceof ServiceError) || error.code !== 'insufficient_balance') return undefined;
  return Promise.race([
    session.balance.refresh().catch(() => undefined),
    delay(BALANCE_WAIT_MS, undefined, { ref: false }),
  ]);
}
