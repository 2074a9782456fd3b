import type { Run, Verdict } from './books.ts';
import type { HostileService } from './hostileService.ts';

/** What the service says to a GET. */
export function answerRead({ books, options }: HostileService, url: string): Verdict {
  const { pathname, searchParams } = new URL(url, 'http://service.test');
  if (pathname === '/api/v1/balance')
    return ok({ balance_cents: books.balanceCents, currency: books.currency });
  if (pathname === '/api/v1/models') return ok({ data: [] });
  if (pathname === '/api/v1/runs')
    return listRuns(visible(books.runs, options), searchParams, options.pageRows);
  const [, runId] = /^\/api\/v1\/runs\/([^/]+)$/.exec(pathname) ?? [];
  const run = books.runs.find((one) => one.runId === runId);
  if (run === undefined)
    return { status: 404, body: { error: { code: 'not_found', message: 'no such run' } } };
  return ok({
    run: {
      ...summary(run),
      ...(run.label !== undefined && { label: run.label }),
      plan: 'standard',
      price_cents: run.priceCents,
    },
  });
}

function visible(runs: readonly Run[], { listLagMs = 0, clock }: HostileService['options']): Run[] {
  return runs.filter(({ createdMs }) => createdMs + listLagMs <= clock.nowMs).reverse();
}

/** Newest first; the cursor names the last run of a page, so that new ones shift nothing. */
function listRuns(runs: readonly Run[], query: URLSearchParams, pageRows = 100): Verdict {
  const limit = Math.min(Number(query.get('limit') ?? 20), 100, pageRows);
  const cursor = query.get('cursor');
  const from =
    cursor === null
      ? 0
      : runs.findIndex(({ runId }) => Buffer.from(runId).toString('base64url') === cursor) + 1;
  const page = runs.slice(from, from + limit);
  const last = page.at(-1);
  const hasMore = last !== undefined && from + limit < runs.length;
  return ok({
    data: page.map(summary),
    has_more: hasMore,
    next_cursor: hasMore ? Buffer.from(last.runId).toString('base64url') : null,
  });
}

function summary({ runId, modelId, createdMs }: Run): Record<string, unknown> {
  return {
    run_id: runId,
    status: 'queued',
    model_id: modelId,
    created_at: new Date(createdMs).toISOString(),
    artifacts_available: false,
    artifacts_expires_at: null,
  };
}

function ok(body: unknown): Verdict {
  return { status: 200, body };
}
