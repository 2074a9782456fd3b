import type { Dispatcher } from 'undici';
import send from 'undici/lib/api/api-request.js';
import { CancelledError, unlessCancelled } from '../base/errors.ts';
import { NetworkError, type NetworkErrorReason } from './errors.ts';

/**
 * The parts of undici that are used. Only this file loads it, lazily and by deep imports: its root module may
 * replace the dispatcher behind the `fetch` of every other extension.
 */
export { default as connect } from 'undici/lib/api/api-connect.js';
export { default as Agent } from 'undici/lib/dispatcher/agent.js';
export { default as ProxyAgent } from 'undici/lib/dispatcher/proxy-agent.js';

/** Time limits in milliseconds. They must leave the service time to validate and price a dataset. */
export interface Timeouts {
  /** From the call to an open connection, including proxies and TLS. */
  connectMs: number;
  /** From the last byte of a request to the head of the response. */
  answerMs: number;
  /** Like `answerMs`, for a request with a body, which the service first validates and prices. */
  pricingMs: number;
  /** From the head to the end of a response. */
  bodyMs: number;
  /** The longest pause of an upload or a download. */
  stallMs: number;
}

export interface HttpRequest {
  method: 'GET' | 'POST';
  url: URL;
  headers: Record<string, string>;
  /**
   * Sent as it is read; the headers must include `content-length`. A chunk may be overwritten once the next
   * one is requested. The exchange rethrows errors of the body.
   */
  body?: AsyncIterable<Uint8Array>;
  /** Sets no limit for the complete response body as long as bytes keep arriving. */
  isStreamed?: boolean;
  signal?: AbortSignal;
}

export interface HttpResponse {
  httpStatus: number;
  /** Returns a header by its lower-case name; repeated ones are joined. */
  header(name: string): string | undefined;
  /** Must be read once to its end, or discarded. @throws NetworkError, CancelledError */
  body: AsyncIterable<Uint8Array>;
  /** Drops the rest of the response and its connection. */
  discard(): void;
}

type Dispatch = Pick<Dispatcher, 'dispatch'>;

/**
 * Runs one HTTP exchange in bounded time. Each stage has its own limit; undici's limits are off. A response may
 * arrive before the request is completely sent.
 * @param isThroughProxy whether a failure before the connection is the proxy's
 * @throws NetworkError, CancelledError, and errors of the request's body
 */
export function exchange(
  request: HttpRequest,
  timeouts: Timeouts,
  isThroughProxy: boolean,
  dispatcher: Dispatch,
): Promise<HttpResponse> {
  return new Exchange(request, timeouts, isThroughProxy).run(dispatcher);
}

class Exchange {
  readonly #request: HttpRequest;
  readonly #timeouts: Timeouts;
  readonly #isThroughProxy: boolean;
  /** The exchange throws the reason of this signal. */
  readonly #stop = new AbortController();
  readonly #cancel = () => this.#stop.abort(new CancelledError());
  #stage: 'sending' | 'receiving' | 'over' = 'sending';
  #timer: NodeJS.Timeout | undefined;
  #isConnected = false;
  #bodyFailure: { error: unknown } | undefined;

  constructor(request: HttpRequest, timeouts: Timeouts, isThroughProxy: boolean) {
    this.#request = request;
    this.#timeouts = timeouts;
    this.#isThroughProxy = isThroughProxy;
  }

  async run(dispatcher: Dispatch): Promise<HttpResponse> {
    const { isStreamed, signal } = this.#request;
    const { connectMs, stallMs, bodyMs } = this.#timeouts;
    this.#stop.signal.addEventListener('abort', () => this.#end(), { once: true });
    signal?.addEventListener('abort', this.#cancel, { once: true });
    if (signal?.aborted) this.#cancel();
    this.#setTimer('sending', connectMs, 'connect-timeout');
    try {
      // undici only observes a signal once it has a connection.
      const answer = await unlessCancelled(this.#answer(dispatcher), this.#stop.signal);
      if (!this.#stop.signal.aborted) this.#stage = 'receiving';
      if (isStreamed) this.#setTimer('receiving', stallMs);
      else this.#setTimer('receiving', bodyMs, 'answer-timeout');
      return {
        httpStatus: answer.statusCode,
        header: (name) => [answer.headers[name] ?? []].flat().join(', ') || undefined,
        body: this.#received(answer.body),
        discard: () => {
          this.#end();
          answer.body.on('error', () => undefined).destroy();
        },
      };
    } catch (error) {
      this.#end();
      throw this.#asOurs(error);
    }
  }

  /** Sends the request, and resolves with the head of the response. */
  #answer(dispatcher: Dispatch): Promise<Dispatcher.ResponseData> {
    const { method, url, headers, body } = this.#request;
    return send.call(
      announcing(dispatcher, () => {
        this.#isConnected = true;
        // With a body, the timer starts with its first byte.
        if (body === undefined) this.#setTimer('sending', this.#timeouts.answerMs, 'answer-timeout');
      }),
      {
        origin: url.origin,
        path: url.pathname + url.search,
        method,
        headers,
        signal: this.#stop.signal,
        // `request` accepts any async iterable, although its type only lists Readable.
        ...(body && { body: this.#sent(body) as unknown as Dispatcher.RequestOptions['body'] }),
      },
    );
  }

  /** Passes the request body on, with a time limit for each chunk and for the response after it. */
  async *#sent(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of chunks) {
        this.#setTimer('sending', this.#timeouts.stallMs);
        yield chunk;
        this.#setTimer('sending');
      }
      this.#setTimer('sending', this.#timeouts.pricingMs, 'answer-timeout');
    } catch (error) {
      this.#bodyFailure = { error };
      throw error;
    }
  }

  /** Passes the response body on. A streamed one has a time limit for each chunk. */
  async *#received(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const { isStreamed } = this.#request;
    try {
      for await (const chunk of chunks) {
        if (isStreamed) this.#setTimer('receiving'); // a slow reader is not the network's fault
        yield chunk;
        if (isStreamed) this.#setTimer('receiving', this.#timeouts.stallMs);
      }
    } catch (error) {
      throw this.#asOurs(error);
    } finally {
      this.#end();
    }
  }

  /** Restarts the timer of a stage, or stops it without a limit. Does nothing once another stage has begun. */
  #setTimer(of: 'sending' | 'receiving', limitMs?: number, reason: NetworkErrorReason = 'stalled'): void {
    if (of !== this.#stage) return;
    clearTimeout(this.#timer);
    if (limitMs !== undefined)
      this.#timer = setTimeout(() => this.#stop.abort(new NetworkError(reason)), limitMs);
  }

  #end(): void {
    this.#stage = 'over';
    clearTimeout(this.#timer);
    this.#request.signal?.removeEventListener('abort', this.#cancel);
  }

  /** Returns the reason of a stop, the error of the request body, or a NetworkError. */
  #asOurs(error: unknown): unknown {
    if (this.#stop.signal.aborted) return this.#stop.signal.reason;
    return this.#bodyFailure?.error ?? toNetworkError(error, this.#isThroughProxy && !this.#isConnected);
  }
}

/** Wraps a dispatcher: `whenConnected` is called when a request has a connection. */
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
  // A chunked response that ends early.
  HPE_INVALID_EOF_STATE: 'reset',
  ETIMEDOUT: 'connect-timeout',
  UND_ERR_CONNECT_TIMEOUT: 'connect-timeout',
  UND_ERR_PRX_TLS: 'tls',
  EPROTO: 'tls',
};

/** OpenSSL's certificate errors, as named by Node, and Node's own TLS errors. */
const TLS =
  /^(ERR_(TLS|SSL)_|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO_|CRL_|ERROR_IN_C|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_)/;

/**
 * Maps an error of undici or Node to a reason.
 * @param isThroughProxy whether only a proxy can have been reached: then only TLS and timeouts keep their reason
 */
export function toNetworkError(error: unknown, isThroughProxy = false): NetworkError {
  const code =
    error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  const reason = code === undefined ? 'other' : reasonOf(code);
  if (!isThroughProxy || reason === 'tls' || reason === 'connect-timeout')
    return new NetworkError(reason, code);
  // undici reports the status of a rejected CONNECT only in its message.
  const status = /^Proxy response \((\d{3})\)/.exec(error instanceof Error ? error.message : '')?.[1];
  return new NetworkError('proxy', status === undefined ? code : `HTTP_${status}`);
}

function reasonOf(code: string): NetworkErrorReason {
  if (code.startsWith('EAI_')) return 'dns';
  return TLS.test(code) ? 'tls' : (REASONS[code] ?? 'other');
}
