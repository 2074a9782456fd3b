// A service and storage that discards any upload, and sends artifacts of any size from `/blob/<bytes>`, where the run's ID is the
// size. `server <bytes per second>`
import { randomFillSync } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Limit of unused bytes, so that the sender cannot make up for a pause. */
const BURST_BYTES = 1_000_000;
/** Sent repeatedly, so that the figures do not include generating bytes. */
const block = randomFillSync(Buffer.allocUnsafeSlow(1024 * 1024));
const bytesPerSecond = Number(process.argv[2]);

/** Limits the speed of an upload from its first byte. */
function limit(request: IncomingMessage): void {
  let tokens = 0;
  let lastMs = performance.now();
  request.on('data', (chunk: Buffer) => {
    const nowMs = performance.now();
    tokens = Math.min(BURST_BYTES, tokens + ((nowMs - lastMs) / 1000) * bytesPerSecond) - chunk.length;
    lastMs = nowMs;
    if (tokens >= 0) return;
    request.pause();
    setTimeout(() => request.resume(), (-tokens / bytesPerSecond) * 1000);
  });
}

function send(response: ServerResponse, bytes: number): void {
  response.writeHead(200, { 'content-length': bytes, etag: `"${bytes}"` });
  let left = bytes;
  const go = (): void => {
    while (left > 0) {
      const piece = block.subarray(0, Math.min(left, block.length));
      left -= piece.length;
      if (response.write(piece)) continue;
      response.once('drain', go);
      return;
    }
    response.end();
  };
  go();
}

function answerOf(url: string, host: string): unknown {
  const [, runId] = /\/runs\/(\d+)\//.exec(url) ?? [];
  if (runId === undefined) return { run_id: 'r', status: 'queued', balance_cents: 1, currency: 'USD' };
  const blob = `http://${host}/blob/${runId}`;
  return { artifacts: [{ artifact_type: 'model', url: blob, expires_in: 1800, filename: 'adapter.zip' }] };
}

const server = createServer((request, response) => {
  const { method, url = '', headers } = request;
  const [, bytes] = /^\/blob\/(\d+)$/.exec(url) ?? [];
  if (bytes !== undefined) {
    send(response, Number(bytes));
    return;
  }
  if (bytesPerSecond < Infinity) limit(request);
  const isRun = method === 'POST' && url.endsWith('/runs');
  request.resume().on('end', () => {
    response.writeHead(isRun ? 201 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answerOf(url, headers.host ?? '')));
  });
});
server.requestTimeout = 0;
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
