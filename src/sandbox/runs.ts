import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, type RunDetail, type RunSummary } from '../core/api/types.ts';
import { invalid, jsonReply, refuse, type Reply } from './server.ts';
import type { Position, RunRow, Service, Timeline } from './service.ts';

/** A wire type with every field provided. Fields that don't apply yet are null if the contract allows it. */
type Complete<T> = { [K in keyof T]-?: T[K] | null };

/**
 * GET /runs, newest first. A cursor is a position between runs, so new runs don't shift pages.
 * @throws RefusedRequest
 */
export function replyRuns({ store, now }: Service, query: URLSearchParams): Reply {
  const limit = readLimit(query);
  const after = readCursor(query);
  // Read one more than requested to see whether there is another page.
  const rows = store.pageOfRuns(after, limit + 1);
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const hasMore = rows.length > limit;
  const at = now();
  return jsonReply(200, {
    data: page.map((run) => summary(run, at)),
    next_cursor: hasMore && last ? writeCursor(last) : null,
    has_more: hasMore,
  });
}

/** GET /runs/{run_id}. @throws RefusedRequest `not_found` */
export function replyRun({ store, now }: Service, runId: string): Reply {
  const run = store.findRun(runId);
  if (!run) throw refuse('not_found', 'There is no such run.');
  return jsonReply(200, { run: detail(run, now()) });
}

function summary(run: RunRow, now: number): Complete<RunSummary> {
  return {
    run_id: run.run_id,
    status: statusInList(run, now),
    model_id: run.model_id,
    created_at: isoTime(run.created_at),
    artifacts_available: artifactsAvailable(run, now),
    artifacts_expires_at: isoTime(artifactsExpireAt(run, now)),
  };
}

function detail(run: RunRow, now: number): Complete<RunDetail> {
  return {
    run_id: run.run_id,
    // The detail says `completed`, the list `complete`.
    status: isCompleted(run, now) ? 'completed' : statusInList(run, now),
    model_id: run.model_id,
    label: run.label,
    plan: run.plan,
    price_cents: run.price_cents,
    created_at: isoTime(run.created_at),
    started_at: now >= run.starts_at ? isoTime(run.starts_at) : null,
    completed_at: isCompleted(run, now) ? isoTime(run.completes_at) : null,
  };
}

function isoTime(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

/** Reads the page size from `?limit=`. @throws RefusedRequest */
function readLimit(query: URLSearchParams): number {
  const [text = String(DEFAULT_PAGE_SIZE), ...others] = query.getAll('limit');
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (others.length > 0 || limit < 1 || limit > MAX_PAGE_SIZE)
    throw invalid(`limit is not a whole number from 1 to ${MAX_PAGE_SIZE}.`);
  return limit;
}

function writeCursor({ created_at, sequence }: Position): string {
  return Buffer.from(`${created_at}.${sequence}`).toString('base64url');
}

function readCursor(query: URLSearchParams): Position | undefined {
  const [cursor, ...others] = query.getAll('cursor');
  if (cursor === undefined) return undefined;
  const [, createdAt, sequence] =
    /^(\d{1,15})\.(\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  const position = { created_at: Number(createdAt), sequence: Number(sequence) };
  // Base64 allows several spellings of the same bytes; only the issued one is a valid cursor.
  if (others.length > 0 || writeCursor(position) !== cursor)
    throw invalid('The cursor is not one of this list.');
  return position;
}

const QUEUED_MS = 60_000;
const PRIORITY_QUEUED_MS = 10_000;
const RUNNING_MS = 300_000;
const RUNNING_MS_PER_MB = 1_000;

/** How long artifacts can be downloaded after completion, in real time: the speed does not shorten it. */
const ARTIFACT_RETENTION_MS = 7 * 24 * 60 * 60 * 1000;
/** Slightly more than the two hours before expiry at which the user is reminded. */
const SHORT_RETENTION_MS = 2 * 60 * 60 * 1000 + 30_000;

/** Plans a new run. Its progress depends only on the clock and continues while no sandbox is running. */
export function planRun(createdAt: number, datasetBytes: number, priority: boolean, speed: number) {
  const queuedMs = priority ? PRIORITY_QUEUED_MS : QUEUED_MS;
  const runningMs = RUNNING_MS + (datasetBytes / 1_000_000) * RUNNING_MS_PER_MB;
  return {
    created_at: createdAt,
    starts_at: Math.round(createdAt + queuedMs / speed),
    completes_at: Math.round(createdAt + (queuedMs + runningMs) / speed),
  };
}

/** Whether the run has succeeded; only then does it have artifacts and a completion time. */
function isCompleted(run: Timeline, now: number): boolean {
  return now >= run.completes_at && run.course !== 'failed-run';
}

/** When the artifacts stop being available, or null before completion. */
function artifactsExpireAt(run: Timeline, now: number): number | null {
  if (!isCompleted(run, now)) return null;
  return run.completes_at + (run.course === 'short-retention' ? SHORT_RETENTION_MS : ARTIFACT_RETENTION_MS);
}

/** Whether artifacts can be downloaded now (spec: "States and transitions", the rule at the end). */
export function artifactsAvailable(run: Timeline, now: number): boolean {
  const expiresAt = artifactsExpireAt(run, now);
  return expiresAt !== null && now < expiresAt;
}

/**
 * Returns the status as spelled in the run list. The contract names only `queued` and `complete`: `running` and
 * `failed` are the sandbox's own.
 */
function statusInList(run: Timeline, now: number): string {
  if (now >= run.completes_at) return run.course === 'failed-run' ? 'failed' : 'complete';
  return now < run.starts_at ? 'queued' : 'running';
}
