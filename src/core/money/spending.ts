import type { RunSummary } from '../api/types.ts';
import { instantOf } from '../base/clock.ts';
import { userLabel } from '../runs/marker.ts';
import { type KnownDetail, phaseOf, type Phase, timeOf } from '../runs/run.ts';
import type { RunStore } from '../runs/runStore.ts';
import type { PendingSubmission } from '../submission/pendingSubmission.ts';
import { chargedAt } from '../submission/receipts.ts';
import {
  runsOf,
  type ChargedReceipt,
  type ReceiptRun,
  isMarkedRunOf,
  mayBeRunOf,
} from '../submission/submission.ts';
import { currencyOf } from './estimate.ts';

/** A charged run of an account, submitted from this machine or elsewhere. */
export interface ChargedRun {
  runId: string;
  /** From the service, else from the receipt; undefined if neither has it. */
  createdAtMs: number | undefined;
  modelId: string;
  /** The status in the service's last response; undefined if the run isn't loaded. A receipt has only an old one. */
  status: string | undefined;
  phase: Phase | undefined;
  /** As entered by the user. */
  label: string | undefined;
  plan: string | undefined;
  priceCents: number | undefined;
  currency: string | undefined;
  /** Whether the currency is that of an earlier balance. The service gives none for runs submitted elsewhere. */
  isCurrencyAssumed: boolean;
  /** Whether reading the run's details may provide the price. */
  isUnread: boolean;
  /** Undefined for anything but the first run of a receipt: dataset and queue are unknown. */
  receipt: ChargedReceipt | undefined;
  /** The ID of this machine's open submission that the run belongs to, by its marker, or may belong to. */
  openId: string | undefined;
  isMarked: boolean;
  /** Whether it was submitted elsewhere: it belongs neither to a receipt nor to an open submission. */
  isElsewhere: boolean;
  /** How many more receipts have this run's ID: the service must have given the same one twice. */
  moreCharges?: number;
}

/** The known runs of an account. */
export type KnownRuns = Pick<RunStore, 'rows' | 'detail' | 'label' | 'isCompleteSince'>;

/**
 * Returns every run known to have been charged to an account, newest first.
 * @param receipts of this account
 * @param runs undefined if they must not be shown; then only the receipts are used
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

/** The range of four-digit years. A run can't have another year, and some years have no month. */
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
