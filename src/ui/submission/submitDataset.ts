import path from 'node:path';
import * as vscode from 'vscode';
import { serviceOf, type Account } from '../../core/accounts/account.ts';
import { sha256OfFile } from '../../core/api/dataset.ts';
import { MAX_DATASET_BYTES, MAX_LABEL_LENGTH } from '../../core/api/types.ts';
import { onDisk } from '../../core/base/diskError.ts';
import { isStill } from '../../core/base/fileStamp.ts';
import { cutAtWholeCharacters } from '../../core/base/plainText.ts';
import { inspectDataset } from '../../core/datasets/fileKind.ts';
import { queueTimes } from '../../core/money/spending.ts';
import { newMarker, withoutMarker } from '../../core/runs/marker.ts';
import type { RunStore } from '../../core/runs/runStore.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Draft, Receipt } from '../../core/submission/intent.ts';
import type { KnownSubmissions } from '../../core/submission/journal.ts';
import type { PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import { receiptOf, priorsOf, trainedBefore, type Prior } from '../../core/submission/receipts.ts';
import type { Services } from '../../services.ts';
import { askWhereToWork } from './signInFirst.ts';
import { modelOf, chooseRun, runChoices } from '../shared/arguments.ts';
import { COMMANDS, VIEWS } from '../shared/ids.ts';
import { showWarning, withViewProgress } from '../shared/notifications.ts';
import { runNames } from '../shared/datasetTexts.ts';
import { type CheckedDataset, prepareDataset } from './prepareDataset.ts';
import { openDataset } from '../shared/chooseDataset.ts';
import { setting } from '../shared/settings.ts';
import { placeOf, type DatasetPlace } from './datasetPlace.ts';
import {
  stepMessages,
  type Restart,
  type SubmissionChoices,
  type SubmissionContext,
} from './stepMessages.ts';
import { moneyOf, readBalance, readFacts, receiptsOf, type Facts } from './submissionFacts.ts';
import { OpenSubmissions } from './openSubmissions.ts';
import { presetFrom, presetOf, type Preset } from './preset.ts';
import { reportResult, withSubmissionProgress } from './submissionResult.ts';
import { reviewSubmission, type Confirmed, type Review } from './submissionSteps.ts';

type Parts = Pick<
  Services,
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
): Promise<void> {
  const { log, openJournal, reports, sessions, submitter } = services;
  let preset = presetFrom(given);
  let chosen: { file: unknown; selection?: unknown } = { file: argument, selection };
  let restarted: Restart | undefined;
  for (;;) {
    const session = sessions.active ?? (await startSomewhere(sessions));
    if (session === undefined) return;
    await onDisk(openJournal(), 'submissions');
    const { id, name } = session.account;
    if (preset.accountId !== undefined && preset.accountId !== id) restarted ??= 'account-changed';
    // A changed dataset has other bytes than those that were refused.
    const refused = restarted === 'dataset-changed' ? undefined : refusedOf(submitter, id, preset.replaces);
    const checked = await prepareDataset(chosen.file, chosen.selection, name, {
      reports: await reports(),
      log,
      known: refused?.intent.dataset,
    });
    const facts = checked && (await readFacts(session, services));
    if (checked === undefined || facts === undefined) return;
    const stop = new AbortController();
    const filename = path.basename(checked.file.path);
    const notice = restarted && stepMessages.restarted(restarted, filename, name);
    const earlier = receiptOf(facts.receipts, id, preset.again ?? '');
    const place = await placeOf(checked.file.path);
    const review = reviewOf({ ...checked, place }, session, facts, services, { notice, earlier }, stop);
    const context = review.context();
    const initial = initialChoices(context, argument, preset, facts.receipts, submitter.pending);
    const result = await reviewSubmission(review, initial).finally(() => stop.abort());
    if (result === undefined) return;
    if (result.kind === 'confirmed') {
      await send(
        services,
        session,
        draftOf(checked, review.context(), result),
        review.known(),
        preset.replaces,
      );
      return;
    }
    restarted = result.reason;
    const { model, label, priority } = result.choices;
    // A label that the user didn't change follows the file name.
    const isDefault = label === path.parse(filename).name;
    preset = { ...preset, modelId: model?.model_id, label: isDefault ? undefined : label, priority };
    const other = restarted === 'other-dataset' ? await openDataset() : undefined;
    if (other !== undefined) preset = { ...preset, again: undefined, replaces: undefined };
    chosen = { file: other ?? vscode.Uri.file(checked.file.path) };
  }
}

/** Uploads the draft, discards the refused submission that it replaces, and reports the result. */
async function send(
  services: Parts,
  session: Session,
  draft: Draft,
  known: KnownSubmissions,
  replaces: string | undefined,
): Promise<void> {
  const { submitter } = services;
  const { id, result } = await withSubmissionProgress(session, draft, (signal) =>
    submitter.submit(session, draft, signal, known),
  );
  const isBegun = result.kind !== 'open' && !(result.kind === 'not-charged' && !result.kept);
  const replaced = isBegun ? refusedOf(submitter, session.account.id, replaces) : undefined;
  if (replaced !== undefined && isDatasetOf(replaced.intent, draft))
    await submitter.discard(replaced.id, 'not-charged').catch(() => false);
  await reportResult(result, id, draft, session, services);
}

/** Whether two drafts have the same dataset, by bytes or name. If it was gone, the user may have chosen any other. */
function isDatasetOf({ dataset }: Draft, { dataset: { filename, sha256 } }: Draft): boolean {
  return dataset.sha256 === sha256 || dataset.filename === filename;
}

/**
 * Starts a new submission with the model and label of an earlier run, and with its queue and dataset if the receipt is on this
 * machine. The user consents again.
 * @throws ApiError, KeyMissingError for a run that is not loaded and cannot be read
 */
export async function submitAgain(
  services: Pick<Services, 'journal' | 'log' | 'openJournal' | 'sessions'>,
  argument: unknown,
): Promise<void> {
  const { openJournal, sessions } = services;
  const session = sessions.active;
  if (session === undefined) return;
  const runId = await chooseRun(argument, runChoices(session));
  if (runId === undefined) return;
  const { account } = session;
  await onDisk(openJournal(), 'submissions');
  const receipt = receiptOf(await receiptsOf(services), account.id, runId);
  const preset: Preset =
    receipt === undefined
      ? await withViewProgress(VIEWS.runs, () => presetOfRun(session.runs, runId))
      : { ...presetOf(receipt), again: runId };
  await continueWithDataset(receipt?.dataset, { ...preset, accountId: account.id }, account);
}

/** Starts a submission of an earlier dataset; if the file is gone or unknown, the user chooses one. */
export async function continueWithDataset(
  dataset: { path: string; filename: string } | undefined,
  preset: Preset,
  account: Account,
): Promise<void> {
  const found = dataset && (await inspectDataset(dataset.path, MAX_DATASET_BYTES));
  let file = dataset && vscode.Uri.file(dataset.path);
  if (dataset === undefined || found === 'missing' || found === 'folder' || found === 'not-a-file') {
    if (dataset !== undefined) void showWarning(stepMessages.datasetGone(dataset.filename, account));
    file = await openDataset();
  }
  if (file !== undefined)
    await vscode.commands.executeCommand(COMMANDS.submitDataset, file, undefined, preset);
}

/** Reads the details if necessary, since the list has no labels. */
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

/** Only accepts a refused submission of the same account, since any extension can pass any ID. */
function refusedOf(
  { pending }: Services['submitter'],
  accountId: string,
  replaces: string | undefined,
): PendingSubmission | undefined {
  return pending.find((one) => one.id === replaces && one.state === 'refused' && one.accountId === accountId);
}

async function startSomewhere(sessions: Services['sessions']): Promise<Session | undefined> {
  const where = await askWhereToWork();
  if (where === undefined) return undefined;
  await vscode.commands.executeCommand(where === 'signIn' ? COMMANDS.signIn : COMMANDS.useSandbox);
  return sessions.active;
}

/**
 * Creates the review of a dataset for an account. The dataset is hashed while the user reads.
 * @param stop ends the hashing
 */
function reviewOf(
  { file, place, check, counts, sha256: checkedSha256 }: CheckedDataset & { place: DatasetPlace },
  session: Session,
  { models, late, receipts: before }: Facts,
  services: Parts,
  shown: Pick<SubmissionContext, 'notice' | 'earlier'>,
  stop: AbortController,
): Review & { known: () => KnownSubmissions } {
  const { sessions, submitter } = services;
  let receipts = before;
  const filename = path.basename(file.path);
  const marker = setting('labelMarker') ? newMarker() : undefined;
  const sha256 = sha256OfFile(file, stop.signal);
  sha256.catch(() => undefined);
  let isReconnected = false;
  const connecting = session.onDidChangeState((state) => (isReconnected ||= state === 'connecting'));
  stop.signal.addEventListener('abort', () => connecting.dispose());
  const namesOf = (prior: Prior) => runNames(prior, session, sessions);
  const openOnes = new OpenSubmissions(session, services);
  return {
    context() {
      const { account, notBeforeMs: untilMs } = session;
      const money = moneyOf(session, receipts, submitter.pending);
      return {
        account,
        dataset: {
          filename,
          place,
          size: { bytes: file.sizeBytes, ...counts },
        },
        check,
        models,
        balance: session.balance.current,
        held: untilMs === undefined ? undefined : { untilMs, balanceReadAtMs: session.balance.readAtMs },
        money,
        queueTimes: queueTimes(money.receipts, (runId) => session.runs.detail(runId)),
        marker,
        ...shown,
        openOnesOf: (digest) => openOnes.of(digest),
        priorsOf: (digest) =>
          priorsOf(receipts, serviceOf(account), digest).map((prior) => ({ ...prior, ...namesOf(prior) })),
        trainedBefore(digest) {
          const trained = trainedBefore(receipts, serviceOf(account), file, digest);
          return trained && { ...trained, ...namesOf(trained.run) };
        },
      };
    },
    sha256,
    late,
    async ready() {
      // A pending submission may have been charged by now; then only its receipt has the price.
      const read = receiptsOf(services).then((now) => (receipts = now.length > 0 ? now : receipts));
      await Promise.allSettled([sha256, readBalance(session), read]);
    },
    async restart(digest) {
      if (sessions.active !== session) return 'account-changed';
      if (isReconnected) return 'reconnected';
      const isChecked = checkedSha256 === undefined || checkedSha256 === digest;
      if (!isChecked || !(await isStill(file.path, file))) return 'dataset-changed';
      const place = serviceOf(session.account);
      const countOf = (known: readonly Receipt[]) => priorsOf(known, place, digest).length;
      return countOf(await receiptsOf(services)) > countOf(before) ? 'submitted-meanwhile' : undefined;
    },
    confirmDuplicates: (digest, model) => openOnes.confirm(digest, filename, model),
    known: () => ({
      ...openOnes.agreed,
      receipts: receipts.map(({ id }) => id),
    }),
  };
}

/** The default model is the one last used with this account. The queue, which may cost extra, is not remembered. */
function initialChoices(
  { account, dataset: { filename }, models }: SubmissionContext,
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

function draftOf(
  { file, counts }: CheckedDataset,
  { balance, marker }: SubmissionContext,
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
    consents,
    ...(balance === undefined ? {} : { balanceBefore: balance }),
  };
}
