import type { Dispatcher } from 'undici';
import { CancelledError } from '../base/errors.ts';
import { NetworkError, type NetworkErrorReason } from './errors.ts';

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

/** undici's `request`, as the deep import has it. */
type SendRequest = (
  this: Dispatch,
  options: Dispatcher.RequestOptions & { origin: string },
) => Promise<Dispatcher.ResponseData>;

/**
 * One HTTP exchange: it ends with an answer or an error of this room, and in bounded time. Each stage has its own limit,
 * undici's are off; an answer that comes before the request is sent whole is an answer like any other.
 */
export class Exchange {
  readonly #request: HttpRequest;
  readonly #timeouts: Timeouts;
  readonly #throughProxy: boolean;
  /** Its reason is what the exchange throws. */
  readonly #stop = new AbortController();
  readonly #sending = new Deadline(this.#stop);
  readonly #receiving = new Deadline(this.#stop);
  readonly #cancel = () => this.#stop.abort(new CancelledError());
  #connected = false;
  #bodyFailure: { error: unknown } | undefined;

  /** @param throughProxy whether a failure before there is a connection is the proxy's */
  constructor(request: HttpRequest, timeouts: Timeouts, throughProxy: boolean) {
    this.#request = request;
    this.#timeouts = timeouts;
    this.#throughProxy = throughProxy;
  }

  /** To be called once. @throws NetworkError, CancelledError, and what the request's body throws */
  async run(send: SendRequest, dispatcher: Dispatch): Promise<HttpAnswer> {
    const { method, url, headers, body, streamed, signal } = this.#request;
    this.#stop.signal.addEventListener('abort', () => this.#release(), { once: true });
    signal?.addEventListener('abort', this.#cancel, { once: true });
    if (signal?.aborted) this.#cancel();
    this.#sending.set(this.#timeouts.connectMs, 'connect-timeout');
    try {
      const answer = await Promise.race([
        send.call(
          announcing(dispatcher, () => this.#whenConnected()),
          {
            origin: url.origin,
            path: url.pathname + url.search,
            method,
            headers,
            signal: this.#stop.signal,
            // `request` takes any async iterable, though its type names Readable alone.
            ...(body && { body: this.#sent(body) as unknown as Dispatcher.RequestOptions['body'] }),
          },
        ),
        // undici hears a signal only once it has a connection.
        aborted(this.#stop.signal),
      ]);
      this.#sending.end();
      if (streamed) this.#receiving.set(this.#timeouts.stallMs, 'stalled');
      else this.#receiving.set(this.#timeouts.bodyMs, 'answer-timeout');
      return {
        httpStatus: answer.statusCode,
        header: (name) => [answer.headers[name] ?? []].flat().join(', ') || undefined,
        body: this.#received(answer.body),
        discard: () => {
          this.#release();
          answer.body.on('error', () => undefined).destroy();
        },
      };
    } catch (error) {
      this.#release();
      throw this.#asOurs(error);
    }
  }

  #whenConnected(): void {
    this.#connected = true;
    // A body starts the clock with its first byte.
    if (this.#request.body === undefined) this.#sending.set(this.#timeouts.answerMs, 'answer-timeout');
  }

  async *#sent(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of body) {
        this.#sending.set(this.#timeouts.stallMs, 'stalled');
        yield chunk;
        this.#sending.clear();
      }
      this.#sending.set(this.#timeouts.pricingMs, 'answer-timeout');
    } catch (error) {
      this.#bodyFailure = { error };
      throw error;
    }
  }

  async *#received(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const { streamed } = this.#request;
    try {
      for await (const chunk of body) {
        if (streamed) this.#receiving.clear(); // how long the reader takes is not the network's fault
        yield chunk;
        if (streamed) this.#receiving.set(this.#timeouts.stallMs, 'stalled');
      }
    } catch (error) {
      throw this.#asOurs(error);
    } finally {
      this.#release();
    }
  }

  #asOurs(error: unknown): unknown {
    if (this.#stop.signal.aborted) return this.#stop.signal.reason;
    if (this.#bodyFailure !== undefined) return this.#bodyFailure.error;
    return toNetworkError(error, this.#throughProxy && !this.#connected);
  }

  #release(): void {
    this.#sending.end();
    this.#receiving.end();
    this.#request.signal?.removeEventListener('abort', this.#cancel);
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

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const leave = () => reject(signal.reason as Error);
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
  });
}

/** The one clock of a stage of an exchange: when its limit passes, the exchange is stopped with the reason given. */
class Deadline {
  readonly #stop: AbortController;
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(stop: AbortController) {
    this.#stop = stop;
  }

  /** Restarts the clock. */
  set(limitMs: number, reason: NetworkErrorReason): void {
    if (this.#ended) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#stop.abort(new NetworkError(reason)), limitMs);
  }

  /** Stops the clock until the next `set`. */
  clear(): void {
    clearTimeout(this.#timer);
  }

  /** Stops the clock for good. */
  end(): void {
    this.#ended = true;
    this.clear();
  }
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
