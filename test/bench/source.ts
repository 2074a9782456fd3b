// A process of its own that gives out artifacts of any size as service and storage do: `/blob/<bytes>`; a run's id is its size.
import { randomFillSync } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Sent again and again: what it costs to make the bytes is no part of the figures. */
const block = randomFillSync(Buffer.allocUnsafeSlow(1024 * 1024));

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

const server = createServer((request, response) => {
  const [, bytes] = /^\/blob\/(\d+)$/.exec(request.url ?? '') ?? [];
  if (bytes !== undefined) {
    send(response, Number(bytes));
    return;
  }
  const [, runId] = /\/runs\/(\d+)\//.exec(request.url ?? '') ?? [];
  const url = `http://${request.headers.host}/blob/${runId}`;
  const artifact = { artifact_type: 'model', url, expires_in: 1800, filename: 'adapter.zip' };
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ artifacts: [artifact] }));
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
