import type { RunDetail, RunSummary } from '../api/types.ts';
import { instantOf } from '../base/clock.ts';
import { phaseOf } from '../runs/runList.ts';
import { chargedReceiptsOf, type ChargedReceipt, type Moment, type Receipt } from './intent.ts';

/** The parts of a run that take time. */
export type Span = 'queue' | 'training';

/** When things happened, in milliseconds since the epoch; undefined where the service gave no time, or none that is one. */
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

/** How long a part took; undefined where an end of it is unknown, or before its beginning. */
export function spanMs(times: RunTimes, span: Span): number | undefined {
  const beginMs = span === 'queue' ? times.createdAtMs : times.startedAtMs;
  const endMs = span === 'queue' ? times.startedAtMs : times.completedAtMs;
  if (beginMs === undefined || endMs === undefined || endMs < beginMs) return undefined;
  return endMs - beginMs;
}

/** How long a part of runs usually takes. */
export interface UsualTime {
  fromMs: number;
  toMs: number;
}

/** With fewer runs there is no "usually". */
const ENOUGH_RUNS = 3;

/** The middle half of what a part of other runs took: those of the same model where there are enough, else all. */
export function usualTime(
  span: Span,
  { run_id, model_id }: Pick<RunDetail, 'run_id' | 'model_id'>,
  details: readonly RunDetail[],
): UsualTime | undefined {
  const others = details.filter((other) => other.run_id !== run_id);
  const spans = (runs: readonly RunDetail[]) => runs.flatMap((other) => spanMs(timesOf(other), span) ?? []);
  const ofModel = spans(others.filter((other) => other.model_id === model_id));
  const sorted = (ofModel.length < ENOUGH_RUNS ? spans(others) : ofModel).sort((a, b) => a - b);
  if (sorted.length < ENOUGH_RUNS) return undefined;
  const at = (share: number) => sorted[Math.round((sorted.length - 1) * share)] ?? 0;
  return { fromMs: at(0.25), toMs: at(0.75) };
}

/** The receipt of a run that was submitted from this machine. */
export function receiptOf(
  receipts: readonly Receipt[],
  accountId: string,
  runId: string,
): ChargedReceipt | undefined {
  return chargedReceiptsOf(receipts, accountId).find(({ settled }) => settled.run.run_id === runId);
}

/** When the balance before a charge was last read: each attempt reads it again until one may have been charged. */
export function balanceReadAt({ attempts, created }: Pick<Receipt, 'attempts' | 'created'>): Moment {
  return attempts.find(({ closed }) => closed !== undefined)?.started ?? created;
}

/** When it was charged, as far as is known: when the first attempt was sent whole that the service did not answer with an error. */
export function chargedAt({ attempts, created }: Pick<Receipt, 'attempts' | 'created'>): Moment {
  const charged =
    attempts.find(({ closed, httpStatus }) => closed !== undefined && httpStatus === undefined) ??
    attempts.at(-1);
  return charged?.closed ?? charged?.started ?? created;
}

/** What the balance was before and after a run's charge, in cents; `otherCents` is what else went or came in between. */
export interface BalanceEffect {
  beforeCents: number;
  afterCents: number;
  currency: string;
  /** Undefined where the price is unknown. */
  otherCents: number | undefined;
}

/** @param priceCents as in the details or the receipt */
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
 * What is known of a run's artifacts. `unknown`: it has finished and the list does not say that they are available, nor that
 * they have expired; a run that no list has shown yet is so, too. `not-known`: its status is none that the contract names,
 * so that it may have ended without any.
 */
export interface ArtifactsState {
  kind: 'not-yet' | 'not-known' | 'available' | 'expired' | 'unknown';
  expiresAtMs: number | undefined;
}

export function artifactsOf(run: RunSummary, detail: RunDetail | undefined, nowMs: number): ArtifactsState {
  const expiresAtMs = timeOf(run.artifacts_expires_at);
  const isOver = expiresAtMs !== undefined && expiresAtMs <= nowMs;
  if (isOver) return { kind: 'expired', expiresAtMs };
  if (run.artifacts_available) return { kind: 'available', expiresAtMs };
  const kinds = { waiting: 'not-yet', active: 'not-known', finished: 'unknown', ended: 'not-known' } as const;
  return { kind: kinds[phaseOf(run, detail)], expiresAtMs };
}

/**
 * What became of a dataset since it was submitted, as far as its size and its time of change show: `written`: it has the same
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

/** An earlier submission to the same service that was charged, or may have been. */
export interface Prior {
  accountId: string;
  /** The run that it was charged for; undefined where it was given up without knowing whether it was charged. */
  runId: string | undefined;
  modelId: string;
  priority: boolean;
  /** Milliseconds since the epoch. */
  submittedAtMs: number;
  priceCents: number | undefined;
  currency: string | undefined;
  /** Of its dataset, where they were counted. */
  rows: number | undefined;
}

/** The earlier submissions of these bytes to a service, newest first. */
export function priorsOf(receipts: readonly Receipt[], origin: string, sha256: string): Prior[] {
  return priorsWhere(receipts, origin, (dataset) => dataset.sha256 === sha256);
}

/** The same again within this time is most likely a mistake. */
const RECENT_MS = 24 * 60 * 60_000;

/** Whether a run repeats an earlier submission of its bytes: with the same model and queue, soon after it. */
export function isRepeat(
  chosen: { modelId: string | undefined; priority: boolean },
  { modelId, priority, submittedAtMs }: Prior,
  nowMs: number,
): boolean {
  return modelId === chosen.modelId && priority === chosen.priority && nowMs - submittedAtMs < RECENT_MS;
}

/** The last run that a file was trained in: `same` with its bytes, `changed` with others that were at its path. */
export interface TrainedBefore {
  kind: 'same' | 'changed';
  run: Prior & { runId: string };
}

/** @param sha256 undefined while it is unknown: then nothing is known of a file that has the size of an earlier one */
export function trainedBefore(
  receipts: readonly Receipt[],
  origin: string,
  { path, sizeBytes }: { path: string; sizeBytes: number },
  sha256: string | undefined,
): TrainedBefore | undefined {
  if (sha256 === undefined && wasSubmittedInSize(receipts, origin, sizeBytes)) return undefined;
  const same = sha256 === undefined ? undefined : priorsOf(receipts, origin, sha256).find(isCharged);
  if (same !== undefined) return { kind: 'same', run: same };
  const run = priorsWhere(receipts, origin, (dataset) => dataset.path === path).find(isCharged);
  return run && { kind: 'changed', run };
}

/** Whether a dataset of this size was charged: only then its bytes can be the same, and are worth hashing. */
export function wasSubmittedInSize(receipts: readonly Receipt[], origin: string, sizeBytes: number): boolean {
  return priorsWhere(receipts, origin, (dataset) => dataset.sizeBytes === sizeBytes).some(isCharged);
}

function priorsWhere(
  receipts: readonly Receipt[],
  origin: string,
  isMeant: (dataset: Receipt['dataset']) => boolean,
): Prior[] {
  return receipts
    .filter((receipt) => receipt.origin === origin && receipt.settled.kind !== 'not-charged')
    .filter(({ dataset }) => isMeant(dataset))
    .map(({ settled, accountId, model_id, priority_processing, created, balanceBefore, dataset }) => {
      const run = settled.kind === 'charged' ? settled.run : undefined;
      return {
        accountId,
        runId: run?.run_id,
        modelId: model_id,
        priority: priority_processing,
        submittedAtMs: created.localMs,
        priceCents: run?.price_cents,
        currency: run?.currency ?? balanceBefore?.currency,
        rows: dataset.rows,
      };
    })
    .sort((one, other) => other.submittedAtMs - one.submittedAtMs);
}

function isCharged(prior: Prior): prior is TrainedBefore['run'] {
  return prior.runId !== undefined;
}
