import type { RunDetail, RunSummary } from '../api/types.ts';
import { instantOf } from '../base/instant.ts';
import type { Receipt, Settlement } from './intent.ts';
import { phaseOf } from '../runs/phase.ts';

/** The parts of a run that take time. */
export type Span = 'queue' | 'training';

/** When things happened, in milliseconds since the epoch; undefined where the service told no time, or none that is one. */
export interface RunTimes {
  createdAtMs: number | undefined;
  startedAtMs: number | undefined;
  completedAtMs: number | undefined;
}

export function timesOf(run: Pick<RunDetail, 'created_at' | 'started_at' | 'completed_at'>): RunTimes {
  return {
    createdAtMs: timeOf(run.created_at),
    startedAtMs: timeOf(run.started_at),
    completedAtMs: timeOf(run.completed_at),
  };
}

/** Milliseconds since the epoch, or undefined where the text is no time. */
export function timeOf(text: string | undefined): number | undefined {
  const ms = instantOf(text);
  return Number.isNaN(ms) ? undefined : ms;
}

/** How long a part took; undefined where an end of it is not told, or stands before its beginning. */
export function spanMs(times: RunTimes, span: Span): number | undefined {
  const beginMs = span === 'queue' ? times.createdAtMs : times.startedAtMs;
  const endMs = span === 'queue' ? times.startedAtMs : times.completedAtMs;
  if (beginMs === undefined || endMs === undefined || endMs < beginMs) return undefined;
  return endMs - beginMs;
}

/** How long a part of other runs took. */
export interface Comparison {
  /** Shortest first, in milliseconds. */
  othersMs: readonly number[];
  medianMs: number;
  /** How many of the others took longer, and how many less; those alike are neither. */
  longer: number;
  shorter: number;
  /** Whether the others are those of the same model alone. */
  isSameModel: boolean;
}

/** So many runs with the same model are enough to leave the others out. */
const ENOUGH_OF_SAME_MODEL = 3;

/**
 * Compares a part of one run with that of other runs: of those with the same model where there are enough, else of all.
 * @param ownMs how long it took, or has taken so far; undefined where it is not told
 * @returns undefined where no other run tells how long it took
 */
export function compare(
  span: Span,
  run: Pick<RunDetail, 'run_id' | 'model_id'>,
  ownMs: number | undefined,
  details: readonly RunDetail[],
): Comparison | undefined {
  const others = details.filter(({ run_id }) => run_id !== run.run_id);
  const lengths = (of: readonly RunDetail[]) =>
    of.flatMap((other) => spanMs(timesOf(other), span) ?? []).sort((one, other) => one - other);
  const ofSameModel = lengths(others.filter(({ model_id }) => model_id === run.model_id));
  const isSameModel = ofSameModel.length >= ENOUGH_OF_SAME_MODEL;
  const othersMs = isSameModel ? ofSameModel : lengths(others);
  if (othersMs.length === 0) return undefined;
  return {
    othersMs,
    medianMs: medianOf(othersMs),
    longer: ownMs === undefined ? 0 : othersMs.filter((ms) => ms > ownMs).length,
    shorter: ownMs === undefined ? 0 : othersMs.filter((ms) => ms < ownMs).length,
    isSameModel,
  };
}

function medianOf(sorted: readonly number[]): number {
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
}

/** One bar of the picture of a comparison. */
export interface Bar {
  /** From 0 to 1, of the longest. */
  share: number;
  isThis: boolean;
}

/** More would be too thin to be seen. */
const MAX_BARS = 30;

/** The runs of a comparison as bars, shortest first; where they are many, an even choice of them, always with this one. */
export function barsOf(ownMs: number | undefined, { othersMs }: Comparison): Bar[] {
  const room = ownMs === undefined ? MAX_BARS : MAX_BARS - 1;
  const step = (othersMs.length - 1) / (room - 1);
  const shown =
    othersMs.length <= room
      ? [...othersMs]
      : Array.from({ length: room }, (_, index) => othersMs[Math.round(index * step)] ?? 0);
  const longest = Math.max(...shown, ownMs ?? 0, 1);
  const bars = shown.map((ms) => ({ share: ms / longest, isThis: false }));
  if (ownMs === undefined) return bars;
  const place = shown.filter((ms) => ms < ownMs).length;
  return bars.toSpliced(place, 0, { share: ownMs / longest, isThis: true });
}

/** The receipt of a run that was submitted from this machine. */
export type ChargedReceipt = Receipt & { settled: Extract<Settlement, { kind: 'charged' }> };

export function receiptOf(
  receipts: readonly Receipt[],
  accountId: string,
  runId: string,
): ChargedReceipt | undefined {
  return receipts.find(
    (receipt): receipt is ChargedReceipt =>
      receipt.accountId === accountId &&
      receipt.settled.kind === 'charged' &&
      receipt.settled.run.run_id === runId,
  );
}

/** What the balance was before and after a run's charge, in cents; `otherCents` is what else went or came in between. */
export interface BalanceEffect {
  beforeCents: number;
  afterCents: number;
  currency: string;
  /** Undefined where the price is not told. */
  otherCents: number | undefined;
}

/** @param priceCents as the details or the receipt tell it */
export function balanceEffectOf(
  { balanceBefore, settled: { run } }: ChargedReceipt,
  priceCents: number | undefined,
): BalanceEffect | undefined {
  const afterCents = run.balance_after_cents;
  if (balanceBefore === undefined || afterCents === undefined) return undefined;
  const { balance_cents: beforeCents, currency } = balanceBefore;
  // Amounts in two currencies are not subtracted.
  if (run.currency !== undefined && run.currency !== currency) return undefined;
  const otherCents = priceCents === undefined ? undefined : afterCents - (beforeCents - priceCents);
  return { beforeCents, afterCents, currency, otherCents };
}

/**
 * What is known of a run's artifacts. `not-told`: it has finished and the list does not say that they are available, nor that
 * they have expired; a run that no list has shown yet is so, too. `not-known`: its status is none that the contract names,
 * so that it may have ended without any.
 */
export interface ArtifactsState {
  kind: 'not-yet' | 'not-known' | 'available' | 'expired' | 'not-told';
  expiresAtMs: number | undefined;
}

export function artifactsOf(run: RunSummary, detail: RunDetail | undefined, nowMs: number): ArtifactsState {
  const expiresAtMs = timeOf(run.artifacts_expires_at);
  const isOver = expiresAtMs !== undefined && expiresAtMs <= nowMs;
  if (isOver) return { kind: 'expired', expiresAtMs };
  if (run.artifacts_available) return { kind: 'available', expiresAtMs };
  const kinds = { waiting: 'not-yet', active: 'not-known', finished: 'not-told' } as const;
  return { kind: kinds[phaseOf(run, detail)], expiresAtMs };
}

/**
 * What became of a dataset since it was submitted, as far as its size and its time of change tell: `written`: it has the same
 * size, but was written to since.
 */
export type DatasetState = 'same' | 'written' | 'changed' | 'gone';

/** @param file as it is now; undefined where there is none */
export function datasetStateOf(
  { dataset, created }: Pick<Receipt, 'dataset' | 'created'>,
  file: { sizeBytes: number; changedAtMs: number } | undefined,
): DatasetState {
  if (file === undefined) return 'gone';
  if (file.sizeBytes !== dataset.sizeBytes) return 'changed';
  return file.changedAtMs > created.localMs ? 'written' : 'same';
}
