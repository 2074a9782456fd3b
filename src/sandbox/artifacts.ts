import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Artifact } from '../core/api/types.ts';
import { archiveName, buildArchive } from './adapterArchive.ts';
import { artifactsAvailable } from './runs.ts';
import { jsonReply, RefusedRequest, refuse, type Reply } from './server.ts';
import type { RunRow, Service } from './service.ts';

/** POST /runs/{run_id}/artifacts/download. @throws RefusedRequest `not_found`, also before completion and after expiry */
export function offerArtifacts(service: Service, runId: string): Reply {
  findWithArtifacts(service, runId);
  const { now, apiKey, baseUrl } = service;
  const expires = Math.floor(now() / 1000) + URL_LIFETIME_S;
  const filename = archiveName(runId);
  const query = `expires=${expires}&signature=${signature(apiKey, runId, filename, expires)}`;
  const url = `${baseUrl}/artifacts/${runId}/${filename}?${query}`;
  const artifact: Artifact = { artifact_type: 'model', url, expires_in: URL_LIFETIME_S, filename };
  return jsonReply(200, { artifacts: [artifact] });
}

/** GET of a signed URL: returns the archive or its rest. @throws RefusedRequest */
export async function sendArtifact(
  service: Service,
  { headers }: IncomingMessage,
  [runId, filename]: [runId: string, filename: string],
  query: URLSearchParams,
): Promise<Reply> {
  const { store, everyOther, now, apiKey } = service;
  const expires = Number(query.get('expires'));
  const expected = Buffer.from(signature(apiKey, runId, filename, expires));
  const given = Buffer.from(query.get('signature') ?? '');
  const isRight = given.length === expected.length && timingSafeEqual(given, expected);
  const isInTime = now() < expires * 1000;
  if (!isRight || !isInTime)
    throw new RefusedRequest(403, 'url_expired', 'The download address is expired or not valid.');
  const run = findWithArtifacts(service, runId);
  const reply = archiveReply(await buildArchive(run.run_id, run.model_id), filename, headers);
  const cut = store.account.scenario === 'cut-download' && everyOther.strikes(`download ${runId}`);
  return cut ? { ...reply, fault: 'cut-in-half' } : reply;
}

/** Returns the archive, or the rest that a range `bytes=N-` asks for. Ignores other ranges (RFC 9110, 14.2). */
function archiveReply(
  archive: Buffer,
  filename: string,
  { range, 'if-range': ifRange }: IncomingHttpHeaders,
) {
  const etag = `"${createHash('sha256').update(archive).digest('hex')}"`;
  const headers = {
    'content-type': 'application/zip',
    'content-disposition': `attachment; filename="${filename}"`,
    'cache-control': 'private, no-store',
    'accept-ranges': 'bytes',
    etag,
  };
  // With an If-Range other than this strong ETag, the client has other bytes and gets the complete file.
  const isSame = ifRange === undefined || ifRange === etag;
  const [, from] = /^bytes=(\d{1,15})-$/i.exec(range ?? '') ?? [];
  if (from === undefined || !isSame) return { status: 200, headers, body: archive };
  const first = Number(from);
  if (first >= archive.length) {
    const contentRange = { 'content-range': `bytes */${archive.length}` };
    throw new RefusedRequest(416, 'validation_failed', 'The archive has no such bytes.', contentRange);
  }
  return {
    status: 206,
    headers: { ...headers, 'content-range': `bytes ${first}-${archive.length - 1}/${archive.length}` },
    body: archive.subarray(first),
  };
}

/** @throws RefusedRequest `not_found` unless the run has artifacts now */
function findWithArtifacts({ store, now }: Service, runId: string): RunRow {
  const run = store.findRun(runId);
  if (!run || !artifactsAvailable(run, now()))
    throw refuse('not_found', 'There is no such run with artifacts.');
  return run;
}

/** Lifetime of a signed URL (spec: "Limits"). */
const URL_LIFETIME_S = 1800;

/**
 * Signs a download URL, with this server's API key as the secret. `expires` is in seconds since 1970. A signature
 * grants access, so it must never be logged.
 */
function signature(apiKey: string, runId: string, filename: string, expires: number): string {
  return createHmac('sha256', apiKey)
    .update(JSON.stringify([runId, filename, expires]))
    .digest('hex');
}
