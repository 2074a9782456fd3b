import type { GenericSchema } from 'valibot';
import { SYSTEM_CLOCK, type Clock, parseHttpDate } from '../base/clock.ts';
import { throwIfCancelled } from '../base/errors.ts';
import { RETRIES, retryDelayMs } from '../base/retry.ts';
import { ResponseError, isTransient, retryAfterOf, ServiceError } from './errors.ts';
import type { HttpRequest } from './exchange.ts';
import { keyCheckOf, type KeyCheck } from './keyCheck.ts';
import { NO_WAIT, RateGate, type CallKind } from './rateGate.ts';
import { MAX_CREATION_BYTES, readResponse } from './response.ts';
import type { Transport } from './transport.ts';
import {
  API_PATH,
  artifactList,
  balance,
  modelList,
  runResponse,
  runCreation,
  runPage,
  type Artifact,
  type Balance,
  type ModelList,
  type RunCreation,
  type RunDetail,
  type RunPage,
  type RunSubmission,
} from './types.ts';
import type { UploadHooks } from './upload.ts';

/** A retry would fail the same way (`tls`, `proxy`), or the user has waited long enough (the others). */
const NOT_REPEATED = ['tls', 'proxy', 'connect-timeout', 'stalled', 'answer-timeout'] as const;

/** The service's address, as returned by `parseAddress`, and the API key to use. */
export interface Connection {
  baseUrl: string;
  apiKey: string;
  /** A random ID of the stored API key, not derived from it. Another key gets another one. */
  keyId: string;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** Nobody waits for the result: sends a single request, without delays or retries. */
  isBackground?: boolean;
  /** The result decides about a submission: sent even while the service asks submissions to wait. */
  isUrgent?: boolean;
}

export interface ClientOptions {
  /** At least 0, less than 1; for jitter. */
  random?: () => number;
  clock?: Pick<Clock, 'nowMs' | 'sleep'>;
  /** The account's gate, if it is shared with other clients. */
  gate?: RateGate | undefined;
}

/**
 * Calls the service's six endpoints with one account's API key (spec: "Endpoints"). Retries a GET if that may
 * help, but never a POST. Every call throws ApiError or CancelledError.
 */
export class Client {
  readonly #connection: Connection;
  readonly #transport: () => Transport;
  readonly #options: ClientOptions;
  readonly #clock: Pick<Clock, 'nowMs' | 'sleep'>;
  readonly #gate: RateGate;
  #clockSkewMs: number | undefined;
  #keyCheck: Promise<KeyCheck | undefined> | undefined;

  /** @param transport called for each request, so that changed proxy settings apply at once */
  constructor(connection: Connection, transport: () => Transport, options: ClientOptions = {}) {
    this.#connection = connection;
    this.#transport = transport;
    this.#options = options;
    this.#clock = options.clock ?? SYSTEM_CLOCK;
    this.#gate = options.gate ?? new RateGate(() => this.#clock.nowMs());
  }

  /** The ID of this client's API key: `Connection.keyId`. */
  get keyId(): string {
    return this.#connection.keyId;
  }

  /** Returns a value that recognizes this API key later; computed once. Undefined if the machine can't compute it. */
  keyCheck(): Promise<KeyCheck | undefined> {
    return (this.#keyCheck ??= keyCheckOf(this.#connection.apiKey).catch(() => undefined));
  }

  /**
   * How far the service's clock was ahead of the local one at the last response, in ms; negative if behind.
   * Undefined if that had no `Date`, which has whole seconds: ignore less than 2.
   */
  get clockSkewMs(): number | undefined {
    return this.#clockSkewMs;
  }

  /** Nothing is sent before this time, as the service asked: milliseconds since the epoch, local clock. */
  get notBeforeMs(): number | undefined {
    return this.#gate.untilMs();
  }

  /** Sends nothing before these times, which the service asked of another client. In ms since the epoch. */
  holdUntil(untilMs: number, readUntilMs = 0): void {
    const sinceMs = this.#clock.nowMs();
    this.#gate.adopt({ reads: { sinceMs, untilMs, readUntilMs }, submissions: NO_WAIT });
  }

  /** GET /models */
  listModels(options?: CallOptions): Promise<ModelList> {
    return this.#get('/models', modelList, options);
  }

  /** GET /runs: one page, newest first. */
  listRuns(
    page: { limit?: number; cursor?: string | undefined } = {},
    options?: CallOptions,
  ): Promise<RunPage> {
    const query = new URLSearchParams();
    if (page.limit !== undefined) query.set('limit', String(page.limit));
    if (page.cursor !== undefined) query.set('cursor', page.cursor);
    return this.#get(query.size === 0 ? '/runs' : `/runs?${query.toString()}`, runPage, options);
  }

  /** GET /runs/{run_id} */
  async getRun(runId: string, options?: CallOptions): Promise<RunDetail> {
    return this.#get(runPath(runId), runResponse, options);
  }

  /** POST /runs/{run_id}/artifacts/download: signed URLs, fresh each time. */
  async createArtifactDownloads(runId: string, options?: CallOptions): Promise<Artifact[]> {
    const path = `${runPath(runId)}/artifacts/download`;
    const waitMs = this.#gate.remainingMs('read');
    if (waitMs > 0 && waitMs <= RETRIES.read.longestRetryAfterMs)
      await this.#clock.sleep(waitMs, options?.signal);
    return this.#send({ method: 'POST' }, path, artifactList, options);
  }

  /** GET /balance */
  getBalance(options?: CallOptions): Promise<Balance> {
    return this.#get('/balance', balance, options);
  }

  /**
   * POST /runs, sent once. Sends nothing while the service asks to wait. If this throws before it called `onClosed`,
   * nothing can have been charged.
   * @throws DatasetChangedError if the file has other bytes than the submission says; errors of `beforeClose`
   */
  async createRun(submission: RunSubmission, options: CallOptions & UploadHooks = {}): Promise<RunCreation> {
    const { upload } = await import('./upload.ts');
    throwIfCancelled(options.signal);
    this.#gate.assertOpen('submission');
    return upload(submission, options, (request) =>
      this.#send({ method: 'POST', ...request }, '/runs', runCreation, options),
    );
  }

  /** Sends a GET, and repeats it as long as that may help. */
  async #get<T>(path: string, shape: GenericSchema<unknown, T>, options?: CallOptions): Promise<T> {
    for (let retries = 0; ; retries++) {
      try {
        return await this.#send({ method: 'GET' }, path, shape, options);
      } catch (error) {
        if (options?.isBackground || !isTransient(error, NOT_REPEATED)) throw error;
        const random = this.#options.random ?? Math.random;
        const delayMs = retryDelayMs(RETRIES.read, retries, random(), retryAfterOf(error));
        if (delayMs === undefined) throw error;
        await this.#clock.sleep(
          Math.max(delayMs, this.#gate.remainingMs(readKind(options))),
          options?.signal,
        );
      }
    }
  }

  /** Sends one request, and parses its response by `shape`. Learns from it how far the clocks differ, and waits. */
  async #send<T>(
    { method, headers, body }: Pick<HttpRequest, 'method' | 'body'> & { headers?: Record<string, string> },
    path: string,
    shape: GenericSchema<unknown, T>,
    options: CallOptions = {},
  ): Promise<T> {
    const { signal } = options;
    this.#gate.assertOpen(body === undefined ? readKind(options) : 'submission');
    const { baseUrl, apiKey } = this.#connection;
    const answer = await this.#transport().send({
      method,
      url: new URL(baseUrl + API_PATH + path),
      headers: { authorization: `Bearer ${apiKey}`, accept: 'application/json', ...headers },
      ...(body && { body }),
      ...(signal && { signal }),
    });
    const nowMs = this.#clock.nowMs();
    const dateMs = parseHttpDate(answer.header('date'));
    // A gateway or portal has its own clock, so learn only from the service.
    const learn = () => (this.#clockSkewMs = dateMs === undefined ? undefined : dateMs - nowMs);
    try {
      const value = await readResponse(answer, shape, apiKey, nowMs, body && MAX_CREATION_BYTES);
      learn();
      this.#gate.noteSuccess();
      return value;
    } catch (error) {
      if (error instanceof ServiceError) learn();
      if (error instanceof ResponseError)
        this.#gate.noteRefusal(error, body === undefined ? 'reads' : 'submissions');
      throw error;
    }
  }
}

function readKind({ isBackground, isUrgent }: CallOptions = {}): CallKind {
  return isBackground ? 'background' : isUrgent ? 'urgent' : 'read';
}

/** @throws ServiceError `not_found` for an ID that is invalid in a path or that a server would normalize */
function runPath(runId: string): string {
  if (runId === '' || runId === '.' || runId === '..' || /\p{Surrogate}/u.test(runId))
    throw new ServiceError('not_found', 404);
  return `/runs/${encodeURIComponent(runId)}`;
}
