import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ErrorCode } from '../core/api/types.ts';

interface ServerOptions {
  now: () => number;
  log: (line: string) => void;
  answer: (request: IncomingMessage) => Promise<Reply>;
}

/** Starts an HTTP server on 127.0.0.1, at any free port, that accepts only its own Host. */
export async function listen({ now, log, answer }: ServerOptions) {
  const pending = new Set<Promise<void>>();
  const server = createServer((request, response) => {
    const served = serve(request, response)
      .catch(() => void request.socket.destroy())
      .finally(() => pending.delete(served));
    pending.add(served);
  });
  // A large dataset on a throttled connection takes longer than Node's default of 300 s.
  server.requestTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let reply: Reply;
    try {
      // A web page can let its host name point at 127.0.0.1 (DNS rebinding), but the request has that name.
      if (!hosts.includes(request.headers.host ?? ''))
        throw new RefusedRequest(421, 'not_found', 'Not a host of this server.');
      reply = await answer(request);
    } catch (error) {
      const refused = error instanceof RefusedRequest ? error : unexpected(error, request);
      const { status, code, message, headers } = refused;
      reply = jsonReply(status, { error: { code, message } }, headers);
    }
    // Don't respond if the client has disconnected or was disconnected by `close`.
    if (!request.socket.destroyed) await sendReply(request, response, reply, now());
  }

  function unexpected(error: unknown, { socket, method }: IncomingMessage): RefusedRequest {
    if (!socket.destroyed) log(`${method ?? ''} failed: ${error instanceof Error ? error.message : '?'}`);
    return new RefusedRequest(500, 'internal_error', 'The sandbox failed.');
  }

  return {
    baseUrl: `http://127.0.0.1:${port}`,
    /** Ends all connections, then waits for the requests in progress. */
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      await Promise.allSettled(pending);
    },
  };
}

/** The response of an endpoint. Only `sendReply` writes to the connection. */
export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** A scenario's fault: no response, or a body that is cut in half. */
  readonly fault?: 'no-answer' | 'cut-in-half';
}

/** Creates a JSON response. The API has no others. */
export function jsonReply(status: number, value: unknown, headers: Record<string, string> = {}): Reply {
  return {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
    body: Buffer.from(JSON.stringify(value)),
  };
}

/** How long a client may go on sending a body after the response. */
const DRAIN_MS = 5_000;

/** Sends the response. A client that is still sending its body gets time to read it. */
async function sendReply(
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
  now: number,
): Promise<void> {
  if (reply.fault === 'no-answer') {
    request.socket.destroy();
    return;
  }
  const isEarly = isStillSending(request);
  response.writeHead(reply.status, {
    ...reply.headers,
    date: new Date(now).toUTCString(),
    'content-length': reply.body.length,
    ...(isEarly && { connection: 'close' }),
  });
  if (reply.fault === 'cut-in-half') {
    const half = reply.body.subarray(0, Math.floor(reply.body.length / 2));
    response.write(half, () => request.socket.destroy());
  } else if (isEarly) {
    // Ending here would close the socket with unread bytes, and the reset could overtake the response.
    response.write(reply.body);
    await drain(request);
    response.end();
  } else response.end(reply.body);
}

function isStillSending(request: IncomingMessage): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers;
  return !request.complete && (encoding !== undefined || length !== '0');
}

/** Reads and drops the rest of the body; disconnects a client that takes too long. */
async function drain(request: IncomingMessage): Promise<void> {
  const timer = setTimeout(() => request.socket.destroy(), DRAIN_MS);
  await new Promise((resolve) => request.once('end', resolve).once('close', resolve).resume());
  clearTimeout(timer);
}

/** HTTP status of each code of the contract (spec: "Errors"). */
const STATUS: Readonly<Record<ErrorCode, number>> = {
  invalid_api_key: 401,
  insufficient_balance: 402,
  not_found: 404,
  idempotency_conflict: 409,
  validation_failed: 422,
  model_not_available: 422,
  consent_required: 422,
  rate_limited: 429,
};

/** Thrown by endpoints, and sent as `{error: {code, message}}`. The message contains no input of the user. */
export class RefusedRequest extends Error {
  readonly status: number;
  /** A code of the contract, or the sandbox's own if the contract has none. */
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** Creates a refusal that the contract names; its HTTP status follows from the code. */
export function refuse(code: ErrorCode, message: string, headers?: Record<string, string>): RefusedRequest {
  return new RefusedRequest(STATUS[code], code, message, headers);
}

export function invalid(message: string): RefusedRequest {
  return refuse('validation_failed', message);
}
