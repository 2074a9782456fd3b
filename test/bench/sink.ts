// A process of its own that takes any upload, throws it away and answers as the service does: `sink [bytes per second]`.
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What may be taken at once after nothing came: no more, so that a pause of the sender is lost for good. */
const BURST_BYTES = 1_000_000;

const bytesPerSecond = Number(process.argv[2] ?? Infinity);

/** Takes no more than so many bytes a second, from the first one on. */
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

const server = createServer((request, response) => {
  if (bytesPerSecond < Infinity) limit(request);
  request.resume().on('end', () => {
    response.writeHead(201, { 'content-type': 'application/json' }).end('{"run_id":"r","status":"queued"}');
  });
});
server.requestTimeout = 0;
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
