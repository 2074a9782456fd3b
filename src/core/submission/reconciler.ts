import type { Client } from '../api/client.ts';
import { isUnauthorized } from '../api/errors.ts';
import type { RunCreation, RunDetail, RunSummary } from '../api/types.ts';
import { type Clock, instantOf } from '../base/clock.ts';
import { throwIfCancelled } from '../base/errors.ts';
import { folded, hasMarker } from '../runs/marker.ts';
import type { Intent, Moment, Observation } from './intent.ts';
import { MARGIN_MS } from './nextStep.ts';
import {
  isCheckedAutomatically,
  lastSendMs,
  nextCheckAtMs,
  PRICING_MS,
  sinceSentMs,
  uncertaintyOf,
  type UncertaintyReason,
} from './reconcilePolicy.ts';

/** What a check of runs and balance says of a submission whose outcome was unknown. */
export type ReconcileResult =
  | { verdict: 'charged'; run: RunCreation }
  | { verdict: 'not-charged' }
  | {
      verdict: 'cannot-tell';
      reason: UncertaintyReason;
      /** The runs that could be this one, newest first. */
      candidates: readonly RunDetail[];
    };

/** How often checks are made that nobody asks for: soon for the first minutes, and when one may say more. */
const SOON_MS = 20_000;
const LATER_MS = 2 * 60_000;

/** The last check of an intent, also one that the service did not answer. */
export interface LastCheck {
  atMs: number;
  isAnswered: boolean;
}

/** Whether a check may say something new: at once after a start, soon while the service may be pricing, then less often. */
export function isCheckDue(intent: Intent, last: LastCheck | undefined, nowMs: number): boolean {
  const { localMs = 0 } = intent.attempts.at(-1)?.notBefore ?? {};
  if (localMs > nowMs) return false;
  if (last === undefined) return true;
  const sinceCheckMs = nowMs - last.atMs;
  const againAtMs = uncertaintyOf(intent) === 'too-early' ? nextCheckAtMs(intent) : undefined;
  if (againAtMs !== undefined && nowMs >= againAtMs) return sinceCheckMs >= SOON_MS;
  // Where nothing was seen, whoever was away or offline for hours wants to know as soon as the service answers.
  if (last.isAnswered && !isCheckedAutomatically(intent, nowMs)) return false;
  return sinceCheckMs >= (sinceSentMs(intent, nowMs) < LATER_MS ? SOON_MS : LATER_MS);
}

/** Whether the last check found runs that the check before had not. */
export function hasNewCandidates(before: Intent, after: Intent): boolean {
  const known = before.lastLook?.candidates ?? [];
  return after.lastLook?.candidates.some((runId) => !known.includes(runId)) ?? false;
}

const PAGE_SIZE = 100;
const MAX_PAGES = 20;
const MAX_DETAILS = 300;
/** Details are read so many at a time. */
const BATCH = 4;
/** No service cuts a label shorter than this. */
const CUT_LABEL_LENGTH = 16;

/** What a check found. */
interface Found {
  /** The run that holds the marker. */
  match: RunDetail | undefined;
  /** Runs that could be this one, newest first. */
  candidates: RunDetail[];
  seen: Observation;
}

/** Now, by this machine's clocks. */
export function localMoment(clock: Clock): Moment {
  return { localMs: clock.nowMs(), monotonicMs: Math.round(clock.monotonicMs()) };
}

/** Now, by all clocks as far as the client knows the service's. */
export function momentOf(client: Pick<Client, 'clockSkewMs'>, clock: Clock): Moment {
  return withService(localMoment(clock), client.clockSkewMs);
}

/**
 * Finds the run of an intent that may have been charged: the runs of its time, their details (only they hold the
 * label), then the balance. Nothing but reads.
 * @param isClaimed whether a run that does not hold the marker belongs to another intent
 * @throws ApiError when not even the list can be read, CancelledError
 */
export async function findRun(
  client: Client,
  intent: Intent,
  clock: Clock,
  isClaimed: (runId: string) => boolean,
  signal?: AbortSignal,
): Promise<Found> {
  const options = signal === undefined ? {} : { signal };
  const started = localMoment(clock);
  const listed = await listSince(client, intent, options);
  // The skew is that of an answer of this check: the time of its beginning, by the service's clock.
  const at = withService(started, client.clockSkewMs);
  const rows = listed.rows.filter((row) => isWorthReading(intent, row));
  let complete = listed.complete && rows.length <= MAX_DETAILS;
  let match: RunDetail | undefined;
  const candidates: RunDetail[] = [];
  for (let start = 0; start < Math.min(rows.length, MAX_DETAILS); start += BATCH) {
    throwIfCancelled(signal);
    const batch = rows.slice(start, Math.min(start + BATCH, MAX_DETAILS));
    const details = await Promise.allSettled(batch.map((row) => client.getRun(row.run_id, options)));
    for (const [index, detail] of details.entries()) {
      if (detail.status === 'rejected') {
        rethrowUnauthorized(detail.reason);
        complete = false;
      }
      // The last one is the oldest of them, should the service have made two of one Idempotency-Key.
      else if (isMarked(intent, detail.value)) match = detail.value;
      else if (isCandidate(intent, batch[index], detail.value) && !isClaimed(detail.value.run_id))
        candidates.push(detail.value);
    }
  }
  throwIfCancelled(signal);
  // After the list: a charge in between shows as a lower balance.
  const balance = await client.getBalance(options).catch(rethrowUnauthorized);
  const seen = {
    at,
    complete: complete && balance !== undefined,
    candidates: candidates.map(({ run_id }) => run_id),
    ...(balance !== undefined && { balance_cents: balance.balance_cents }),
    ...(client.keyId !== intent.keyId && { otherKey: true as const }),
  };
  return { match, candidates, seen };
}

function withService(moment: Moment, clockSkewMs: number | undefined): Moment {
  return clockSkewMs === undefined ? moment : { ...moment, serviceMs: moment.localMs + clockSkewMs };
}

/** After a 401 nothing more is sent with an API key. */
function rethrowUnauthorized(error: unknown): undefined {
  if (isUnauthorized(error)) throw error;
  return undefined;
}

/** What is known of a run's charge from its details; only the answer to the submission itself has plan and balance. */
export function creationOf({ run_id, status, price_cents, plan: plan_name }: RunDetail): RunCreation {
  return { run_id, status, price_cents, plan_name };
}

/** The runs since shortly before the first attempt, by the service's own times; without one, the newest page. */
async function listSince(
  client: Client,
  intent: Intent,
  options: { signal?: AbortSignal },
): Promise<{ rows: RunSummary[]; complete: boolean }> {
  const firstMs = intent.attempts[0]?.started.serviceMs;
  const sinceMs = firstMs === undefined ? undefined : firstMs - MARGIN_MS;
  const rows: RunSummary[] = [];
  let complete = sinceMs !== undefined;
  let cursor: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await client.listRuns({ limit: PAGE_SIZE, cursor }, options);
    if (page.skipped > 0) complete = false;
    rows.push(...page.data.filter((row) => sinceMs === undefined || !isBefore(row, sinceMs)));
    const last = page.data.at(-1);
    const isOver = last !== undefined && (sinceMs === undefined || isBefore(last, sinceMs));
    if (!page.has_more || isOver) return { rows, complete };
    // It says that there is more, and not where.
    if (page.next_cursor === undefined) return { rows, complete: false };
    cursor = page.next_cursor;
  }
  return { rows, complete: false };
}

/** A run without a time, or with none that can be read, could be of any. */
function isBefore(row: RunSummary, timeMs: number): boolean {
  return instantOf(row.created_at) < timeMs;
}

/** With a marker every run of the time is read: the service may call the model by another name. */
function isWorthReading(intent: Intent, row: RunSummary): boolean {
  return intent.marker !== undefined || (row.model_id === intent.model_id && !isAfterAll(intent, row));
}

/** Created later than any attempt could have been priced. */
function isAfterAll(intent: Intent, row: RunSummary): boolean {
  const lastMs = lastSendMs(intent);
  return lastMs !== undefined && instantOf(row.created_at) > lastMs + PRICING_MS + MARGIN_MS;
}

/** Whether a run's label holds the marker of an intent. */
export function isMarked({ marker }: Intent, { label = '' }: Pick<RunDetail, 'label'>): boolean {
  return marker !== undefined && hasMarker(label, marker);
}

/** Where a marker was sent, a run without a label, or with one that may have lost its end; otherwise one with the same label. */
function isCandidate(
  intent: Intent,
  row: RunSummary | undefined,
  { label = '', model_id }: RunDetail,
): boolean {
  if (row !== undefined && isAfterAll(intent, row)) return false;
  if (intent.marker !== undefined && label === '') return true;
  if (model_id !== intent.model_id) return false;
  const sent = folded(intent.label ?? '');
  const found = folded(label);
  // What a cut may leave at the end: an ellipsis, or half of a character.
  const start = found.replace(/(?<![\s.\ufffd])[\s.\ufffd]+$/, '');
  return found === sent || (start.length >= CUT_LABEL_LENGTH && sent.startsWith(start));
}
