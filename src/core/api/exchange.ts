import type { Dispatcher } from 'undici';
import send from 'undici/lib/api/api-request.js';
import { CancelledError, unlessCancelled } from '../base/errors.ts';
import { NetworkError, type NetworkErrorReason } from './errors.ts';

/**
 * This file alone loads undici, at first use, and through deep imports: the package's root module may replace the dispatcher behind
 * every other extension's `fetch`.
 */
export { default as connect } from 'undici/lib/api/api-connect.js';
export { default as Agent } from 'undici/lib/dispatcher/agent.js';
export { default as ProxyAgent } from 'undici/lib/dispatcher/proxy-agent.js';

/** Time limits in milliseconds (safety: the service validates and prices a whole dataset before it answers). */
export interface Timeouts {
  /** From the call to a connection, through proxies and TLS. */
  connectMs: number;
  /** From the last byte of a request to the head of its answer. */
  answerMs: number;
  /** The same for a request with a body, which the service validates and prices first. */
  pricingMs: number;
  /** From the head of an answer to its end. */
  bodyMs: number;
  /** Between two moments at which bytes moved, in an upload or a download. */
  stallMs: number;
}

export interface HttpRequest {
  method: 'GET' | 'POST';
  url: URL;
  headers: Record<string, string>;
  /**
   * Sent as it is read; a `content-length` must stand in the headers. A chunk may be overwritten once the next one is
   * asked for. What it throws, the exchange throws.
   */
  body?: AsyncIterable<Uint8Array>;
  /** The answer's body may take as long as it needs, as long as bytes keep coming. */
  streamed?: boolean;
  signal?: AbortSignal;
}

export interface HttpAnswer {
  httpStatus: number;
  /** A header by its lower-case name; repeated ones are joined. */
  header(name: string): string | undefined;
  /** To be read once and to its end, or discarded. @throws NetworkError, CancelledError */
  body: AsyncIterable<Uint8Array>;
  /** Drops the rest of the answer and its connection. */
  discard(): void;
}

type Dispatch = Pick<Dispatcher, 'dispatch'>;

/**
 * One HTTP exchange: it ends with an answer or an error of this room, and in bounded time. Each stage has its own limit,
 * undici's are off; an answer that comes before the request is sent whole is an answer like any other.
 * @param throughProxy whether a failure before there is a connection is the proxy's
 * @throws NetworkError, CancelledError, and what the request's body throws
 */
export async function exchange(
  { method, url, headers, body, streamed, signal }: HttpRequest,
  timeouts: Timeouts,
  throughProxy: boolean,
  dispatcher: Dispatch,
): Promise<HttpAnswer> {
  /** Its reason is what the exchange throws. */
  const stop = new AbortController();
  const cancel = () => stop.abort(new CancelledError());
  let stage: 'sending' | 'receiving' | 'over' = 'sending';
  let timer: NodeJS.Timeout | undefined;
  let isConnected = false;
  let bodyFailure: { error: unknown } | undefined;

  /** Restarts the one clock, unless another stage has begun; without a limit it stands still. */
  const limit = (of: 'sending' | 'receiving', limitMs?: number, reason: NetworkErrorReason = 'stalled') => {
    if (of !== stage) return;
    clearTimeout(timer);
    if (limitMs !== undefined) timer = setTimeout(() => stop.abort(new NetworkError(reason)), limitMs);
  };
  const end = () => {
    stage = 'over';
    clearTimeout(timer);
    signal?.removeEventListener('abort', cancel);
  };
  const asOurs = (error: unknown): unknown => {
    if (stop.signal.aborted) return stop.signal.reason;
    return bodyFailure?.error ?? toNetworkError(error, throughProxy && !isConnected);
  };

  async function* sent(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of chunks) {
        limit('sending', timeouts.stallMs);
        yield chunk;
        limit('sending');
      }
      limit('sending', timeouts.pricingMs, 'answer-timeout');
    } catch (error) {
      bodyFailure = { error };
      throw error;
    }
  }

  async function* received(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of chunks) {
        if (streamed) limit('receiving'); // how long the reader takes is not the network's fault
        yield chunk;
        if (streamed) limit('receiving', timeouts.stallMs);
      }
    } catch (error) {
      throw asOurs(error);
    } finally {
      end();
    }
  }

  stop.signal.addEventListener('abort', end, { once: true });
  signal?.addEventListener('abort', cancel, { once: true });
  if (signal?.aborted) cancel();
  limit('sending', timeouts.connectMs, 'connect-timeout');
  try {
    const answering = send.call(
      announcing(dispatcher, () => {
        isConnected = true;
        // A body starts the clock with its first byte.
        if (body === undefined) limit('sending', timeouts.answerMs, 'answer-timeout');
      }),
      {
        origin: url.origin,
        path: url.pathname + url.search,
        method,
        headers,
        signal: stop.signal,
        // `request` takes any async iterable, though its type names Readable alone.
        ...(body && { body: sent(body) as unknown as Dispatcher.RequestOptions['body'] }),
      },
    );
    // undici hears a signal only once it has a connection.
    const answer = await unlessCancelled(answering, stop.signal);
    if (!stop.signal.aborted) stage = 'receiving';
    if (streamed) limit('receiving', timeouts.stallMs);
    else limit('receiving', timeouts.bodyMs, 'answer-timeout');
    return {
      httpStatus: answer.statusCode,
      header: (name) => [answer.headers[name] ?? []].flat().join(', ') || undefined,
      body: received(answer.body),
      discard: () => {
        end();
        answer.body.on('error', () => undefined).destroy();
      },
    };
  } catch (error) {
    end();
    throw asOurs(error);
  }
}

/** The same dispatcher, telling when a request got its connection. */
function announcing(dispatcher: Dispatch, whenConnected: () => void): Dispatch {
  return {
    dispatch: (options, handler) => {
      const start = handler.onRequestStart?.bind(handler);
      handler.onRequestStart = (...args) => {
        whenConnected();
        start?.(...args);
      };
      return dispatcher.dispatch(options, handler);
    },
  };
}

const REASONS: Readonly<Record<string, NetworkErrorReason>> = {
  ECONNREFUSED: 'refused',
  ENOTFOUND: 'dns',
  ECONNRESET: 'reset',
  ECONNABORTED: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'reset',
  // A chunked answer that ends early.
  HPE_INVALID_EOF_STATE: 'reset',
  ETIMEDOUT: 'connect-timeout',
  UND_ERR_CONNECT_TIMEOUT: 'connect-timeout',
  UND_ERR_PRX_TLS: 'tls',
  EPROTO: 'tls',
};

/** OpenSSL's verdicts on a certificate, as Node names them, and Node's own TLS errors. */
const TLS =
  /^(ERR_(TLS|SSL)_|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO_|CRL_|ERROR_IN_C|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_)/;

/**
 * Names why undici or Node gave up.
 * @param throughProxy whether it was still a proxy that was talked to: then only TLS and time have reasons of their own
 */
export function toNetworkError(error: unknown, throughProxy = false): NetworkError {
  const code =
    error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const reason = code === undefined ? 'other' : reasonOf(code);
  if (!throughProxy || reason === 'tls' || reason === 'connect-timeout')
    return new NetworkError(reason, code);
  // undici gives the status of a refused CONNECT in its message only.
  const status = /^Proxy response \((\d{3})\)/.exec(error instanceof Error ? error.message : '')?.[1];
  return new NetworkError('proxy', status === undefined ? code : `HTTP_${status}`);
}

function reasonOf(code: string): NetworkErrorReason {
  if (code.startsWith('EAI_')) return 'dns';
  return TLS.test(code) ? 'tls' : (REASONS[code] ?? 'other');
}
