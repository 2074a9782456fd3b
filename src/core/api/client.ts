import type { GenericSchema } from 'valibot';
import { SYSTEM_CLOCK, type Clock, parseHttpDate } from '../base/clock.ts';
import { throwIfCancelled } from '../base/errors.ts';
import { RETRIES, retryDelayMs } from '../base/retry.ts';
import { readAnswer } from './answer.ts';
import { AnswerError, mayPass, retryAfterOf, ServiceError } from './errors.ts';
import type { HttpRequest } from './exchange.ts';
import { RateGate } from './rateGate.ts';
import type { Transport } from './transport.ts';
import {
  API_PATH,
  artifactList,
  balance,
  modelList,
  runAnswer,
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

/** A repeat would fail the same way (`tls`, `proxy`), or the user has waited long enough (the others). */
const NOT_REPEATED = ['tls', 'proxy', 'connect-timeout', 'stalled', 'answer-timeout'] as const;

/** Where the service is and with which API key; `baseUrl` as `parseAddress` gives it. */
export interface Connection {
  baseUrl: string;
  apiKey: string;
  /** A random id of the stored API key, not derived from it: another one whenever the API key was entered again. */
  keyId: string;
}

export interface CallOptions {
  signal?: AbortSignal;
  /** Nobody waits for it: it neither waits nor is repeated, so that it is one request at most. */
  isBackground?: boolean;
}

export interface ClientOptions {
  /** From 0 up to 1; for the jitter. */
  random?: () => number;
  clock?: Pick<Clock, 'nowMs' | 'sleep'>;
  /** Of the account, where other clients of it come before or after this one. */
  gate?: RateGate | undefined;
  /** The script of the thread that hashes datasets (`digestWorker.ts`), an absolute path; needed for `createRun`. */
  digestWorker?: string;
}

/**
 * The six endpoints of the service with one account's API key (spec: "Endpoints"). A GET is repeated where that may
 * help, a POST never. Every call @throws ApiError, CancelledError.
 */
export class Client {
  readonly #connection: Connection;
  readonly #transport: () => Transport;
  readonly #options: ClientOptions;
  readonly #clock: Pick<Clock, 'nowMs' | 'sleep'>;
  readonly #gate: RateGate;
  #clockSkewMs: number | undefined;

  /** @param transport asked for each request, so that changed proxy settings count at once */
  constructor(connection: Connection, transport: () => Transport, options: ClientOptions = {}) {
    this.#connection = connection;
    this.#transport = transport;
    this.#options = options;
    this.#clock = options.clock ?? SYSTEM_CLOCK;
    this.#gate = options.gate ?? new RateGate(() => this.#clock.nowMs());
  }

  /** Which API key this client sends: `Connection.keyId`. */
  get keyId(): string {
    return this.#connection.keyId;
  }

  /**
   * How far the service's clock was ahead of this machine's at the last answer with a `Date`; behind is negative.
   * Undefined until then, and after an answer without one. A header is whole seconds: less than two apart is no difference.
   */
  get clockSkewMs(): number | undefined {
    return this.#clockSkewMs;
  }

  /** Until when nothing is sent, as the service asked: milliseconds since the epoch by this machine's clock. */
  get notBeforeMs(): number | undefined {
    return this.#gate.untilMs();
  }

  /** Sends nothing before then, as another client was asked. */
  holdUntil(notBeforeMs: number, readsNotBeforeMs?: number): void {
    this.#gate.holdUntil(notBeforeMs, readsNotBeforeMs);
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
    return this.#get(runPath(runId), runAnswer, options);
  }

  /** POST /runs/{run_id}/artifacts/download: signed URLs, fresh each time. */
  async createArtifactDownloads(runId: string, options?: CallOptions): Promise<Artifact[]> {
    const path = `${runPath(runId)}/artifacts/download`;
    const waitMs = this.#gate.remainingMs(true);
    if (waitMs > 0 && waitMs <= RETRIES.read.longestRetryAfterMs)
      await this.#clock.sleep(waitMs, options?.signal);
    return this.#send({ method: 'POST' }, path, artifactList, options);
  }

  /** GET /balance */
  getBalance(options?: CallOptions): Promise<Balance> {
    return this.#get('/balance', balance, options);
  }

  /**
   * POST /runs, sent once; not at all before the service may be asked again. Before `onClosed` was called nothing can have been
   * charged, whatever this throws.
   * @throws DatasetChangedError when the file is not what the submission says, DigestError when that could not be found
   * out, and what `beforeClose` throws
   */
  async createRun(submission: RunSubmission, options: CallOptions & UploadHooks = {}): Promise<RunCreation> {
    const { upload } = await import('./upload.ts');
    throwIfCancelled(options.signal);
    this.#gate.assertOpen(false);
    return upload(submission, options, this.#options.digestWorker, (request) =>
      this.#send({ method: 'POST', ...request }, '/runs', runCreation, options),
    );
  }

  async #get<T>(path: string, shape: GenericSchema<unknown, T>, options?: CallOptions): Promise<T> {
    for (let retries = 0; ; retries++) {
      try {
        return await this.#send({ method: 'GET' }, path, shape, options);
      } catch (error) {
        if (options?.isBackground || !mayPass(error, NOT_REPEATED)) throw error;
        const random = this.#options.random ?? Math.random;
        const delayMs = retryDelayMs(RETRIES.read, retries, random(), retryAfterOf(error));
        if (delayMs === undefined) throw error;
        await this.#clock.sleep(Math.max(delayMs, this.#gate.remainingMs(true)), options?.signal);
      }
    }
  }

  async #send<T>(
    { method, headers, body }: Pick<HttpRequest, 'method' | 'body'> & { headers?: Record<string, string> },
    path: string,
    shape: GenericSchema<unknown, T>,
    { signal, isBackground }: CallOptions = {},
  ): Promise<T> {
    this.#gate.assertOpen(body === undefined && !isBackground);
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
    // A gateway or a portal has a clock of its own.
    const learn = () => (this.#clockSkewMs = dateMs === undefined ? undefined : dateMs - nowMs);
    try {
      const value = await readAnswer(answer, shape, apiKey, nowMs);
      learn();
      this.#gate.passed();
      return value;
    } catch (error) {
      if (error instanceof ServiceError) learn();
      if (error instanceof AnswerError) this.#gate.refused(error);
      throw error;
    }
  }
}

/** @throws ServiceError `not_found` for an id that cannot stand in a path: a server would read it as another path */
function runPath(runId: string): string {
  if (runId === '' || runId === '.' || runId === '..' || /\p{Surrogate}/u.test(runId))
    throw new ServiceError('not_found', 404);
  return `/runs/${encodeURIComponent(runId)}`;
}
