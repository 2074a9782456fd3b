import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Artifact } from '../core/api/types.ts';
import { archiveName, buildArchive } from './adapterArchive.ts';
import { artifactsAvailable } from './runs.ts';
import { jsonReply, Refusal, refuse, type Reply } from './server.ts';
import type { RunRow, Service } from './service.ts';

/** An artifact type that only the sandbox has. */
const LOG_TYPE = 'training_log';

/** POST /runs/{run_id}/artifacts/download. @throws Refusal `not_found`, also before completion and after expiry */
export function offerArtifacts(service: Service, runId: string): Reply {
  const run = findWithArtifacts(service, runId);
  const { store, now, baseUrl } = service;
  const { scenario, signing_secret: secret } = store.account;
  const lifetimeS = scenario === 'expired-url' ? 0 : URL_LIFETIME_S;
  const expires = Math.floor(now() / 1000) + lifetimeS;
  const artifactOf = (type: string, filename: string): Required<Artifact> => {
    const query = `expires=${expires}&signature=${signature(secret, run.run_id, filename, expires)}`;
    const url = `${baseUrl}/artifacts/${run.run_id}/${filename}?${query}`;
    return { artifact_type: type, url, expires_in: URL_LIFETIME_S, filename };
  };
  const adapter = artifactOf('model', archiveName(run.run_id));
  // The contract shows only the type `model` (spec: "Artifact"), so a client must handle any other.
  const log = artifactOf(LOG_TYPE, logName(run.run_id));
  return jsonReply(200, {
    artifacts: scenario === 'several-artifacts' ? [log, adapter] : [adapter],
  });
}

/** GET and HEAD of a signed URL: returns the archive or a range of it. @throws Refusal */
export async function sendArtifact(
  service: Service,
  { method, headers }: IncomingMessage,
  [runId, filename]: [runId: string, filename: string],
  query: URLSearchParams,
): Promise<Reply> {
  const { store, everyOther, now } = service;
  const { scenario, signing_secret: secret } = store.account;
  const expires = Number(query.get('expires'));
  const expected = Buffer.from(signature(secret, runId, filename, expires));
  const given = Buffer.from(query.get('signature') ?? '');
  const isRight = given.length === expected.length && timingSafeEqual(given, expected);
  const isInTime = now() < expires * 1000;
  if (!isRight || !isInTime)
    throw new Refusal(403, 'url_expired', 'The download address is expired or not valid.');
  const run = findWithArtifacts(service, runId);
  const isLog = filename === logName(run.run_id);
  const file = isLog ? Buffer.from(trainingLog(run)) : await buildArchive(run.run_id, run.model_id);
  const reply = rangeReply(file, filename, method === 'GET' ? headers : {});
  if (method !== 'GET') return reply;
  if (scenario === 'slow-download') return { ...reply, fault: 'slow' };
  const cut = scenario === 'cut-download' && everyOther.strikes(`download ${runId}`);
  return cut ? { ...reply, fault: 'cut-in-half' } : reply;
}

function rangeReply(
  archive: Buffer,
  filename: string,
  { range: asked, 'if-range': ifRange }: IncomingHttpHeaders,
) {
  const etag = `"${createHash('sha256').update(archive).digest('hex')}"`;
  const headers = {
    'content-type': filename.endsWith('.zip') ? 'application/zip' : 'application/octet-stream',
    'content-disposition': `attachment; filename="${filename}"`,
    'cache-control': 'private, no-store',
    'accept-ranges': 'bytes',
    etag,
  };
  // With an If-Range other than this strong ETag, the client has other bytes and gets the complete file.
  const range = ifRange === undefined || ifRange === etag ? parseRange(asked, archive.length) : undefined;
  if (range === undefined) return { status: 200, headers, body: archive };
  if (range === 'unsatisfiable') {
    const contentRange = { 'content-range': `bytes */${archive.length}` };
    throw new Refusal(416, 'validation_failed', 'The archive has no such bytes.', contentRange);
  }
  const { first, last } = range;
  return {
    status: 206,
    headers: { ...headers, 'content-range': `bytes ${first}-${last}/${archive.length}` },
    body: archive.subarray(first, last + 1),
  };
}

function logName(runId: string): string {
  return `training-log-${runId.slice(0, 8)}.jsonl`;
}

function trainingLog(run: RunRow): string {
  return `${JSON.stringify({ run_id: run.run_id, note: 'Sandbox: nothing was trained.' })}\n`;
}

function findWithArtifacts({ store, now }: Service, runId: string): RunRow {
  const run = store.findRun(runId);
  if (!run || !artifactsAvailable(run, now()))
    throw refuse('not_found', 'There is no such run with artifacts.');
  return run;
}

/**
 * Reads a Range header with one range of a body of `length` bytes (RFC 9110, 14.2). `unsatisfiable` means 416;
 * undefined means that the header is absent or not understood, and is ignored.
 */
export function parseRange(
  header: string | undefined,
  length: number,
): { first: number; last: number } | 'unsatisfiable' | undefined {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(header ?? '') ?? [];
  if (!from && !to) return undefined;
  // "-500" means the last 500 bytes.
  const first = from ? Number(from) : Math.max(0, length - Number(to));
  const last = from && to ? Math.min(Number(to), length - 1) : length - 1;
  if (from && to && Number(to) < first) return undefined;
  return first > last ? 'unsatisfiable' : { first, last };
}

/** Lifetime of a signed URL (spec: "Limits"). */
const URL_LIFETIME_S = 1800;

/** Signs a download URL; `expires` is in seconds since 1970. A signature grants access, so it is never logged. */
function signature(secret: Uint8Array, runId: string, filename: string, expires: number): string {
  return createHmac('sha256', secret)
    .update(JSON.stringify([runId, filename, expires]))
    .digest('hex');
}
