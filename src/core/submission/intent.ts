import { randomBytes, randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { serviceOf, type Account } from '../accounts/account.ts';
import { balance, cents, currency, IDEMPOTENCY_WINDOW_MS, optionalField, price } from '../api/types.ts';
import { MAX_RETRY_AFTER_MS } from '../base/retry.ts';
import { hasMarker, userLabel } from '../runs/marker.ts';
import type { RunStore } from '../runs/runStore.ts';

const text = v.pipe(v.string(), v.nonEmpty());
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const time = v.pipe(v.number(), v.finite());

/**
 * A point in time by up to three clocks: this machine's wall clock and monotonic clock, and the service's if
 * a response had a `Date`. Anyone can set the wall clock, so proofs rest on the other two.
 */
const moment = v.object({ localMs: time, monotonicMs: v.optional(time), serviceMs: v.optional(time) });

const attempt = v.object({
  started: moment,
  /** Written durably before the closing boundary is sent. From here on, the attempt may have been charged. */
  closed: v.optional(moment),
  /** Missing while the attempt is in progress, and after a crash. */
  ended: v.optional(moment),
  /** The error code (ours or the contract's), for messages and the log. Set if it ended without a run. */
  code: v.optional(v.string()),
  httpStatus: v.optional(v.number()),
  /** Nothing is sent before this time, as requested by the service (Retry-After). */
  notBefore: v.optional(moment),
});

const observation = v.object({
  at: moment,
  /** Whether the balance and every run that could be this one were listed and read. */
  complete: v.boolean(),
  /** Runs that could be this one. */
  candidates: v.array(v.string()),
  balance_cents: cents,
  /** Of the balance. */
  currency,
  /** Whether the receipts of other charges explained, to the cent, that the balance was lower than before. */
  explainedByReceipts: v.optional(v.literal(true)),
  /** Whether the check used another API key than the last attempt; that may be another service account's. */
  otherKey: v.optional(v.literal(true)),
});

/** Service text, truncated to keep receipts small. */
const serviceText = v.pipe(
  v.string(),
  v.transform((words) => words.slice(0, 200)),
);

const run = v.object({
  run_id: v.pipe(serviceText, v.nonEmpty()),
  status: v.optional(serviceText),
  price_cents: price,
  currency,
  balance_after_cents: cents,
  plan_name: v.optional(serviceText),
});

const settlement = v.variant('kind', [
  /** `foundBy`: the service answered, the marker was found, or the user recognized the run. */
  v.object({
    kind: v.literal('charged'),
    at: moment,
    run,
    foundBy: v.picklist(['answered', 'found', 'recognised']),
    /** More runs with the marker: the service charged more than once, or may have. */
    furtherRuns: v.optional(v.array(run)),
    /** Until the user saw the charge. */
    unshown: v.optional(v.literal(true)),
  }),
  v.object({ kind: v.literal('not-charged'), at: moment, code: v.optional(v.string()) }),
  /** The user discarded it without knowing whether it was charged. */
  v.object({ kind: v.literal('discarded'), at: moment }),
  /** Nothing of it was sent, since another submission of the same bytes came first. */
  v.object({ kind: v.literal('withdrawn'), at: moment }),
]);

/**
 * A version of a record in the journal. An extension that writes a record again loses fields that it doesn't
 * know. So a field that money rests on needs the next `version`: earlier ones leave such records alone.
 */
export const intentSchema = v.object({
  version: v.literal(1),
  /** The Idempotency-Key of every attempt, and the file name. */
  id: v.pipe(v.string(), v.uuid()),
  /** The multipart boundary of every attempt. */
  boundary: text,
  accountId: text,
  /** The account's origin, or `sandbox` for the sandbox, whose address changes at each start. */
  origin: text,
  /** A random ID of the API key that it was last sent with; not derived from the key. */
  keyId: v.optional(v.string()),
  /** Recognizes that API key when it is entered again. Removed when the intent is refused or settled. */
  keyCheck: v.optional(v.object({ salt: v.string(), hash: v.string() })),
  created: moment,
  dataset: v.object({
    path: text,
    filename: text,
    sizeBytes: count,
    sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
    /** The modification time; some stored records of 0.6.0 have none. */
    mtimeMs: v.optional(time),
    /** The change time (ctime): a copy can preserve mtime, but not ctime. */
    ctimeMs: v.optional(time),
    /** Missing if the file was not checked. */
    rows: v.optional(count),
    /** In Unicode characters, including line endings; missing if the file was not checked. */
    characters: v.optional(count),
  }),
  model_id: text,
  /** As sent, including the marker. */
  label: v.optional(v.string()),
  /** The part of the label that identifies the run. */
  marker: v.optional(v.string()),
  priority_processing: v.boolean(),
  /** Who proposed it, unless the user did. The consents are always the user's. */
  proposedBy: v.optional(v.literal('agent')),
  /** What the user accepted, when (ISO 8601), and which URLs were shown. */
  consents: v.object({
    model_terms: v.object({ accepted_at: text, urls: v.array(v.string()) }),
    data_policy: v.object({ accepted_at: text }),
  }),
  /** The balance before the first attempt. */
  balanceBefore: optionalField(balance),
  attempts: v.array(attempt),
  /** As in an attempt, if the service's wait kept the last one from beginning. */
  notBefore: v.optional(moment),
  /** The first complete check since the last attempt that found nothing; any other result removes it. */
  firstCleanCheck: v.optional(observation),
  lastCheck: v.optional(observation),
  /** When a look for its run was last answered and found none (R5 in docs/journal.md). Removed by a closing boundary. */
  looked: v.optional(moment),
  /** Set if the service refused it before any charge. The draft can be continued with a new Idempotency-Key. */
  refused: v.optional(v.object({ at: moment, code: v.string(), httpStatus: v.optional(v.number()) })),
  /** Missing while the intent is open. Once set, the intent is a receipt. */
  settled: v.optional(settlement),
});

/**
 * A request to train: one Idempotency-Key, attempts of the same bytes. Contains no API key or dataset row.
 */
export type Intent = v.InferOutput<typeof intentSchema>;
export type Attempt = Intent['attempts'][number];
/** The result of one check of the runs and the balance. */
export type Observation = NonNullable<Intent['lastCheck']>;
export type Moment = Intent['created'];
export type Settlement = NonNullable<Intent['settled']>;
export type Receipt = Intent & { settled: Settlement };
/** The receipt of a run. */
export type ChargedReceipt = Receipt & { settled: Extract<Settlement, { kind: 'charged' }> };
/** A run as far as a receipt knows it. */
export type ReceiptRun = ChargedReceipt['settled']['run'];

/** What the user chose and consented to. */
export type Draft = Pick<
  Intent,
  | 'dataset'
  | 'model_id'
  | 'label'
  | 'marker'
  | 'priority_processing'
  | 'proposedBy'
  | 'consents'
  | 'balanceBefore'
>;

/** Returns the label as the user entered it, or the file name. */
export function submissionName({ label, dataset }: Pick<Draft, 'label' | 'dataset'>): string {
  return userLabel(label) ?? dataset.filename;
}

/** The limit for resends; the service knows an Idempotency-Key for 24 hours (spec: "Limits"). */
export const RESEND_MS = IDEMPOTENCY_WINDOW_MS - 60 * 60_000;

/** Whether the closing boundary may have been sent, and wasn't refused. */
export function hasBoundary({ attempts, refused }: Intent): boolean {
  return refused === undefined && attempts.some(isClosed);
}

/** Whether an attempt sent its closing boundary, or recorded that it may. */
export function isClosed({ closed }: Attempt): boolean {
  return closed !== undefined;
}

/** Not after a canceled resend: an earlier upload may be the one that was charged. */
export function isCanceledUpload({ attempts }: Intent): boolean {
  const [uploaded, ...others] = attempts.filter(isClosed);
  return others.length === 0 && uploaded === attempts.at(-1) && uploaded?.code === 'cancelled';
}

/** Returns how long the service still asks not to send an intent, in milliseconds; 0 if it doesn't. */
export function askedWaitMs({ attempts, notBefore }: Intent, now: Moment): number {
  return Math.max(leftMs(attempts.at(-1)?.notBefore, now), leftMs(notBefore, now));
}

export function withoutWait(intent: Intent): Intent {
  const attempts = intent.attempts.map((attempt) => ({ ...attempt, notBefore: undefined }));
  return { ...intent, attempts, notBefore: undefined };
}

function leftMs(notBefore: Moment | undefined, now: Moment): number {
  if (notBefore === undefined) return 0;
  const waitMs =
    notBefore.serviceMs === undefined || now.serviceMs === undefined
      ? notBefore.localMs - now.localMs
      : notBefore.serviceMs - now.serviceMs;
  // Longer than any stored wait: the clock was set.
  return waitMs > MAX_RETRY_AFTER_MS ? 0 : Math.max(0, waitMs);
}

export function isRunOf(receipt: Receipt, runId: string): boolean {
  return isCharged(receipt) && runsOf(receipt.settled).some(({ run_id }) => run_id === runId);
}

/** Whether a run's label has the marker of a submission. */
export function isMarkedRunOf(
  { marker }: Pick<Intent, 'marker'>,
  runId: string,
  runs: Pick<RunStore, 'label'>,
): boolean {
  return marker !== undefined && hasMarker(runs.label(runId) ?? '', marker);
}

/** Whether a run has the marker of an open submission, or is a possible one by the last check. */
export function mayBeRunOf(
  intent: Pick<Intent, 'lastCheck' | 'marker'>,
  runId: string,
  runs: Pick<RunStore, 'label'>,
): boolean {
  return isMarkedRunOf(intent, runId, runs) || intent.lastCheck?.candidates.includes(runId) === true;
}

/** Returns all runs of a charged submission: one, unless the service broke its promise. */
export function runsOf({ run, furtherRuns = [] }: ChargedReceipt['settled']): ReceiptRun[] {
  return [run, ...furtherRuns];
}

export function isSettled(intent: Intent): intent is Receipt {
  return intent.settled !== undefined;
}

export function isCharged(receipt: Receipt): receipt is ChargedReceipt {
  return receipt.settled.kind === 'charged';
}

/** Returns the charged receipts of an account. */
export function chargedReceiptsOf(receipts: readonly Receipt[], accountId: string): ChargedReceipt[] {
  return receipts.filter(isCharged).filter((receipt) => receipt.accountId === accountId);
}

/** The same bytes and model at one service. Only one intent for them may be open. */
export type SameDataset = Pick<Intent, 'origin' | 'model_id'> & {
  dataset: Pick<Intent['dataset'], 'sha256'>;
};

/**
 * Compares two submissions regardless of their accounts. Two local accounts may be the same service account:
 * the service doesn't identify accounts, and each sign-in can create another local one.
 */
export function isDuplicate(one: SameDataset, other: SameDataset): boolean {
  return (
    one.origin === other.origin &&
    one.model_id === other.model_id &&
    one.dataset.sha256 === other.dataset.sha256
  );
}

/** Returns the records for an origin: the account's own first, then the newest. */
export function sentTo(
  records: readonly Intent[],
  { accountId, origin }: Pick<Intent, 'accountId' | 'origin'>,
): Intent[] {
  return records
    .filter((intent) => intent.origin === origin)
    .sort(
      (one, other) =>
        Number(other.accountId === accountId) - Number(one.accountId === accountId) ||
        other.created.localMs - one.created.localMs,
    );
}

/** Returns the earliest time that it may have been sent, by the service's clock; undefined if unknown. */
export function serviceStartMs({ created, attempts }: Intent): number | undefined {
  const known = [created, attempts[0]?.started].flatMap((one) => one?.serviceMs ?? []);
  return known.length === 0 ? undefined : Math.min(...known);
}

/**
 * Creates an intent with its own Idempotency-Key and boundary, and without attempts.
 * @param created now, by all clocks that are known
 */
export function newIntent(account: Account, draft: Draft, created: Moment): Intent {
  return {
    version: 1,
    id: randomUUID(),
    boundary: `----FineTuning${randomBytes(18).toString('hex')}`,
    accountId: account.id,
    origin: serviceOf(account),
    created,
    ...draft,
    attempts: [],
  };
}
