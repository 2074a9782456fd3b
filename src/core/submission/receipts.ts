import type { Balance } from '../api/types.ts';
import { instantOf } from '../base/clock.ts';
import type { RunStore } from '../runs/runStore.ts';
import { isFromThen } from './reconcilePolicy.ts';
import {
  chargedReceiptsOf,
  isClosed,
  isOver,
  isRefused,
  overAt,
  runsOf,
  type ChargedReceipt,
  type Submission,
  type Moment,
  type Receipt,
} from './submission.ts';

/** Returns the receipts, newest first. Without refused ones, which can still be continued. */
export function receiptsAmong(records: readonly Submission[]): Receipt[] {
  return records
    .filter(isOver)
    .filter((one) => !isRefused(one))
    .sort((one, other) => overAt(other).localMs - overAt(one).localMs);
}

/** Returns the receipt of a run that was submitted from this machine. */
export function receiptOf(
  receipts: readonly Receipt[],
  accountId: string,
  runId: string,
): ChargedReceipt | undefined {
  return chargedReceiptsOf(receipts, accountId).find(({ charge }) => charge.run.run_id === runId);
}

/** Returns when the balance before a charge was read: when the first attempt that sent its last bytes began. */
export function balanceReadAt({ attempts, created }: Pick<Receipt, 'attempts' | 'created'>): Moment {
  return attempts.find(({ closed }) => closed !== undefined)?.started ?? created;
}

/** Returns the likely time of the charge: when the first attempt without an error response sent its last bytes. */
export function chargedAt({ attempts, created }: Pick<Receipt, 'attempts' | 'created'>): Moment {
  const charged =
    attempts.find(({ closed, httpStatus }) => closed !== undefined && httpStatus === undefined) ??
    attempts.at(-1);
  return charged?.closed ?? charged?.started ?? created;
}

/** The tolerance between times of the service, which have whole seconds. */
const SERVICE_ROUNDING_MS = 5_000;

/** Whether a time is later by the monotonic clock, which restarts with the machine, and by the service's. */
function isSurelyLater(time: Moment | undefined, than: Moment): boolean {
  const afterMs = (time?.monotonicMs ?? NaN) - (than.monotonicMs ?? NaN);
  const serviceMs = (time?.serviceMs ?? NaN) - (than.serviceMs ?? NaN);
  return afterMs >= 0 && serviceMs >= -SERVICE_ROUNDING_MS;
}

/**
 * Whether other charges explain a lower balance to the cent. Example: 10.00 before; receipts of 2.00 (leaving 8.00) and
 * 3.00 (leaving 5.00); 5.00 now. A receipt counts if it has the submission's account and API key, and sent its last
 * bytes after the balance before was read.
 */
export function explainsBalance(
  submission: Submission,
  receipts: readonly ChargedReceipt[],
  now: Balance,
): boolean {
  const { id, accountId, keyId, origin, balanceBefore } = submission;
  if (balanceBefore === undefined) return false;
  const readAt = balanceReadAt(submission);
  const runs = receipts
    .filter((one) => one.id !== id && one.accountId === accountId && one.keyId === keyId)
    .filter((one) => one.origin === origin && isSurelyLater(one.attempts.find(isClosed)?.closed, readAt))
    .flatMap(({ charge }) => runsOf(charge))
    .map((run) => ({ ...run, price: run.price_cents ?? NaN, after: run.balance_after_cents ?? NaN }))
    .sort((one, other) => other.after - one.after || other.price - one.price);
  const { currency } = balanceBefore;
  let leftCents = balanceBefore.balance_cents;
  for (const run of runs) {
    if (run.currency !== currency || leftCents - run.price !== run.after) return false;
    leftCents = run.after;
  }
  return runs.length > 0 && leftCents === now.balance_cents && now.currency === currency;
}

/** The balance before and after a run's charge, in cents. `otherCents`: all other changes in between. */
interface BalanceEffect {
  beforeCents: number;
  afterCents: number;
  currency: string;
  /** Undefined if the price is unknown. */
  otherCents: number | undefined;
}

/** Undefined if a balance is unknown. @param priceCents from the run's details or the receipt */
export function balanceEffectOf(
  { balanceBefore, charge: { run } }: ChargedReceipt,
  priceCents: number | undefined,
): BalanceEffect | undefined {
  const afterCents = run.balance_after_cents;
  if (balanceBefore === undefined || afterCents === undefined) return undefined;
  const { balance_cents: beforeCents, currency } = balanceBefore;
  // Amounts in different currencies cannot be subtracted.
  if (run.currency !== undefined && run.currency !== currency) return undefined;
  const otherCents = priceCents === undefined ? undefined : afterCents - (beforeCents - priceCents);
  return { beforeCents, afterCents, currency, otherCents };
}

/**
 * How a dataset changed since it was submitted, judged by size and change time. `written`: same size, but
 * written to.
 */
export type DatasetState = 'same' | 'written' | 'changed' | 'gone';

/** @param file the current file; undefined if it doesn't exist */
export function datasetStateOf(
  { dataset, created }: Pick<Receipt, 'dataset' | 'created'>,
  file: { sizeBytes: number; changedAtMs: number } | undefined,
): DatasetState {
  if (file === undefined) return 'gone';
  if (file.sizeBytes !== dataset.sizeBytes) return 'changed';
  return file.changedAtMs > created.localMs ? 'written' : 'same';
}

/** Whether two submissions have the same dataset, by bytes or name: the user may have chosen its new place. */
export function hasSameDataset(
  { dataset }: Pick<Submission, 'dataset'>,
  { dataset: { filename, sha256 } }: Pick<Submission, 'dataset'>,
): boolean {
  return dataset.sha256 === sha256 || dataset.filename === filename;
}

/**
 * Returns the submission that continued a refused one: the newest one of its account and dataset. Undefined
 * if the refused one was only discarded.
 */
export function continuationOf(receipt: Receipt, records: readonly Submission[]): Submission | undefined {
  const { accountId, created, dataset, end, id } = receipt;
  if (end?.code === undefined) return undefined;
  const untilMs = isRefused(receipt) ? Infinity : end.at.localMs;
  const isSame = ({ dataset: { path, sha256 } }: Submission) =>
    path === dataset.path || sha256 === dataset.sha256;
  const isBetween = ({ created: { localMs } }: Submission) =>
    localMs >= created.localMs && localMs <= untilMs;
  return records
    .filter((one) => one.id !== id && one.accountId === accountId && isSame(one))
    .filter(isBetween)
    .toSorted((one, other) => other.created.localMs - one.created.localMs)[0];
}

/** Above this number, unread details aren't read: the answer isn't worth the time. */
const MAX_DETAILS = 20;

/**
 * After a charge whose response was lost, reads the runs since then and their labels: a further run may have its
 * marker.
 * @throws ApiError, KeyMissingError
 */
export async function readRunsSince(
  receipt: ChargedReceipt,
  runs: Pick<RunStore, 'detail' | 'label' | 'loadDetail' | 'readAtMs' | 'refresh' | 'rows'>,
): Promise<void> {
  await runs.refresh();
  // The first refresh may have joined a read that began before the charge.
  if (runs.readAtMs < receipt.charge.at.localMs) await runs.refresh();
  const unread = (runs.rows ?? [])
    .filter((row) => Number.isNaN(instantOf(row.created_at)) || isFromThen(receipt, row))
    .filter(({ run_id: id }) => (runs.label(id) ?? runs.detail(id)) === undefined);
  if (unread.length <= MAX_DETAILS) await Promise.all(unread.map(({ run_id }) => runs.loadDetail(run_id)));
}
