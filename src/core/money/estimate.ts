import { chargedAt } from '../submission/receipts.ts';
import type { ChargedReceipt, Submission } from '../submission/submission.ts';

/** Sizes that a price may depend on, if they were counted. */
export interface DatasetSize {
  bytes: number;
  rows?: number | undefined;
  characters?: number | undefined;
}

/** The submission to estimate. */
export interface RunParameters {
  size: DatasetSize;
  priority: boolean;
  /** Undefined while it is being computed. */
  sha256?: string | undefined;
}

/** The price that receipts suggest. Without a reliable range there is none. */
export type Estimate =
  | { kind: 'none' }
  | { kind: 'range'; lowCents: number; highCents: number; currency: string; runs: number }
  /** The same bytes were charged in the same queue. */
  | { kind: 'same'; priceCents: number; currency: string; atMs: number }
  /** The account has no other charge with a known price. */
  | { kind: 'one'; sizeBytes: number; priceCents: number; currency: string };

export type PriceRange = Extract<Estimate, { kind: 'range' }>;

/** A price that was paid. */
interface PaidRun extends RunParameters {
  priceCents: number;
  atMs: number;
}

/** The factor by which a price may deviate from proportionality. */
const TOLERANCE = 1.25;
/** A receipt is a bound if every size is smaller or larger by this factor. */
const CLEAR_FACTOR = 1.1;
/** If even the nearest receipt differs by more than this factor, it says too little. */
const FAR_FACTOR = 4;
/** Older receipts say little about current prices. */
const MOST_RECEIPTS = 100;
/** How many of the newest runs are examined, and how many of their ranges count. */
const ACCURACY_RUNS = 20;
const ACCURACY_RANGES = 5;
/** How many of the last ranges are judged, below how many none is hidden, how many of ten must be right. */
const JUDGED_RANGES = 10;
const ENOUGH_RANGES = 4;
const RIGHT_OF_TEN = 7;

/**
 * Estimates a run's price: a larger dataset costs at least as much, and at most in proportion, from 20 % less to 25 % more.
 * @param receipts of one account, in any order
 * @param balanceCurrency undefined while the balance is unknown; then that of the newest receipt is used
 */
export function estimateOf(
  receipts: readonly ChargedReceipt[],
  wanted: RunParameters,
  balanceCurrency: string | undefined,
): Estimate {
  const { currency, charges } = evidenceOf(receipts, balanceCurrency);
  const { usable, isReliable } = basisOf(charges);
  const inQueue = usable.filter(({ priority }) => priority === wanted.priority);
  const same = inQueue.findLast(({ sha256 }) => sha256 === wanted.sha256);
  const nearest = same ?? nearestOf(inQueue, wanted);
  const bounds = boundsOf(inQueue, wanted);
  // A run that cost nothing may have used up an allowance.
  if (nearest === undefined || bounds === undefined || nearest.priceCents === 0) return { kind: 'none' };
  const { priceCents, atMs, size } = nearest;
  if (same !== undefined) return { kind: 'same', priceCents, currency, atMs };
  if (charges.length === 1) return { kind: 'one', sizeBytes: size.bytes, priceCents, currency };
  const isNear = ratiosOf(wanted.size, size).every((ratio) => distanceOf(ratio) <= FAR_FACTOR);
  if (inQueue.length === 1 || !isNear || !isReliable) return { kind: 'none' };
  return { kind: 'range', ...bounds, currency, runs: inQueue.length };
}

/**
 * Returns what a run costs at least, in cents. That is the lowest price of a run that is no larger, in the
 * same or a cheaper queue. Undefined without one. Free runs don't count, since an allowance may be used up.
 * @param balanceCurrency as in `estimateOf`
 */
export function leastCents(
  receipts: readonly ChargedReceipt[],
  wanted: RunParameters,
  balanceCurrency: string | undefined,
): number | undefined {
  const prices = evidenceOf(receipts, balanceCurrency)
    .charges.filter(({ priority }) => wanted.priority || !priority)
    .filter(({ size }) => ratiosOf(wanted.size, size).every((ratio) => ratio >= 1))
    .map(({ priceCents }) => priceCents)
    .filter((cents) => cents > 0);
  return prices.length === 0 ? undefined : Math.min(...prices);
}

/** Returns the estimate when a run was submitted, without receipts that came later. */
export function estimateBefore(receipts: readonly ChargedReceipt[], receipt: ChargedReceipt): Estimate {
  const known = receipts.filter(({ charge }) => charge.at.localMs < receipt.created.localMs);
  return estimateOf(known, parametersOf(receipt), receipt.balanceBefore?.currency);
}

/** Returns how many of the last ranges contained the actual price. */
export function rangeAccuracy(receipts: readonly ChargedReceipt[]): { correct: number; of: number } {
  const isCorrect: boolean[] = [];
  for (const receipt of inOrder(receipts).slice(-ACCURACY_RUNS).reverse()) {
    const { price_cents: priceCents } = receipt.charge.run;
    const range = estimateBefore(receipts, receipt);
    if (range.kind !== 'range' || priceCents === undefined || currencyOf(receipt) !== range.currency)
      continue;
    isCorrect.push(isInRange(range, priceCents));
    if (isCorrect.length === ACCURACY_RANGES) break;
  }
  return { correct: isCorrect.filter(Boolean).length, of: isCorrect.length };
}

export function isInRange({ lowCents, highCents }: Bounds, priceCents: number): boolean {
  return lowCents <= priceCents && priceCents <= highCents;
}

/** Returns the lowest and highest likely price; undefined without a range or a price of the same bytes. */
export function likelyEnds(estimate: Estimate): Bounds | undefined {
  if (estimate.kind === 'range') return estimate;
  if (estimate.kind !== 'same') return undefined;
  return { lowCents: estimate.priceCents, highCents: estimate.priceCents };
}

export function parametersOf({
  dataset,
  priority_processing,
}: Pick<Submission, 'dataset' | 'priority_processing'>): RunParameters {
  const { sizeBytes, rows, characters, sha256 } = dataset;
  return { size: { bytes: sizeBytes, rows, characters }, priority: priority_processing, sha256 };
}

/** Returns a receipt's currency. If the response was lost, uses that of the balance before. */
export function currencyOf({ charge: { run }, balanceBefore }: ChargedReceipt): string | undefined {
  return run.currency ?? balanceBefore?.currency;
}

/** Returns the receipts, oldest first. */
function inOrder(receipts: readonly ChargedReceipt[]): ChargedReceipt[] {
  return receipts.toSorted(
    (one, other) => chargedAt(one).localMs - chargedAt(other).localMs || (one.id < other.id ? -1 : 1),
  );
}

/** Returns the known prices in the currency of the balance, under the plan of the newest receipt, oldest first. */
function evidenceOf(
  receipts: readonly ChargedReceipt[],
  balanceCurrency: string | undefined,
): { currency: string; charges: PaidRun[] } {
  const ordered = inOrder(receipts);
  const currency = balanceCurrency ?? ordered.flatMap((receipt) => currencyOf(receipt) ?? []).at(-1) ?? '';
  // If the response was lost, the receipt may have no plan.
  const plan = ordered.flatMap(({ charge }) => charge.run.plan_name ?? []).at(-1);
  const charges = ordered.flatMap((receipt) => {
    const { price_cents: priceCents = -1, plan_name = plan } = receipt.charge.run;
    if (priceCents < 0 || currencyOf(receipt) !== currency || plan_name !== plan) return [];
    return { ...parametersOf(receipt), priceCents, atMs: chargedAt(receipt).localMs };
  });
  return { currency, charges: charges.slice(-MOST_RECEIPTS) };
}

/**
 * Replays the charges. Usable are those since the price rule changed: from the last one outside its own range.
 * Ranges are reliable if enough of the last ones, shown or not, contained the price.
 */
function basisOf(charges: readonly PaidRun[]): { usable: readonly PaidRun[]; isReliable: boolean } {
  let from = 0;
  const isRight: boolean[] = [];
  for (const [at, charge] of charges.entries()) {
    const bounds = boundsOf(charges.slice(from, at), charge);
    if (bounds === undefined) continue;
    const holds = isInRange(bounds, charge.priceCents);
    // Free runs have no range that a later price could be outside of.
    if (bounds.highCents > 0) isRight.push(holds);
    if (!holds) from = at;
  }
  const judged = isRight.slice(-JUDGED_RANGES);
  const right = judged.filter(Boolean).length;
  const isReliable = judged.length < ENOUGH_RANGES || right * 10 >= judged.length * RIGHT_OF_TEN;
  return { usable: charges.slice(from), isReliable };
}

interface Bounds {
  lowCents: number;
  highCents: number;
}

/** Returns the range for a size, shown or not; undefined without a charge in the same queue. */
function boundsOf(charges: readonly PaidRun[], wanted: RunParameters): Bounds | undefined {
  const inQueue = charges.filter(({ priority }) => priority === wanted.priority);
  const nearest = nearestOf(inQueue, wanted);
  if (nearest === undefined) return undefined;
  const ratios = ratiosOf(wanted.size, nearest.size);
  const low = (nearest.priceCents * Math.min(1, ...ratios)) / TOLERANCE;
  const high = nearest.priceCents * Math.max(1, ...ratios) * TOLERANCE;
  // Narrow it by clearly smaller and larger runs, unless they contradict the nearest one.
  const pricesOf = (isBound: (ratio: number) => boolean) =>
    inQueue
      .filter(({ size }) => ratiosOf(wanted.size, size).every(isBound))
      .map(({ priceCents }) => priceCents)
      .filter((cents) => low <= cents && cents <= high);
  const floor = Math.max(low, ...pricesOf((ratio) => ratio >= CLEAR_FACTOR));
  const ceiling = Math.min(high, ...pricesOf((ratio) => ratio <= 1 / CLEAR_FACTOR));
  return floor > ceiling ? rounded(low, high) : rounded(floor, ceiling);
}

/** Rounds outward to two significant digits, and never to a single number. */
function rounded(low: number, high: number): Bounds {
  const unitOf = (cents: number) => 10 ** Math.max(0, String(Math.floor(cents)).length - 2);
  const lowCents = Math.floor(low / unitOf(low) + 1e-9) * unitOf(low);
  const highCents = Math.ceil(high / unitOf(high) - 1e-9) * unitOf(high);
  if (lowCents < highCents || highCents === 0) return { lowCents, highCents };
  return { lowCents: lowCents - unitOf(low), highCents: highCents + unitOf(high) };
}

/** Returns the charge with the smallest maximum difference in size; the newest of several. */
function nearestOf(charges: readonly PaidRun[], { size }: RunParameters): PaidRun | undefined {
  let nearest: PaidRun | undefined;
  let least = Infinity;
  for (const charge of charges) {
    const distance = Math.max(...ratiosOf(size, charge.size).map(distanceOf));
    if (distance > least) continue;
    nearest = charge;
    least = distance;
  }
  return nearest;
}

/** Returns the ratio of every size that is known for both. */
function ratiosOf(size: DatasetSize, other: DatasetSize): number[] {
  return (['bytes', 'rows', 'characters'] as const).flatMap((measure) => {
    const one = size[measure];
    const two = other[measure];
    return one === undefined || two === undefined ? [] : [Math.max(1, one) / Math.max(1, two)];
  });
}

function distanceOf(ratio: number): number {
  return Math.max(ratio, 1 / ratio);
}
