import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Refusal } from './errors.ts';
import { refusalReply, sendReply, type Reply } from './reply.ts';

interface ServerOptions {
  /** 0 for a free one. */
  port: number;
  now: () => number;
  log: (line: string) => void;
}

type Answerer = (request: IncomingMessage) => Promise<Reply>;

/** An HTTP server on 127.0.0.1 that only answers requests addressed to it by name. */
interface LoopbackServer {
  readonly baseUrl: string;
  /** Sets what answers; called once, right after listening. */
  answerWith(answerer: Answerer): void;
  /** Ends all connections, then waits for the requests that were being answered. */
  close(): Promise<void>;
}

/** @throws when the port cannot be had */
export async function listen({ port, now, log }: ServerOptions): Promise<LoopbackServer> {
  const server = createServer();
  // A large dataset on a throttled connection takes longer than Node's default of 300 s.
  server.requestTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const { port: actualPort } = server.address() as AddressInfo;
  const hosts = [`127.0.0.1:${actualPort}`, `localhost:${actualPort}`];
  const pending = new Set<Promise<void>>();

  async function serve(
    request: IncomingMessage,
    response: ServerResponse,
    answerer: Answerer,
  ): Promise<void> {
    let reply: Reply;
    try {
      // A page of another origin can point its own host name at 127.0.0.1 (DNS rebinding), but not hide that name.
      if (!hosts.includes(request.headers.host ?? ''))
        throw new Refusal(421, 'not_found', 'Not a host of this server.');
      reply = await answerer(request);
    } catch (error) {
      reply = refusalReply(error instanceof Refusal ? error : unexpected(error, request));
    }
    // Whoever is gone, or was cut off by closing, is not answered.
    if (!request.socket.destroyed) await sendReply(request, response, reply, now());
  }

  function unexpected(error: unknown, { socket, method }: IncomingMessage): Refusal {
    if (!socket.destroyed) log(`${method ?? ''} failed: ${error instanceof Error ? error.message : '?'}`);
    return new Refusal(500, 'internal_error', 'The sandbox failed.');
  }

  return {
    baseUrl: `http://127.0.0.1:${actualPort}`,
    answerWith(answerer) {
      server.on('request', (request, response) => {
        const served = serve(request, response, answerer)
          .catch(() => void request.socket.destroy())
          .finally(() => pending.delete(served));
        pending.add(served);
      });
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      await Promise.allSettled(pending);
    },
  };
}
