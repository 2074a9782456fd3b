import { createHash, randomBytes } from 'node:crypto';
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
 * A point in time by up to three clocks, in milliseconds: this machine's wall clock, its monotonic clock, and the
 * service's clock. That is known from the `Date` of a response. Anyone can set the wall clock, so proofs rest on the
 * other two.
 */
const moment = v.object({ localMs: time, monotonicMs: v.optional(time), serviceMs: v.optional(time) });

const attempt = v.object({
  started: moment,
  /** Written durably before the last bytes leave. From here on, the attempt may have been charged. */
  closed: v.optional(moment),
  /** Missing while the attempt is in progress, and after a crash. */
  ended: v.optional(moment),
  /** The code of the error with which it ended (ours or the contract's), for messages and the log. */
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
  /** The balance's. */
  currency,
  /** Whether other charges explained a lower balance: see `explainsBalance`. */
  explainedByReceipts: v.optional(v.literal(true)),
  /** Whether the check used another API key than the submission; it may belong to another account. */
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

/** The run of a charged submission, and how it was found. */
const charge = v.object({
  at: moment,
  run,
  /** The service answered, the marker was found, or the user recognized the run. */
  foundBy: v.picklist(['answered', 'found', 'recognised']),
  /** More runs with the marker: the service charged more than once, or may have. */
  furtherRuns: v.optional(v.array(run)),
  /** True until the user saw the charge. */
  unshown: v.optional(v.literal(true)),
});

const stage = v.picklist(['draft', 'sending', 'sent', 'cleared', 'charged', 'ended']);
const reason = v.picklist(['refused', 'not-charged', 'discarded']);

/**
 * A version of a record in the journal. An extension that writes a record again drops the fields that it doesn't know.
 * So a new field that decides about money needs the next `version`: earlier extensions leave such records alone.
 */
export const submissionSchema = v.object({
  version: v.literal(1),
  /** The Idempotency-Key of every attempt. */
  id: v.pipe(v.string(), v.uuid()),
  /** The multipart boundary of every attempt. */
  boundary: text,
  accountId: text,
  /** The account's origin, or `sandbox` for the sandbox, whose address changes at each start. */
  origin: text,
  /** The random ID of the API key of every attempt; not derived from the key. */
  keyId: text,
  /** Recognizes that API key when it is entered again. Removed when the submission is over. */
  keyCheck: v.optional(v.object({ salt: v.string(), hash: v.string() })),
  created: moment,
  dataset: v.object({
    path: text,
    filename: text,
    sizeBytes: count,
    sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
    mtimeMs: time,
    /** The change time (ctime): a copy can preserve mtime, but not ctime. */
    ctimeMs: time,
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
  /** Set if an agent proposed it. The consents are always the user's. */
  proposedBy: v.optional(v.literal('agent')),
  /** What the user accepted, when (ISO 8601), and which URLs were shown. */
  consents: v.object({
    model_terms: v.object({ accepted_at: text, urls: v.array(v.string()) }),
    data_policy: v.object({ accepted_at: text }),
  }),
  /** The balance before the first attempt. */
  balanceBefore: optionalField(balance),
  attempts: v.array(attempt),
  /** As in an attempt; set if the service asked to wait before the attempt began. */
  notBefore: v.optional(moment),
  /** The first of the complete checks in a row, since the last attempt, that found no sign of a charge. */
  firstCleanCheck: v.optional(observation),
  lastCheck: v.optional(observation),
  /** See the table of stages in docs/journal.md. Every later format keeps this field. */
  stage,
  /** Why it ended. `discarded`: the user discarded it, and it may be charged. */
  reason: v.optional(reason),
  /** When it ended. The code and status are those of a refusal. */
  end: v.optional(v.object({ at: moment, code: v.optional(v.string()), httpStatus: v.optional(v.number()) })),
  charge: v.optional(charge),
});

/**
 * A request to train: one Idempotency-Key, attempts of the same bytes. Contains no API key or dataset row.
 */
export type Submission = v.InferOutput<typeof submissionSchema>;
export type Attempt = Submission['attempts'][number];
/** The result of one check of the runs and the balance. */
export type Observation = NonNullable<Submission['lastCheck']>;
export type Moment = Submission['created'];
export type Stage = Submission['stage'];
export type EndReason = NonNullable<Submission['reason']>;
/** One that ended without a known charge. */
type Ended = Submission & Required<Pick<Submission, 'reason' | 'end'>>;
/** One with its run. */
export type ChargedReceipt = Submission & Required<Pick<Submission, 'charge'>>;
export type Receipt = Ended | ChargedReceipt;
/** A run as far as a receipt knows it. */
export type ReceiptRun = ChargedReceipt['charge']['run'];

/** What the user chose and consented to: a submission before it is created. */
export type Draft = Pick<
  Submission,
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

/** How long it may be sent again: one hour less than the service knows an Idempotency-Key (spec: "Limits"). */
export const RESEND_MS = IDEMPOTENCY_WINDOW_MS - 60 * 60_000;

/** Whether the last bytes of an open submission may have left, so that it may have been charged. */
export function isSent({ stage }: Pick<Submission, 'stage'>): boolean {
  return stage === 'sent' || stage === 'cleared';
}

/** Whether an attempt sent its last bytes, or recorded that it may. */
export function isClosed({ closed }: Attempt): boolean {
  return closed !== undefined;
}

/** Whether the user canceled the only upload whose last bytes may have left. */
export function isCanceledUpload({ attempts }: Submission): boolean {
  const [uploaded, ...others] = attempts.filter(isClosed);
  return others.length === 0 && uploaded === attempts.at(-1) && uploaded?.code === 'cancelled';
}

/** Returns how long the service still asks not to send a submission, in milliseconds; 0 if it doesn't. */
export function askedWaitMs({ attempts, notBefore }: Submission, now: Moment): number {
  return Math.max(leftMs(attempts.at(-1)?.notBefore, now), leftMs(notBefore, now));
}

/** Returns the submission without the waits that the service asked for. */
export function withoutWait(submission: Submission): Submission {
  const attempts = submission.attempts.map((attempt) => ({ ...attempt, notBefore: undefined }));
  return { ...submission, attempts, notBefore: undefined };
}

/** Returns how long a wait still takes, by the service’s clock if known; 0 if it is over. */
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
  return isCharged(receipt) && runsOf(receipt.charge).some(({ run_id }) => run_id === runId);
}

/** Whether a run's label has the marker of a submission. */
export function isMarkedRunOf(
  { marker }: Pick<Submission, 'marker'>,
  runId: string,
  runs: Pick<RunStore, 'label'>,
): boolean {
  return marker !== undefined && hasMarker(runs.label(runId) ?? '', marker);
}

/** Whether a run has the marker of an open submission, or was a candidate in its last check. */
export function mayBeRunOf(
  submission: Pick<Submission, 'lastCheck' | 'marker'>,
  runId: string,
  runs: Pick<RunStore, 'label'>,
): boolean {
  return isMarkedRunOf(submission, runId, runs) || submission.lastCheck?.candidates.includes(runId) === true;
}

/** Returns all runs of a charged submission: one, unless the service broke its promise. */
export function runsOf({ run, furtherRuns = [] }: ChargedReceipt['charge']): ReceiptRun[] {
  return [run, ...furtherRuns];
}

/** Whether it ended or was charged: nothing of it is sent again. */
export function isOver(submission: Submission): submission is Receipt {
  return submission.stage === 'charged' || submission.stage === 'ended';
}

/** When it was charged or ended. */
export function overAt(receipt: Receipt): Moment {
  return (receipt.charge ?? receipt.end)?.at ?? receipt.created;
}

export function isCharged(submission: Submission): submission is ChargedReceipt {
  return submission.stage === 'charged';
}

export function isRefused({ reason }: Pick<Submission, 'reason'>): boolean {
  return reason === 'refused';
}

/** Returns the submission as ended. */
export function ended(submission: Submission, reason: EndReason, end: Ended['end']): Ended {
  return { ...submission, stage: 'ended', reason, end };
}

export function charged(submission: Submission, charge: ChargedReceipt['charge']): ChargedReceipt {
  return { ...submission, stage: 'charged', reason: undefined, end: undefined, charge };
}

/** Returns the charged receipts of an account. */
export function chargedReceiptsOf(receipts: readonly Receipt[], accountId: string): ChargedReceipt[] {
  return receipts.filter(isCharged).filter((receipt) => receipt.accountId === accountId);
}

/**
 * What makes two submissions the same: service, model and bytes. Not the account: the service doesn't identify
 * accounts, and each sign-in can create another local one.
 */
export type SameDataset = Pick<Submission, 'origin' | 'model_id'> & {
  dataset: Pick<Submission['dataset'], 'sha256'>;
};

/** Returns the first part of a submission's file names: a hash of service, model and dataset, in 32 hex digits. */
export function bytesKeyOf({ origin, model_id, dataset: { sha256 } }: SameDataset): string {
  return createHash('sha256')
    .update(JSON.stringify([origin, model_id, sha256]))
    .digest('hex')
    .slice(0, 32);
}

/** Returns the submissions to an origin: the account's own first, newest first. */
export function submissionsTo(
  records: readonly Submission[],
  { accountId, origin }: Pick<Submission, 'accountId' | 'origin'>,
): Submission[] {
  return records
    .filter((submission) => submission.origin === origin)
    .sort(
      (one, other) =>
        Number(other.accountId === accountId) - Number(one.accountId === accountId) ||
        other.created.localMs - one.created.localMs,
    );
}

/** Returns from when it may have been sent, by the service's clock; undefined if unknown. */
export function serviceStartMs({ created, attempts }: Submission): number | undefined {
  const known = [created, attempts[0]?.started].flatMap((one) => one?.serviceMs ?? []);
  return known.length === 0 ? undefined : Math.min(...known);
}

/**
 * Creates a submission with its own multipart boundary, and without attempts.
 * @param draft with its own Idempotency-Key
 * @param created now, by all clocks that are known
 */
export function newSubmission(
  account: Account,
  draft: Draft & Pick<Submission, 'id'>,
  key: Pick<Submission, 'keyId' | 'keyCheck'>,
  created: Moment,
): Submission {
  return {
    version: 1,
    boundary: `----FineTuning${randomBytes(18).toString('hex')}`,
    accountId: account.id,
    origin: serviceOf(account),
    ...key,
    created,
    ...draft,
    stage: 'draft',
    attempts: [],
  };
}
