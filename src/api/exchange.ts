import type { Dispatcher } from 'undici';
import { CancelledError } from '../base/errors.ts';
import { Deadline } from './deadline.ts';
import { toNetworkError } from './networkFailure.ts';

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

export const TIMEOUTS: Readonly<Timeouts> = {
  connectMs: 30_000,
  answerMs: 30_000,
  pricingMs: 15 * 60_000,
  bodyMs: 60_000,
  stallMs: 2 * 60_000,
};

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

type SendRequest = (
  this: Pick<Dispatcher, 'dispatch'>,
  options: Dispatcher.RequestOptions & { origin: string },
) => Promise<Dispatcher.ResponseData>;

/**
 * One HTTP exchange: it ends with an answer or an error of this room, and in bounded time. Each stage has its own limit,
 * undici's are off; an answer that comes before the request is sent whole is an answer like any other.
 * @param throughProxy whether a failure before the connection stands is the proxy's
 * @throws NetworkError, CancelledError, and what the request's body throws
 */
export async function exchange(
  send: SendRequest,
  dispatcher: Pick<Dispatcher, 'dispatch'>,
  request: HttpRequest,
  timeouts: Timeouts,
  throughProxy: boolean,
): Promise<HttpAnswer> {
  const { method, url, headers, body, streamed = false, signal } = request;
  const stop = new AbortController();
  const cancel = () => stop.abort(new CancelledError());
  if (signal?.aborted) cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  const sending = new Deadline(stop);
  const receiving = new Deadline(stop);
  const release = () => {
    sending.end();
    receiving.end();
    signal?.removeEventListener('abort', cancel);
  };
  stop.signal.addEventListener('abort', release, { once: true });

  let connected = false;
  let bodyFailure: { error: unknown } | undefined;
  const whenConnected = () => {
    connected = true;
    // A body starts the clock with its first byte.
    if (body === undefined) sending.set(timeouts.answerMs, 'answer-timeout');
  };
  const pacedBody = async function* (chunks: AsyncIterable<Uint8Array>) {
    try {
      for await (const chunk of chunks) {
        sending.set(timeouts.stallMs, 'stalled');
        yield chunk;
        sending.clear();
      }
      sending.set(timeouts.pricingMs, 'answer-timeout');
    } catch (error) {
      bodyFailure = { error };
      throw error;
    }
  };

  sending.set(timeouts.connectMs, 'connect-timeout');
  try {
    const answer = await Promise.race([
      send.call(announcing(dispatcher, whenConnected), {
        origin: url.origin,
        path: url.pathname + url.search,
        method,
        headers,
        signal: stop.signal,
        // `request` takes any async iterable, though its type names Readable alone.
        ...(body && { body: pacedBody(body) as unknown as Dispatcher.RequestOptions['body'] }),
      }),
      // undici hears a signal only once it has a connection.
      aborted(stop.signal),
    ]);
    sending.end();
    if (streamed) receiving.set(timeouts.stallMs, 'stalled');
    else receiving.set(timeouts.bodyMs, 'answer-timeout');
    return {
      httpStatus: answer.statusCode,
      header: (name) => [answer.headers[name] ?? []].flat().join(', ') || undefined,
      body: received(answer.body),
      discard: () => {
        release();
        answer.body.on('error', () => undefined).destroy();
      },
    };
  } catch (error) {
    release();
    throw asOurs(error);
  }

  async function* received(chunks: AsyncIterable<Uint8Array>) {
    try {
      for await (const chunk of chunks) {
        if (streamed) receiving.clear(); // how long the reader takes is not the network's fault
        yield chunk;
        if (streamed) receiving.set(timeouts.stallMs, 'stalled');
      }
    } catch (error) {
      throw asOurs(error);
    } finally {
      release();
    }
  }

  function asOurs(error: unknown): unknown {
    if (stop.signal.aborted) return stop.signal.reason;
    return bodyFailure === undefined ? toNetworkError(error, throughProxy && !connected) : bodyFailure.error;
  }
}

/** The same dispatcher, telling when a request got its connection. */
function announcing(
  dispatcher: Pick<Dispatcher, 'dispatch'>,
  whenConnected: () => void,
): Pick<Dispatcher, 'dispatch'> {
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
