import type { CallOptions, Client } from '../api/client.ts';
import { isUnauthorized } from '../api/errors.ts';
import type { RunDetail, RunSummary } from '../api/types.ts';
import { type Clock, instantOf } from '../base/clock.ts';
import { throwIfCancelled } from '../base/errors.ts';
import { foldText } from '../base/plainText.ts';
import { hasMarker, markerOf, mayHaveMarker } from '../runs/marker.ts';
import type { RunStore } from '../runs/runStore.ts';
import type { Session } from '../runs/session.ts';
import { localMoment, withService } from './moments.ts';
import { creationOf, submissionOfLabel } from './ownRuns.ts';
import type { CheckResult } from './pendingSubmission.ts';
import { explainsBalance } from './receipts.ts';
import {
  isBalanceDecisive,
  isFromThen,
  lastSendMs,
  mayBeCopy,
  MARGIN_MS,
  PRICING_MS,
  withObservation,
} from './reconcilePolicy.ts';
import { whyUncertain } from './stage.ts';
import {
  isCharged,
  isRunOf,
  isSent,
  serviceStartMs,
  type Submission,
  type Observation,
} from './submission.ts';

/** Whether the last check found runs that the previous check had not. */
export function hasNewCandidates(before: Submission, after: Submission): boolean {
  const known = before.lastCheck?.candidates ?? [];
  return after.lastCheck?.candidates.some((runId) => !known.includes(runId)) ?? false;
}

const PAGE_SIZE = 100;
const MAX_PAGES = 20;
const MAX_DETAILS = 300;
/** How many details are read at once. */
const BATCH = 4;

interface Found {
  /** The first run with the marker. */
  match: RunDetail | undefined;
  /** More runs with the marker: the service created several for one Idempotency-Key. */
  further: RunDetail[];
  /** Runs that could be this one, newest first. */
  candidates: RunDetail[];
  /** Whether every run that could be this one was listed and read. */
  isComplete: boolean;
  seen: Observation;
}

/** What a search for a run knows, and what it may send. */
export interface FindOptions {
  /**
   * The submissions to this service. A run of another one isn't this one's, unless it has this one's marker: the user
   * may have recognized a run wrongly. Their charges may explain a lower balance.
   */
  records: readonly Submission[];
  /** The known details and labels; new ones are added. */
  runs: Pick<RunStore, 'acceptRead' | 'detail' | 'label'>;
  /** Given for an automatic check, whose first request is already counted. */
  quota?: Session['quota'] | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Searches for the run of a submission. Reads the runs since it was created, and their unknown details, since only
 * details have labels. If the last bytes may have left, reads the balance, too; an automatic check only if it decides.
 * @throws ApiError if the list cannot be read, CancelledError
 */
export async function findRun(
  client: Client,
  submission: Submission,
  clock: Clock,
  { records, runs, quota, signal }: FindOptions,
): Promise<Found> {
  const isBackground = quota !== undefined;
  const how = { isBackground, isUrgent: !isBackground, ...(signal !== undefined && { signal }) };
  const others = records.filter(({ id }) => id !== submission.id);
  const known = [submission, ...others];
  const receipts = others.filter(isCharged);
  const isClaimed = (runId: string) => receipts.some((one) => isRunOf(one, runId));
  const started = localMoment(clock);
  const listed = await listSince(client, submission, how, quota);
  // The skew comes from a response of this check, so this is its start by the service's clock.
  const at = withService(started, client.clockSkewMs);
  const rows = listed.rows.filter((row) => isWorthReading(submission, row, runs));
  let complete = listed.complete && rows.length <= MAX_DETAILS;
  const matches: RunDetail[] = [];
  const candidates: RunDetail[] = [];
  for (let start = 0; start < Math.min(rows.length, MAX_DETAILS); start += BATCH) {
    throwIfCancelled(signal);
    const batch = rows.slice(start, Math.min(start + BATCH, MAX_DETAILS));
    const details = await Promise.allSettled(
      batch.map(({ run_id }) => {
        const known = runs.detail(run_id);
        // When the user checks, a run without a label is read again: the service may have added it.
        if (known !== undefined && (known.label || quota !== undefined)) return Promise.resolve(known);
        quota?.recordExtra();
        return client.getRun(run_id, how).then((detail) => {
          if (detail.run_id === run_id) runs.acceptRead(detail);
          return detail;
        });
      }),
    );
    for (const [index, detail] of details.entries()) {
      if (detail.status === 'rejected') {
        rethrowUnauthorized(detail.reason);
        complete = false;
        continue;
      }
      const run = detail.value;
      const owner = submissionOfLabel(known, run.label);
      if (owner === submission && !mayBeCopy(submission, run)) matches.push(run);
      else if (owner === submission) candidates.push(run);
      else if (owner === undefined && isCandidate(submission, batch[index], run) && !isClaimed(run.run_id))
        candidates.push(run);
    }
  }
  throwIfCancelled(signal);
  const seen: Observation = {
    at,
    complete,
    candidates: candidates.map(({ run_id }) => run_id),
    ...(client.keyId !== submission.keyId && { otherKey: true as const }),
  };
  const [match, ...later] = matches.reverse();
  const further = later.filter((run) => isFromThen(submission, run));
  const found = { match, further, candidates, isComplete: complete, seen };
  if (!isSent(submission)) return found;
  if (quota !== undefined && (match !== undefined || !isBalanceDecisive(submission, seen))) return found;
  quota?.recordExtra();
  // Read after the list, so that a charge made in between shows as a lower balance.
  const balance = await client.getBalance(how).catch(rethrowUnauthorized);
  if (balance === undefined) seen.complete = false;
  else {
    seen.balance_cents = balance.balance_cents;
    seen.currency = balance.currency;
    if (explainsBalance(submission, receipts, balance)) seen.explainedByReceipts = true;
  }
  return found;
}

/** The result of a look for a run. */
export interface Look {
  result: CheckResult;
  /** The submission with what was seen. */
  next: Submission;
  /** Whether everything that could be its run was listed and read, so that it would have been found. */
  isAnswered: boolean;
}

/** Judges what a search for a run found. */
export function lookOf(submission: Submission, { match, candidates, isComplete, seen }: Found): Look {
  // Another API key may belong to another account.
  const isSeen = isComplete && seen.otherKey === undefined;
  // Before the last bytes, without a marker, a possible run leaves the look unanswered.
  const isAnswered =
    isSeen && (isSent(submission) || submission.marker !== undefined || candidates.length === 0);
  const next = withObservation(submission, seen);
  if (match !== undefined)
    return { result: { verdict: 'charged', run: creationOf(match) }, next, isAnswered };
  const unanswered = seen.otherKey ? 'key-replaced' : isComplete ? 'candidates' : 'incomplete';
  const reason = whyUncertain(next)?.why ?? (isAnswered ? undefined : unanswered);
  const result: CheckResult =
    reason === undefined ? { verdict: 'not-charged' } : { verdict: 'cannot-tell', reason, candidates };
  return { result, next, isAnswered };
}

/** After a 401, the API key must not be used again. @throws the error then */
function rethrowUnauthorized(error: unknown): undefined {
  if (isUnauthorized(error)) throw error;
  return undefined;
}

/**
 * Lists the runs since shortly before the submission was created by the service's clock; all if that is unknown.
 */
async function listSince(
  client: Client,
  submission: Submission,
  how: CallOptions,
  quota: Session['quota'] | undefined,
): Promise<{ rows: RunSummary[]; complete: boolean }> {
  const sinceMs = (serviceStartMs(submission) ?? -Infinity) - MARGIN_MS;
  const rows: RunSummary[] = [];
  let complete = true;
  let cursor: string | undefined;
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await client.listRuns({ limit: PAGE_SIZE, cursor }, how);
    if (page.skipped > 0) complete = false;
    rows.push(...page.data.filter((row) => !isBefore(row, sinceMs)));
    const last = page.data.at(-1);
    const isOver = last !== undefined && isBefore(last, sinceMs);
    if (!page.has_more || isOver) return { rows, complete };
    // The page says that there are more, but has no cursor.
    if (page.next_cursor === undefined) return { rows, complete: false };
    cursor = page.next_cursor;
    quota?.recordExtra();
  }
  return { rows, complete: false };
}

/** A run without a valid time could be from any time. */
function isBefore(row: RunSummary, timeMs: number): boolean {
  return instantOf(row.created_at) < timeMs;
}

/**
 * Whether the details of a listed run must be read. With a marker those of every run, because the service may rename
 * the model. A known label may rule a run out, since labels never change.
 */
function isWorthReading(submission: Submission, row: RunSummary, runs: Pick<RunStore, 'label'>): boolean {
  const label = runs.label(row.run_id);
  const isMarked = submission.marker !== undefined && hasMarker(label ?? '', submission.marker);
  const isOurs = isMarked || isChangedLabel(submission, label ?? '') || isLikeLabel(submission, label ?? '');
  if (label !== undefined && label !== '' && !isOurs) return false;
  return (
    submission.marker !== undefined || (row.model_id === submission.model_id && !isAfterAll(submission, row))
  );
}

/**
 * Whether a run was created too late to be from any attempt. Never if no last bytes left: the storage may have been set
 * back to before a later attempt.
 */
function isAfterAll(submission: Submission, row: RunSummary): boolean {
  const lastMs = isSent(submission) ? lastSendMs(submission) : undefined;
  return lastMs !== undefined && instantOf(row.created_at) > lastMs + PRICING_MS + MARGIN_MS;
}

/**
 * Whether a run that belongs to no record could be the submission's: its label is missing or was changed. Without a
 * marker: its label is the same.
 */
function isCandidate(
  submission: Submission,
  row: RunSummary | undefined,
  { label = '', model_id }: RunDetail,
): boolean {
  if (row !== undefined && isAfterAll(submission, row)) return false;
  if (isChangedLabel(submission, label)) return true;
  return model_id === submission.model_id && isLikeLabel(submission, label);
}

/** Whether the service may have dropped the submission's label, or changed the text around its marker. */
function isChangedLabel({ marker }: Submission, label: string): boolean {
  if (marker === undefined || label === '') return marker !== undefined;
  return markerOf(label) === undefined && mayHaveMarker(label, marker);
}

/** Whether a label is the submission's, perhaps truncated by the service. */
function isLikeLabel(submission: Submission, label: string): boolean {
  const sent = foldText(submission.label ?? '');
  const found = foldText(label);
  // Truncation may leave an ellipsis or half of a character at the end.
  const start = found.replace(/(?<![\s.\ufffd])[\s.\ufffd]+$/, '');
  return found === sent || (start !== '' && sent.startsWith(start));
}
