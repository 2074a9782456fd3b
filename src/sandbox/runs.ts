import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, type RunDetail, type RunSummary } from '../core/api/types.ts';
import * as lifecycle from './lifecycle.ts';
import { invalid, jsonReply, refuse, type Reply } from './server.ts';
import type { Position, RunRow, Service } from './service.ts';

/** Every field of a wire type is provided; what does not apply yet is null, where the contract leaves that open. */
type Complete<T> = { [K in keyof T]-?: T[K] | null };

/** GET /runs: newest first; a cursor is a place between runs, so that new runs move no page. @throws Refusal */
export function listRuns({ store, now }: Service, query: URLSearchParams): Reply {
  const limit = readLimit(query);
  const after = readCursor(query);
  // One more than asked for shows whether there are more.
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

/** GET /runs/{run_id}. @throws Refusal `not_found` */
export function showRun({ store, now }: Service, runId: string): Reply {
  const run = store.findRun(runId);
  if (!run) throw refuse('not_found', 'There is no such run.');
  return jsonReply(200, { run: detail(run, now()) });
}

function summary(run: RunRow, now: number): Complete<RunSummary> {
  return {
    run_id: run.run_id,
    status: lifecycle.statusInList(run, now),
    model_id: run.model_id,
    created_at: isoTime(run.created_at),
    artifacts_available: lifecycle.artifactsAvailable(run, now),
    artifacts_expires_at: isoTime(lifecycle.artifactsExpireAt(run, now)),
  };
}

function detail(run: RunRow, now: number): Complete<RunDetail> {
  return {
    run_id: run.run_id,
    // `completed` where the list says `complete`.
    status: lifecycle.isCompleted(run, now) ? 'completed' : lifecycle.statusInList(run, now),
    model_id: run.model_id,
    label: run.label,
    plan: run.plan,
    price_cents: run.price_cents,
    created_at: isoTime(run.created_at),
    started_at: now >= run.starts_at ? isoTime(run.starts_at) : null,
    completed_at: lifecycle.isCompleted(run, now) ? isoTime(run.completes_at) : null,
  };
}

function isoTime(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

function readLimit(query: URLSearchParams): number {
  const [text = String(DEFAULT_PAGE_SIZE), ...others] = query.getAll('limit');
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (others.length > 0 || limit < 1 || limit > MAX_PAGE_SIZE) {
    throw invalid(`limit is not a whole number from 1 to ${MAX_PAGE_SIZE}.`);
  }
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
  // Base64 has many spellings of the same bytes; only the one that was handed out is a cursor.
  if (others.length > 0 || writeCursor(position) !== cursor)
    throw invalid('The cursor is not one of this list.');
  return position;
}
