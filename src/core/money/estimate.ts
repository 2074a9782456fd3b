import type { ChargedReceipt, Intent } from '../submission/intent.ts';
import { chargedAt } from '../submission/receipts.ts';

/** What a price may depend on, as far as it was counted. */
export interface DatasetSize {
  bytes: number;
  rows?: number | undefined;
  characters?: number | undefined;
}

/** What is about to be submitted. */
export interface Wanted {
  size: DatasetSize;
  priority: boolean;
  /** Undefined while it is computed. */
  sha256?: string | undefined;
}

/** What receipts say of a price. Most kinds name no range: then there is no honest one. */
export type Estimate =
  | { kind: 'none' }
  | { kind: 'range'; lowCents: number; highCents: number; currency: string; runs: number }
  /** The same bytes in the same queue. */
  | { kind: 'same'; priceCents: number; currency: string; atMs: number }
  /** Only one receipt counts. */
  | { kind: 'one'; sizeBytes: number; priceCents: number; currency: string }
  /** Only one receipt counts: it did not cost what those before it suggested. */
  | { kind: 'changed'; atMs: number; priceCents: number; currency: string }
  | {
      kind: 'far';
      /** How many times the nearest run, or how many times smaller. */
      ratio: number;
      measure: keyof DatasetSize;
      isLarger: boolean;
      sizeBytes: number;
      priceCents: number;
      currency: string;
    }
  /** Too little is known of priority processing; this is the lower end without it. */
  | { kind: 'priority'; lowCents: number; currency: string }
  /** The nearest run cost nothing: an allowance of the plan, which may be used up. */
  | { kind: 'included' };

export type PriceRange = Extract<Estimate, { kind: 'range' }>;

/** A price that was paid. */
interface Charge extends Wanted {
  priceCents: number;
  atMs: number;
}

/** How far a price may be from what proportion suggests. */
const EITHER_WAY = 1.25;
/** A receipt is a bound if it is so much smaller or larger in every size. */
const CLEARLY = 1.1;
/** A nearest receipt that is further away says too little. */
const FAR = 4;
/** Older ones say little of today's prices. */
const MOST_RECEIPTS = 100;
/** For how many of the newest runs it is found out whether they had a range, and how many ranges count. */
const HELD_AMONG = 20;
const HELD_RANGES = 5;

/**
 * What a run will probably cost: a larger dataset costs at least as much, and at most in proportion, 25 % either way.
 * @param receipts of one account, in any order
 */
export function estimateOf(receipts: readonly ChargedReceipt[], wanted: Wanted): Estimate {
  const { currency, charges } = evidenceOf(receipts);
  const { usable, changed } = usableOf(charges);
  const estimate = estimateFor(usable, wanted, currency, changed);
  if (!wanted.priority || estimate.kind === 'included' || lowerCents(estimate) !== undefined) return estimate;
  const standard = estimateFor(usable, { ...wanted, priority: false }, currency, changed);
  const lowCents = lowerCents(standard);
  if (lowCents !== undefined) return { kind: 'priority', lowCents, currency };
  return estimate.kind === 'none' ? standard : estimate;
}

/** What was known of the price of a run when it was submitted: receipts may have come later. */
export function estimateBefore(receipts: readonly ChargedReceipt[], receipt: ChargedReceipt): Estimate {
  const known = receipts.filter(({ settled }) => settled.at.localMs < receipt.created.localMs);
  return estimateOf(known, wantedOf(receipt));
}

/** How many of the last ranges held, of those that could be shown. */
export function heldRanges(receipts: readonly ChargedReceipt[]): { held: number; of: number } {
  const isHeld: boolean[] = [];
  for (const receipt of inOrder(receipts).slice(-HELD_AMONG).reverse()) {
    const { price_cents: priceCents } = receipt.settled.run;
    const range = estimateBefore(receipts, receipt);
    if (range.kind !== 'range' || priceCents === undefined || currencyOf(receipt) !== range.currency)
      continue;
    isHeld.push(isWithin(range, priceCents));
    if (isHeld.length === HELD_RANGES) break;
  }
  return { held: isHeld.filter(Boolean).length, of: isHeld.length };
}

export function isWithin({ lowCents, highCents }: Bounds, priceCents: number): boolean {
  return lowCents <= priceCents && priceCents <= highCents;
}

/** Undefined where there is no upper end. */
export function upperCents(estimate: Estimate): number | undefined {
  if (estimate.kind === 'range') return estimate.highCents;
  return estimate.kind === 'same' ? estimate.priceCents : undefined;
}

/** Undefined where there is no lower end. */
export function lowerCents(estimate: Estimate): number | undefined {
  if (estimate.kind === 'range' || estimate.kind === 'priority') return estimate.lowCents;
  return upperCents(estimate);
}

export function wantedOf({
  dataset,
  priority_processing,
}: Pick<Intent, 'dataset' | 'priority_processing'>): Wanted {
  const { sizeBytes, rows, characters, sha256 } = dataset;
  return { size: { bytes: sizeBytes, rows, characters }, priority: priority_processing, sha256 };
}

/** In which currency a receipt was charged: an answer that got lost named none, and the balance before it may have. */
export function currencyOf({ settled: { run }, balanceBefore }: ChargedReceipt): string | undefined {
  return run.currency ?? balanceBefore?.currency;
}

/** Oldest first. */
function inOrder(receipts: readonly ChargedReceipt[]): ChargedReceipt[] {
  return receipts.toSorted(
    (one, other) => chargedAt(one).localMs - chargedAt(other).localMs || (one.id < other.id ? -1 : 1),
  );
}

/** The known prices in the currency and under the plan of the newest receipt, oldest first. */
function evidenceOf(receipts: readonly ChargedReceipt[]): { currency: string; charges: Charge[] } {
  const priced = inOrder(receipts).flatMap((receipt) => {
    const { price_cents: priceCents, plan_name: plan } = receipt.settled.run;
    const currency = currencyOf(receipt);
    if (priceCents === undefined || !(priceCents >= 0) || currency === undefined) return [];
    return [{ ...wantedOf(receipt), priceCents, atMs: chargedAt(receipt).localMs, currency, plan }];
  });
  const currency = priced.at(-1)?.currency ?? '';
  // A run whose answer got lost may name no plan.
  const plan = priced.findLast((one) => one.plan !== undefined)?.plan;
  const charges = priced
    .filter((one) => one.currency === currency && (one.plan === undefined || one.plan === plan))
    .slice(-MOST_RECEIPTS);
  return { currency, charges };
}

/** The charges since the last one that was not within its own range, with it: there the price rule changed. */
function usableOf(charges: readonly Charge[]): { usable: readonly Charge[]; changed: Charge | undefined } {
  let from = 0;
  let changed: Charge | undefined;
  for (const [at, charge] of charges.entries()) {
    const bounds = boundsOf(charges.slice(from, at), charge);
    if (bounds === undefined || isWithin(bounds, charge.priceCents)) continue;
    from = at;
    // After what was included an allowance is used up: prices may be as they were.
    changed = bounds.highCents > 0 ? charge : undefined;
  }
  return { usable: charges.slice(from), changed };
}

function estimateFor(
  usable: readonly Charge[],
  wanted: Wanted,
  currency: string,
  changed: Charge | undefined,
): Estimate {
  const charges = usable.filter(({ priority }) => priority === wanted.priority);
  const same = charges.findLast(({ sha256 }) => sha256 === wanted.sha256);
  const nearest = same ?? nearestOf(charges, wanted);
  const bounds = boundsOf(charges, wanted);
  if (nearest === undefined || bounds === undefined) return { kind: 'none' };
  const { priceCents, atMs, size } = nearest;
  if (priceCents === 0) return { kind: 'included' };
  if (same !== undefined) return { kind: 'same', priceCents, currency, atMs };
  if (charges.length === 1)
    return nearest === changed
      ? { kind: 'changed', atMs, priceCents, currency }
      : { kind: 'one', sizeBytes: size.bytes, priceCents, currency };
  // Bytes first: they are what the user sees of a file.
  const far = ratiosOf(wanted.size, size).find(({ ratio }) => distanceOf(ratio) > FAR);
  if (far === undefined) return { kind: 'range', ...bounds, currency, runs: charges.length };
  const { measure, ratio } = far;
  const isLarger = ratio > 1;
  return {
    kind: 'far',
    ratio: distanceOf(ratio),
    measure,
    isLarger,
    sizeBytes: size.bytes,
    priceCents,
    currency,
  };
}

interface Bounds {
  lowCents: number;
  highCents: number;
}

/** The range for a size, whether it may be shown or not; undefined without a charge in the same queue. */
function boundsOf(charges: readonly Charge[], wanted: Wanted): Bounds | undefined {
  const inQueue = charges.filter(({ priority }) => priority === wanted.priority);
  const nearest = nearestOf(inQueue, wanted);
  if (nearest === undefined) return undefined;
  const ratios = ratiosOf(wanted.size, nearest.size).map(({ ratio }) => ratio);
  const low = (nearest.priceCents * Math.min(1, ...ratios)) / EITHER_WAY;
  const high = nearest.priceCents * Math.max(1, ...ratios) * EITHER_WAY;
  // What clearly smaller and larger runs cost, where that does not contradict the nearest one.
  const pricesOf = (isBound: (ratio: number) => boolean) =>
    inQueue
      .filter(({ size }) => ratiosOf(wanted.size, size).every(({ ratio }) => isBound(ratio)))
      .map(({ priceCents }) => priceCents)
      .filter((cents) => low <= cents && cents <= high);
  const floor = Math.max(low, ...pricesOf((ratio) => ratio >= CLEARLY));
  const ceiling = Math.min(high, ...pricesOf((ratio) => ratio <= 1 / CLEARLY));
  return floor > ceiling ? rounded(low, high) : rounded(floor, ceiling);
}

/** Outward to two significant digits, and never one number: several runs do not say one. */
function rounded(low: number, high: number): Bounds {
  const unitOf = (cents: number) => 10 ** Math.max(0, String(Math.floor(cents)).length - 2);
  const lowCents = Math.floor(low / unitOf(low) + 1e-9) * unitOf(low);
  const highCents = Math.ceil(high / unitOf(high) - 1e-9) * unitOf(high);
  if (lowCents < highCents || highCents === 0) return { lowCents, highCents };
  return { lowCents: lowCents - unitOf(low), highCents: highCents + unitOf(high) };
}

/** The charge whose most different size is the least different; the newest of several. */
function nearestOf(charges: readonly Charge[], { size }: Wanted): Charge | undefined {
  let nearest: Charge | undefined;
  let least = Infinity;
  for (const charge of charges) {
    const distance = Math.max(...ratiosOf(size, charge.size).map(({ ratio }) => distanceOf(ratio)));
    if (distance > least) continue;
    nearest = charge;
    least = distance;
  }
  return nearest;
}

/** How many times as large one is as the other, in every size that is known of both. */
function ratiosOf(size: DatasetSize, other: DatasetSize): { measure: keyof DatasetSize; ratio: number }[] {
  return (['bytes', 'rows', 'characters'] as const).flatMap((measure) => {
    const one = size[measure];
    const two = other[measure];
    return one === undefined || two === undefined
      ? []
      : [{ measure, ratio: Math.max(1, one) / Math.max(1, two) }];
  });
}

function distanceOf(ratio: number): number {
  return Math.max(ratio, 1 / ratio);
}
