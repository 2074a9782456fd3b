import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Refusal } from './errors.ts';

/** What an endpoint answers. Endpoints return it; only `sendReply` touches the connection. */
export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** A scenario's fault: the connection ends instead of the answer, or in the middle of its body, or that takes 20 s. */
  readonly fault?: 'no-answer' | 'cut-in-half' | 'slow';
}

/** An answer in JSON, as all of the API's are. */
export function jsonReply(status: number, value: unknown, headers: Record<string, string> = {}): Reply {
  return {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
    body: Buffer.from(JSON.stringify(value)),
  };
}

/** The error body (spec: "Errors"). */
export function refusalReply({ status, code, message, headers }: Refusal): Reply {
  return jsonReply(status, { error: { code, message } }, headers);
}

/** How long a client may go on sending a body that was already answered. */
const DRAIN_MS = 5_000;
const SLOW_PIECES = 40;
const SLOW_PIECE_MS = 500;

/** Sends the answer, also to a client that is still sending its request's body: it gets the time to read it. */
export async function sendReply(
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  now: number,
): Promise<void> {
  if (reply.fault === 'no-answer') {
    request.socket.destroy();
    return;
  }
  const early = isStillSending(request);
  response.writeHead(reply.status, {
    ...reply.headers,
    date: new Date(now).toUTCString(),
    'content-length': reply.body.length,
    ...(early && { connection: 'close' }),
  });
  if (request.method === 'HEAD') response.end();
  else if (reply.fault === 'cut-in-half') {
    const half = reply.body.subarray(0, Math.floor(reply.body.length / 2));
    response.write(half, () => request.socket.destroy());
  } else if (reply.fault === 'slow') await sendSlowly(response, reply.body);
  else if (early) {
    // Ending here would close the socket with bytes unread, and the reset could overtake the answer.
    response.write(reply.body);
    await drain(request);
    response.end();
  } else response.end(reply.body);
}

async function sendSlowly(response: ServerResponse, body: Buffer): Promise<void> {
  const pieceBytes = Math.ceil(body.length / SLOW_PIECES);
  for (let at = 0; at < body.length && !response.destroyed; at += pieceBytes) {
    response.write(body.subarray(at, at + pieceBytes));
    await delay(SLOW_PIECE_MS, undefined, { ref: false });
  }
  response.end();
}

function isStillSending(request: IncomingMessage): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
  return !request.complete && (encoding !== undefined || length !== '0');
}

/** Reads and drops the rest of the body; a client that does not come to its end loses the connection. */
async function drain(request: IncomingMessage): Promise<void> {
  const timer = setTimeout(() => request.socket.destroy(), DRAIN_MS);
  await new Promise((resolve) => request.once('end', resolve).once('close', resolve).resume());
  clearTimeout(timer);
}
