import { isUtf8 } from 'node:buffer';
import { randomBytes, randomUUID } from 'node:crypto';
import { lstat, readFile } from 'node:fs/promises';
import path from 'node:path';
import * as v from 'valibot';
import { placeOf, type Account } from '../accounts/account.ts';
import { IDEMPOTENCY_WINDOW_MS } from '../api/types.ts';
import type { Clock } from '../base/clock.ts';
import { isMissing } from '../base/diskError.ts';

const text = v.pipe(v.string(), v.nonEmpty());
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const time = v.pipe(v.number(), v.finite());

/**
 * A moment by this machine's clock, which anybody may set; by its monotonic one; and, where an answer had a `Date`, by the
 * service's. Only the latter two are compared.
 */
const moment = v.object({ localMs: time, monotonicMs: v.optional(time), serviceMs: v.optional(time) });

const attempt = v.object({
  started: moment,
  /** Durable before the closing boundary leaves: from here on it may have been charged. */
  closed: v.optional(moment),
  /** Missing while it is in progress, and after a crash. */
  ended: v.optional(moment),
  /** How it ended without a run: a code of ours or of the contract, for messages and the log. */
  code: v.optional(v.string()),
  httpStatus: v.optional(v.number()),
  /** Nothing is sent before this moment, as the service asked (Retry-After). */
  notBefore: v.optional(moment),
});

const observation = v.object({
  at: moment,
  /** Whether every run that could be this one was listed and read, and the balance too. */
  complete: v.boolean(),
  /** Runs that could be this one. */
  candidates: v.array(v.string()),
  balance_cents: v.optional(v.number()),
  /** Whether it was made with another API key than the last attempt: that may be one of another account of the service. */
  otherKey: v.optional(v.literal(true)),
});

/** Text of the service, cut: a receipt is small, however long it was. */
const said = v.pipe(
  v.string(),
  v.transform((words) => words.slice(0, 200)),
);

const run = v.object({
  run_id: v.pipe(said, v.nonEmpty()),
  status: v.optional(said),
  price_cents: v.optional(v.number()),
  currency: v.optional(said),
  balance_after_cents: v.optional(v.number()),
  plan_name: v.optional(said),
});

const settlement = v.variant('kind', [
  /** `how`: the service answered, the marker was found, or the user recognized the run. */
  v.object({
    kind: v.literal('charged'),
    at: moment,
    run,
    how: v.picklist(['answered', 'found', 'recognised']),
  }),
  v.object({ kind: v.literal('not-charged'), at: moment, code: v.optional(v.string()) }),
  /** The user gave it up without knowing whether it was charged. */
  v.object({ kind: v.literal('discarded'), at: moment }),
]);

/** What a file of the journal holds. */
export const intentSchema = v.object({
  version: v.literal(1),
  /** The Idempotency-Key of every attempt, and the name of the file. */
  id: v.pipe(v.string(), v.uuid()),
  /** The multipart boundary of every attempt. */
  boundary: text,
  accountId: text,
  /** The account's origin; `sandbox` for the sandbox, whose address is another one at each start. */
  origin: text,
  /** Which of the account's API keys it was last sent with: a random id, not derived from the API key. */
  keyId: v.optional(v.string()),
  created: moment,
  dataset: v.object({
    path: text,
    filename: text,
    sizeBytes: count,
    sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
    /** When it was last written; not known to earlier versions. */
    mtimeMs: v.optional(time),
    /** When anything of the file last changed: a copy may have the other time. */
    ctimeMs: v.optional(time),
    /** Missing where the file was not checked. */
    rows: v.optional(count),
    /** The same; Unicode characters, line ends included. */
    characters: v.optional(count),
  }),
  model_id: text,
  /** As it is sent, the marker included. */
  label: v.optional(v.string()),
  /** A part of the label, by which the run is found. */
  marker: v.optional(v.string()),
  priority_processing: v.boolean(),
  /** What the user accepted, when (ISO 8601), and the addresses that were shown. */
  consents: v.object({
    model_terms: v.object({ accepted_at: text, urls: v.array(v.string()) }),
    data_policy: v.object({ accepted_at: text }),
  }),
  /** Before the first attempt. */
  balanceBefore: v.optional(v.object({ balance_cents: v.number(), currency: said })),
  attempts: v.array(attempt),
  /** The first check since the last attempt that was complete and found nothing; every other result removes it. */
  firstCleanLook: v.optional(observation),
  lastLook: v.optional(observation),
  /** Refused before anything could be charged: what is left is a draft, to be continued with another Idempotency-Key. */
  refused: v.optional(v.object({ at: moment, code: v.string(), httpStatus: v.optional(v.number()) })),
  /** Missing while it is open; afterwards this is a receipt. */
  settled: v.optional(settlement),
});

/** One wish to train: one Idempotency-Key, one or more attempts with the same bytes. It holds no API key and no row. */
export type Intent = v.InferOutput<typeof intentSchema>;
export type Attempt = Intent['attempts'][number];
/** What one check of runs and balance saw. */
export type Observation = NonNullable<Intent['lastLook']>;
export type Moment = Intent['created'];
export type Settlement = NonNullable<Intent['settled']>;
/** A settled intent. */
export type Receipt = Intent & { settled: Settlement };
/** The receipt of a run. */
export type ChargedReceipt = Receipt & { settled: Extract<Settlement, { kind: 'charged' }> };

/** What the user chose and consented to. */
export type Draft = Pick<
  Intent,
  'dataset' | 'model_id' | 'label' | 'marker' | 'priority_processing' | 'consents' | 'balanceBefore'
>;

/** After this nothing is sent again with an Idempotency-Key: the service knows it for 24 hours (spec: "Limits"). */
export const RESEND_MS = IDEMPOTENCY_WINDOW_MS - 60 * 60_000;

/** Whether an attempt has released its closing boundary, and was not the one that the service refused: from then on it may have been charged. */
export function mayBeCharged({ attempts, refused }: Intent): boolean {
  return refused === undefined && attempts.some(({ closed }) => closed !== undefined);
}

export function isSettled(intent: Intent): intent is Receipt {
  return intent.settled !== undefined;
}

export function isCharged(receipt: Receipt): receipt is ChargedReceipt {
  return receipt.settled.kind === 'charged';
}

/** The receipts of what was charged to an account. */
export function chargedReceiptsOf(receipts: readonly Receipt[], accountId: string): ChargedReceipt[] {
  return receipts.filter(isCharged).filter((receipt) => receipt.accountId === accountId);
}

/** The same bytes and model at one service: only one may be open. */
export type Wish = Pick<Intent, 'origin' | 'model_id'> & { dataset: Pick<Intent['dataset'], 'sha256'> };

/**
 * Whether two are the same wish, of whichever accounts: two of this machine may be one account of the service, which does not say
 * who one is, and each sign-in can make another account.
 */
export function isSameWish(one: Wish, other: Wish): boolean {
  return (
    one.origin === other.origin &&
    one.model_id === other.model_id &&
    one.dataset.sha256 === other.dataset.sha256
  );
}

/** A wish that nothing is done for yet: its own Idempotency-Key and boundary. */
export function newIntent(account: Account, draft: Draft, clock: Clock): Intent {
  return {
    version: 1,
    id: randomUUID(),
    boundary: `----FineTuning${randomBytes(18).toString('hex')}`,
    accountId: account.id,
    origin: placeOf(account),
    created: { localMs: clock.nowMs() },
    ...draft,
    attempts: [],
  };
}

/** An intent is a few kilobytes: what is larger is not ours. */
const MAX_BYTES = 1024 * 1024;

const versionSchema = v.object({ version: v.pipe(v.number(), v.integer(), v.minValue(2)) });
const openWishSchema = v.object({
  origin: v.string(),
  model_id: v.string(),
  dataset: v.object({ sha256: v.string() }),
  refused: v.optional(v.undefined()),
  settled: v.optional(v.undefined()),
});

/** What a file of the journal turned out to be. `later`: written by a later version of the extension. */
type JournalFile =
  | { kind: 'intent'; intent: Intent }
  | { kind: 'gone' }
  | { kind: 'foreign' }
  | { kind: 'later'; wish: Wish | undefined };

/**
 * Reads one file of the journal, whose name must be its intent's.
 * @throws what the file system says where it could not be read: then nothing is known of what it holds
 */
export async function readJournalFile(file: string): Promise<JournalFile> {
  let bytes: Buffer;
  try {
    const stats = await lstat(file);
    // Whoever opens a pipe waits for its other end.
    if (!stats.isFile() || stats.size > MAX_BYTES) return { kind: 'foreign' };
    bytes = await readFile(file);
  } catch (error) {
    if (isMissing(error)) return { kind: 'gone' };
    throw error;
  }
  let value: unknown;
  try {
    value = isUtf8(bytes) ? JSON.parse(bytes.toString()) : undefined;
  } catch {
    return { kind: 'foreign' };
  }
  if (v.is(versionSchema, value)) {
    const wish = v.safeParse(openWishSchema, value);
    return { kind: 'later', wish: wish.success ? wish.output : undefined };
  }
  const intent = v.safeParse(intentSchema, value);
  if (!intent.success || `${intent.output.id}.json` !== path.basename(file)) return { kind: 'foreign' };
  return { kind: 'intent', intent: intent.output };
}

/**
 * The text of an intent's file, and the intent as it will be read from it.
 * @throws ValiError, RangeError where it could not be read again
 */
export function intentText(intent: Intent): { text: string; intent: Intent } {
  // What the service sent beside the fields of the contract could be anything: it is not stored.
  const asRead = v.parse(intentSchema, JSON.parse(JSON.stringify(intent)));
  const text = `${JSON.stringify(asRead, null, 2)}\n`;
  if (Buffer.byteLength(text) > MAX_BYTES) throw new RangeError('the intent is too large for its file');
  return { text, intent: asRead };
}
