import type { Balance, RunDetail, RunSummary } from '../api/types.ts';
import { instantOf } from '../base/clock.ts';
import { type KnownDetail, phaseOf, type Phase, spanMs, timeOf, timesOf } from '../runs/run.ts';
import { userLabel } from '../runs/marker.ts';
import type { RunStore } from '../runs/runStore.ts';
import {
  runsOf,
  type ChargedReceipt,
  type ReceiptRun,
  isMarkedRunOf,
  mayBeRunOf,
} from '../submission/submission.ts';
import type { PendingSubmission } from '../submission/pendingSubmission.ts';
import { balanceReadAt, chargedAt } from '../submission/receipts.ts';
import { currencyOf } from './estimate.ts';

/** A charged run of an account, submitted from this machine or elsewhere. */
export interface ChargedRun {
  runId: string;
  /** From the service, else from the receipt; undefined if neither has it. */
  createdAtMs: number | undefined;
  modelId: string;
  /** As the service last said; undefined if the run isn't loaded: a receipt has only an old status. */
  status: string | undefined;
  phase: Phase | undefined;
  /** As entered by the user. */
  label: string | undefined;
  plan: string | undefined;
  priceCents: number | undefined;
  currency: string | undefined;
  /** Whether the currency is an earlier balance's. The service gives none for runs submitted elsewhere. */
  isCurrencyAssumed: boolean;
  /** Whether reading the run's details may provide the price. */
  isUnread: boolean;
  /** Undefined for anything but the first run of a receipt: dataset and queue are unknown. */
  receipt: ChargedReceipt | undefined;
  /** ID of this machine's open submission that the run has the marker of, or may belong to. */
  openId: string | undefined;
  isMarked: boolean;
  /** Whether it was submitted elsewhere: neither a receipt nor an open submission has it. */
  isElsewhere: boolean;
  /** How many more charges have this run's ID: the service must have mixed them up. */
  moreCharges?: number;
}

/** The known runs of an account. */
export type KnownRuns = Pick<RunStore, 'rows' | 'detail' | 'label' | 'isCompleteSince'>;

/**
 * Returns every run known to have been charged to an account, newest first.
 * @param receipts of this account
 * @param runs undefined if none of them may be shown; only the receipts are used then
 * @param open the open submissions of this account
 */
export function chargedRunsOf(
  receipts: readonly ChargedReceipt[],
  runs: KnownRuns | undefined,
  open: readonly PendingSubmission[] = [],
): ChargedRun[] {
  const charges = receipts.flatMap((receipt) =>
    runsOf(receipt.charge).map((run) => [run.run_id, { receipt, run }] as const),
  );
  const ofRun = new Map(charges);
  const counts = new Map<string, number>();
  for (const [runId] of charges) counts.set(runId, (counts.get(runId) ?? 0) + 1);
  const listed = new Map((runs?.rows ?? []).map((row) => [row.run_id, row]));
  const runIds = new Set([...listed.keys(), ...ofRun.keys()]);
  return [...runIds]
    .map((runId) => {
      const detail = runs?.detail(runId);
      const known = ofRun.get(runId);
      const openOf = (isRunOf: typeof mayBeRunOf) =>
        known === undefined
          ? open.find(({ submission }) => runs && isRunOf(submission, runId, runs))?.id
          : undefined;
      const markedId = openOf(isMarkedRunOf);
      const openId = markedId ?? openOf(mayBeRunOf);
      return {
        ...chargedRun(runId, listed.get(runId), detail, runs?.label(runId), known),
        openId,
        isMarked: markedId !== undefined,
        isElsewhere: known === undefined && openId === undefined,
        ...(known && charges.length > ofRun.size && { moreCharges: (counts.get(runId) ?? 1) - 1 }),
      };
    })
    .sort((one, other) => (other.createdAtMs ?? Infinity) - (one.createdAtMs ?? Infinity) || 0);
}

function chargedRun(
  runId: string,
  row: RunSummary | undefined,
  detail: KnownDetail | undefined,
  knownLabel: string | undefined,
  known: { receipt: ChargedReceipt; run: ReceiptRun } | undefined,
): Omit<ChargedRun, 'isElsewhere' | 'isMarked' | 'openId'> {
  const { receipt, run: charged } = known ?? {};
  const priceCents = charged?.price_cents ?? detail?.price_cents;
  const currency = charged?.currency ?? (receipt && currencyOf(receipt)) ?? detail?.assumedCurrency;
  const label = receipt?.label ?? knownLabel;
  const sent = receipt && chargedAt(receipt);
  const listed = row ?? (detail && { ...detail, artifacts_available: false });
  return {
    runId,
    createdAtMs: [timeOf(row?.created_at), timeOf(detail?.created_at), sent?.serviceMs, sent?.localMs].find(
      hasPlainYear,
    ),
    modelId: receipt?.model_id ?? row?.model_id ?? detail?.model_id ?? '',
    status: listed?.status,
    phase: listed && phaseOf(listed, detail),
    label: userLabel(label),
    plan: (charged?.plan_name ?? detail?.plan) || undefined,
    priceCents,
    currency,
    isCurrencyAssumed: charged?.currency === undefined && priceCents !== undefined && currency !== undefined,
    isUnread: priceCents === undefined && detail === undefined && row !== undefined,
    // The details of a submission belong to its first run.
    receipt: receipt?.charge.run === charged ? receipt : undefined,
  };
}

/** The range of four-digit years: others are not valid for a run, and some have no month. */
const FIRST_MS = instantOf('0000-01-01T00:00:00Z');
const LAST_MS = instantOf('9999-12-31T23:59:59.999Z');

function hasPlainYear(timeMs: number | undefined): boolean {
  return timeMs !== undefined && FIRST_MS <= timeMs && timeMs <= LAST_MS;
}

/** The cost of several runs, by currency, since currencies are never added up. */
export interface Amounts {
  sums: readonly { currency: string | undefined; cents: number }[];
  /** The number of unknown prices. The sums are lower bounds then. */
  unknown: number;
  runs: number;
}

export function amountsOf(runs: readonly ChargedRun[]): Amounts {
  const sums = new Map<string | undefined, number>();
  let unknown = 0;
  for (const { priceCents, currency, moreCharges = 0 } of runs) {
    unknown += moreCharges;
    if (priceCents === undefined) unknown++;
    else sums.set(currency, (sums.get(currency) ?? 0) + priceCents);
  }
  return {
    sums: [...sums].map(([currency, cents]) => ({ currency, cents })),
    unknown,
    runs: runs.length,
  };
}

export const GROUPS = ['month', 'model', 'label', 'plan'] as const;
export type GroupBy = (typeof GROUPS)[number];

export interface SpendingGroup {
  /** A month as `2026-05`; undefined if unknown. */
  key: string | undefined;
  runs: readonly ChargedRun[];
  amounts: Amounts;
  /** The sum in the currency of the newest price, for comparing groups. */
  mainCents: number;
}

/** Groups runs by a property: months newest first, others by cost. */
export function groupsOf(runs: readonly ChargedRun[], by: GroupBy): SpendingGroup[] {
  const groups = new Map<string | undefined, ChargedRun[]>();
  for (const run of runs) {
    const key = groupOf(run, by);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [run]);
    else group.push(run);
  }
  const currency = runs.find(({ priceCents }) => priceCents !== undefined)?.currency;
  const made = [...groups].map(([key, members]) => {
    const amounts = amountsOf(members);
    const mainCents = amounts.sums.find((sum) => sum.currency === currency)?.cents ?? 0;
    return { key, runs: members, amounts, mainCents };
  });
  return by === 'month' ? made : made.sort((one, other) => other.mainCents - one.mainCents);
}

function groupOf(run: ChargedRun, by: GroupBy): string | undefined {
  switch (by) {
    case 'month':
      return run.createdAtMs === undefined ? undefined : monthOf(run.createdAtMs);
    case 'model':
      return run.modelId;
    case 'label':
      return run.label;
    case 'plan':
      return run.plan;
  }
}

/** Returns the calendar month in UTC, as `2026-05`. */
export function monthOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 7);
}

/** Returns the start of a month, in milliseconds since the epoch. */
export function startOfMonth(month: string): number {
  return instantOf(`${month}-01`);
}

/** The balance at one point in time. */
export interface BalancePoint {
  atMs: number;
  cents: number;
}

/**
 * Returns the known balances over time in one currency, oldest first: around each charge, and the latest.
 * @param readAtMs when the balance was read, by the local clock like the receipts; undefined if it wasn't
 */
export function balancePoints(
  receipts: readonly ChargedReceipt[],
  balance: Balance | undefined,
  readAtMs: number | undefined,
): { currency: string; points: BalancePoint[] } | undefined {
  const atMs = (receipt: ChargedReceipt) => chargedAt(receipt).localMs;
  const newest = receipts.toSorted((one, other) => atMs(other) - atMs(one))[0];
  const currency = balance?.currency ?? (newest && currencyOf(newest));
  if (currency === undefined) return undefined;
  const points = receipts.flatMap((receipt): BalancePoint[] => {
    const { balanceBefore, charge } = receipt;
    const afterCents = charge.run.balance_after_cents;
    const isBefore = balanceBefore?.currency === currency;
    const isAfter = afterCents !== undefined && currencyOf(receipt) === currency;
    return [
      ...(isBefore ? [{ atMs: balanceReadAt(receipt).localMs, cents: balanceBefore.balance_cents }] : []),
      ...(isAfter ? [{ atMs: atMs(receipt), cents: afterCents }] : []),
    ];
  });
  if (balance !== undefined && readAtMs !== undefined)
    points.push({ atMs: readAtMs, cents: balance.balance_cents });
  return { currency, points: points.sort((one, other) => one.atMs - other.atMs) };
}

/** The median queue time of runs. */
export interface QueueTime {
  medianMs: number;
  runs: number;
}

/** The minimum number of runs for a meaningful median. */
const ENOUGH_RUNS = 3;

/** Returns the queue times with enough known runs. Only receipts include the queue. */
export function queueTimes(
  receipts: readonly ChargedReceipt[],
  detail: (runId: string) => RunDetail | undefined,
): { standard: QueueTime | undefined; priority: QueueTime | undefined } {
  const timeOfQueue = (isPriority: boolean): QueueTime | undefined => {
    const spans = receipts
      .filter(({ priority_processing }) => priority_processing === isPriority)
      .flatMap(({ charge }) => {
        const known = detail(charge.run.run_id);
        return (known && spanMs(timesOf(known), 'queue')) ?? [];
      })
      .sort((one, other) => one - other);
    if (spans.length < ENOUGH_RUNS) return undefined;
    const middle = (spans.length - 1) / 2;
    const medianMs = ((spans[Math.floor(middle)] ?? 0) + (spans[Math.ceil(middle)] ?? 0)) / 2;
    return { medianMs, runs: spans.length };
  };
  return { standard: timeOfQueue(false), priority: timeOfQueue(true) };
}
