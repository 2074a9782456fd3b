import path from 'node:path';
import * as vscode from 'vscode';
import { placeOf } from '../../core/accounts/account.ts';
import { sha256OfFile } from '../../core/api/dataset.ts';
import { DatasetChangedError } from '../../core/api/errors.ts';
import { MAX_DATASET_BYTES, MAX_LABEL_LENGTH } from '../../core/api/types.ts';
import { onDisk } from '../../core/base/diskError.ts';
import { isStill } from '../../core/base/fileStamp.ts';
import { cutAtWholeCharacters } from '../../core/base/plainText.ts';
import { inspectDataset } from '../../core/datasets/fileKind.ts';
import { accountMoneyOf } from '../../core/money/accountMoney.ts';
import { queueTimes } from '../../core/money/spending.ts';
import { newMarker, withoutMarker } from '../../core/runs/marker.ts';
import type { RunStore } from '../../core/runs/runStore.ts';
import { serviceNowMs, type Session } from '../../core/runs/session.ts';
import type { Draft, Receipt } from '../../core/submission/intent.ts';
import type { PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import { receiptOf } from '../../core/submission/runFacts.ts';
import { priorsOf, trainedBefore } from '../../core/submission/trainedBefore.ts';
import type { Services } from '../../services.ts';
import { askWhereToWork } from '../shared/accountMessages.ts';
import { modelOf, chooseRun, runChoices } from '../shared/arguments.ts';
import { gateMessages } from '../shared/datasetMessages.ts';
import { COMMANDS, VIEWS } from '../shared/ids.ts';
import { showWarning, withLateProgress, withProgress, withViewProgress } from '../shared/notifications.ts';
import { openDataset, prepareDataset, type CheckedDataset } from '../shared/prepareDataset.ts';
import { labelMarkerSetting } from '../shared/settings.ts';
import { openMessages, stepMessages, type SubmissionChoices } from './stepMessages.ts';
import { presetOf, reportResult, withSubmissionProgress } from './submissionResult.ts';
import { reviewSubmission, type Confirmed, type Restart, type Review } from './submissionSteps.ts';

/** What "Submit Again…" and a refused submission start with. */
interface Preset {
  modelId?: string | undefined;
  /** Without its marker; the file's name if it is missing. */
  label?: string | undefined;
  priority?: boolean;
  /** The refused submission that this one replaces. */
  replaces?: string;
  /** The run whose dataset is submitted again. */
  again?: string;
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
 * Leads from a file to a run: choose, save and check the file, review and consent, upload, result. What changes meanwhile, the
 * account or the file, leads back to the check. Called as `(uri?, uris?)` from menus, with a row of the Models view, and with
 * a preset.
 * @throws ApiError, KeyMissingError if the models can't be read, StorageError if the journal can't, CancelledError; nothing
 * after consent
 */
export async function submitDataset(
  services: Parts,
  argument?: unknown,
  selection?: unknown,
  given?: unknown,
): Promise<void> {
  const { log, openJournal, reports, sessions, submitter } = services;
  let preset = presetFrom(given);
  let chosen: { file: unknown; selection?: unknown } = { file: argument, selection };
  let restarted: Restart | undefined;
  for (;;) {
    const session = sessions.active ?? (await startSomewhere(sessions));
    if (session === undefined) return;
    await onDisk(openJournal(), 'submissions');
    const { name } = session.account;
    const checked = await prepareDataset(chosen.file, chosen.selection, name, {
      reports: await reports(),
      log,
    });
    const facts = checked && (await readFacts(session, services));
    if (checked === undefined || facts === undefined) return;
    const stop = new AbortController();
    const filename = path.basename(checked.file.path);
    const notice = restarted && noticeOf(restarted, filename, name);
    const earlier = receiptOf(facts.receipts, session.account.id, preset.again ?? '');
    const review = reviewOf(checked, session, facts, services, { notice, earlier }, stop);
    const initial = initialChoices(review, argument, preset, facts.receipts, submitter.pending);
    const result = await reviewSubmission(review, initial).finally(() => stop.abort());
    if (result === undefined) return;
    if (result.kind === 'confirmed') {
      await send(services, session, draftOf(checked, review, result), review.besides, preset.replaces);
      return;
    }
    restarted = result.reason;
    const { model, label, priority } = result.choices;
    // A label that nobody changed follows the file's name.
    const isDefault = label === path.parse(filename).name;
    preset = { ...preset, modelId: model?.model_id, label: isDefault ? undefined : label, priority };
    const other = restarted === 'other-dataset' ? await openDataset() : undefined;
    if (other !== undefined) delete preset.again;
    chosen = { file: other ?? vscode.Uri.file(checked.file.path) };
  }
}

function noticeOf(reason: Restart, filename: string, accountName: string): string | undefined {
  if (reason === 'dataset-changed') return stepMessages.datasetChanged(filename);
  return reason === 'account-changed' ? stepMessages.accountChanged(accountName) : undefined;
}

/** The upload, and what it came to. */
async function send(
  services: Parts,
  session: Session,
  draft: Draft,
  besides: readonly string[],
  replaces: string | undefined,
): Promise<void> {
  const { submitter } = services;
  const { id, result } = await withSubmissionProgress(session, draft, (signal) =>
    submitter.submit(session, draft, signal, besides),
  );
  const isBegun = result.kind !== 'open' && !(result.kind === 'not-charged' && !result.kept);
  if (isBegun) await discardReplaced(submitter, session.account.id, replaces);
  await reportResult(result, id, draft, session, services);
}

/**
 * Starts a new submission with the model, label and queue of an earlier run, and its dataset where the receipt is on this
 * machine; consents are asked for again.
 * @throws ApiError, KeyMissingError for a run that is not loaded and cannot be read
 */
export async function submitAgain(
  { journal, openJournal, sessions }: Pick<Services, 'journal' | 'openJournal' | 'sessions'>,
  argument: unknown,
): Promise<void> {
  const session = sessions.active;
  if (session === undefined) return;
  const runId = await chooseRun(argument, runChoices(session));
  if (runId === undefined) return;
  await onDisk(openJournal(), 'submissions');
  const receipt = receiptOf(await journal.receipts(), session.account.id, runId);
  if (receipt === undefined) {
    const preset = await withViewProgress(VIEWS.runs, () => presetOfRun(session.runs, runId));
    await vscode.commands.executeCommand(COMMANDS.submitDataset, undefined, undefined, preset);
    return;
  }
  const { dataset } = receipt;
  let file: vscode.Uri | undefined = vscode.Uri.file(dataset.path);
  if ((await inspectDataset(dataset.path, MAX_DATASET_BYTES)) === 'missing') {
    void showWarning(stepMessages.datasetGone(dataset.filename));
    file = await openDataset();
    if (file === undefined) return;
  }
  const preset: Preset = { ...presetOf(receipt), again: runId };
  await vscode.commands.executeCommand(COMMANDS.submitDataset, file, undefined, preset);
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
  const { modelId, label, priority, replaces, again } = value as Record<string, unknown>;
  return {
    ...(typeof modelId === 'string' && { modelId }),
    ...(typeof label === 'string' && { label }),
    ...(typeof priority === 'boolean' && { priority }),
    ...(typeof replaces === 'string' && { replaces }),
    ...(typeof again === 'string' && { again }),
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

/** What a review is made of that the service and the journal know. Undefined, and the user knows it, if no model is available. */
async function readFacts(session: Session, { journal, log }: Parts) {
  const [models, balance, receipts] = await withProgress(
    { location: vscode.ProgressLocation.Window, title: stepMessages.preparing() },
    () =>
      Promise.all([
        session.models.refresh(),
        session.balance.refresh().catch(() => undefined),
        // They inform, and never stop a submission.
        journal.receipts().catch((error: unknown) => {
          log.error('receipts', error);
          return [];
        }),
      ]),
  );
  const available = models.filter((model) => model.available);
  if (available.length > 0) return { models: available, balance, receipts };
  void showWarning(stepMessages.noModels());
  return undefined;
}

type Facts = NonNullable<Awaited<ReturnType<typeof readFacts>>>;

/**
 * The review of a dataset for an account. The dataset is hashed at once, beside the user's reading.
 * @param stop ends the hashing
 */
function reviewOf(
  { file, check }: CheckedDataset,
  session: Session,
  { models, balance, receipts }: Facts,
  { digestWorker, sessions, submitter }: Parts,
  shown: Pick<Review, 'notice' | 'earlier'>,
  stop: AbortController,
): Review & { besides: readonly string[] } {
  const { account } = session;
  const filename = path.basename(file.path);
  const money = accountMoneyOf({
    account,
    receipts,
    runs: session.runs,
    pending: submitter.pending,
    balance,
    nowMs: serviceNowMs(session),
  });
  let onProgress: ((fraction: number) => void) | undefined;
  const sha256 = sha256OfFile(file, {
    worker: digestWorker,
    signal: stop.signal,
    onProgress: (hashedBytes, totalBytes) => onProgress?.(hashedBytes / totalBytes),
  });
  sha256.catch(() => undefined);
  const besides = new Set<string>();
  return {
    account,
    dataset: { filename, size: { bytes: file.sizeBytes, ...countsOf(check) } },
    check,
    models,
    balance,
    money,
    queueTimes: queueTimes(money.receipts, (runId) => session.runs.detail(runId)),
    marker: labelMarkerSetting() ? newMarker() : undefined,
    ...shown,
    sha256,
    priorsOf: (digest) =>
      priorsOf(receipts, placeOf(account), digest).map((prior) => ({
        ...prior,
        modelName: session.models.nameOf(prior.modelId),
      })),
    trainedBefore(digest) {
      const trained = trainedBefore(receipts, placeOf(account), file, digest);
      return trained && { ...trained, modelName: session.models.nameOf(trained.run.modelId) };
    },
    async awaitSha256() {
      try {
        return await withLateProgress(gateMessages.hashing(filename), (signal, report) => {
          onProgress = report;
          signal.addEventListener('abort', () => stop.abort());
          return sha256;
        });
      } catch (error) {
        if (error instanceof DatasetChangedError) return undefined;
        throw error;
      }
    },
    async restart() {
      if (sessions.active !== session) return 'account-changed';
      return (await isStill(file.path, file)) ? undefined : 'dataset-changed';
    },
    async mayGoBeside(digest) {
      for (const one of submitter.openOnesOf(account, digest)) {
        if (besides.has(one.id)) continue;
        if (!(await agreesToAnother(one, session, filename))) return false;
        besides.add(one.id);
      }
      return true;
    },
    get besides() {
      return [...besides];
    },
  };
}

/** Asks about an open submission of the same dataset. @returns whether to submit it anyway */
async function agreesToAnother(
  one: PendingSubmission,
  { account, models }: Session,
  filename: string,
): Promise<boolean> {
  const isOther = one.accountId !== account.id;
  const open = openMessages.open();
  const another = openMessages.another(isOther);
  const choice = await showWarning(
    openMessages.question(filename, isOther),
    { modal: true, detail: openMessages.detail(one, models.nameOf(one.intent.model_id), isOther) },
    open,
    another,
  );
  if (choice === open) await vscode.commands.executeCommand(COMMANDS.resolveSubmission, one.id);
  return choice === another;
}

/** The model is the one that was asked for, else the one last used with this account; an extra price is never remembered. */
function initialChoices(
  { account, dataset: { filename }, models }: Review,
  argument: unknown,
  preset: Preset,
  receipts: readonly Receipt[],
  pending: readonly PendingSubmission[],
): SubmissionChoices {
  const [last] = [...receipts, ...pending.map(({ intent }) => intent)]
    .filter(({ accountId }) => accountId === account.id)
    .sort((a, b) => b.created.localMs - a.created.localMs);
  const model =
    preset.modelId === undefined
      ? (modelOf(argument, models) ?? modelOf(last?.model_id, models))
      : modelOf(preset.modelId, models);
  return {
    model,
    label: cutAtWholeCharacters(preset.label ?? path.parse(filename).name, MAX_LABEL_LENGTH),
    priority: preset.priority ?? false,
  };
}

function draftOf({ file, check }: CheckedDataset, { balance, marker }: Review, confirmed: Confirmed): Draft {
  const { model, label, priority, consents, sha256 } = confirmed;
  return {
    dataset: {
      path: file.path,
      filename: path.basename(file.path),
      sizeBytes: file.sizeBytes,
      mtimeMs: file.mtimeMs,
      sha256,
      ...countsOf(check),
    },
    model_id: model.model_id,
    ...(label === '' ? {} : { label }),
    ...(marker === undefined ? {} : { marker }),
    priority_processing: priority,
    consents,
    ...(balance === undefined ? {} : { balanceBefore: balance }),
  };
}

/** What was counted in a dataset that was checked. */
function countsOf(check: CheckedDataset['check']): { rows?: number; characters?: number } {
  if (check === 'unchecked' || check.kind !== 'rows') return {};
  const { rows, characters } = check;
  return { rows, characters };
}
