import { randomUUID } from 'node:crypto';
import type http from 'node:http';
import { sha256Of } from '../api/support.ts';
import { startHttpServer, type TestServer } from '../httpServer.ts';
import type { SimulatedClock } from './clock.ts';
import type { Fault, Reply } from './faults.ts';

/** How a service treats a repeated Idempotency-Key, where the contract leaves room. */
export const MODES = [
  'replays 2xx',
  /** Also replays refusals and failures, forever. */
  'replays all',
  /** Responds 409 while the first request is being priced. */
  '409 in flight',
  /** Treats the Idempotency-Key as new after 24 hours. */
  'forgets',
] as const;
/** `forgets at once`: breaks the contract, for chosen cells only. */
export type Mode = (typeof MODES)[number] | 'forgets at once';

/** One POST /runs as the service received it. */
export interface Post {
  /** Number among all requests of the service, from 1. */
  seq: number;
  /** The same number when its closing boundary had arrived. */
  completeSeq?: number;
  /** The sending window and the number of its attempt, from headers that only the simulation adds. */
  window: number;
  ordinal: number;
  atMs: number;
  idempotencyKey: string;
  authorization: string;
  contentType: string;
  contentLength: number;
  /** SHA-256 of the complete body with its closing boundary, or `incomplete`. */
  digest: string;
  datasetSha256?: string;
  modelId?: string;
  label?: string;
  /** The time until which Retry-After forbids requests. */
  notBeforeMs?: number;
}

interface Charge {
  /** The charged request. */
  seq: number;
  idempotencyKey: string;
  runId: string;
  priceCents: number;
  /** From when on the run is listed. */
  listedMs: number;
}

export const REPEATS = ['replays a run', 'replays a failure', 'refuses', 'lets wait', 'forgets'] as const;
export type Repeat = (typeof REPEATS)[number];

/** Records what the service received and did. */
export class Ledger {
  readonly posts: Post[] = [];
  readonly reads: { seq: number; authorization: string }[] = [];
  readonly charges: Charge[] = [];
  /** How repeated Idempotency-Keys were treated. */
  readonly repeats = new Set<Repeat>();
  /** The number of the last request. */
  seq = 0;
}

interface Run {
  runId: string;
  modelId: string;
  label: string | undefined;
  createdMs: number;
  priceCents: number;
  balanceAfterCents: number;
}

interface Answer {
  status: number;
  body: unknown;
}

interface Known {
  firstMs: number;
  dueMs?: number;
  answer?: Answer;
}

const FORGET_MS = 24 * 3_600_000;
const PRICE_CENTS = 740;
/** Bytes received when a fault occurs in the middle of a body. */
const MIDDLE_BYTES = 50_000;
const PORTAL_DATE = 'Thu, 01 Jan 2032 00:00:00 GMT';
const CONFLICT = { status: 409, body: { error: { code: 'idempotency_conflict', message: 'already used' } } };
const NO_ANSWER = { status: 500, body: undefined };

export interface ServiceOptions {
  mode: Mode;
  clock: SimulatedClock;
  /** Secrets that responses echo to their sender; none may appear anywhere later. */
  echo?: (authorization: string) => string;
  /** The fault of an attempt, requested when its headers have arrived. */
  faultOf: (post: Post) => Fault;
  /** The fault of a read, if any. */
  readFault?: (path: string) => Reply | undefined;
  /** The target of redirects. */
  elsewhere?: () => string;
  /** Called and awaited when a body is complete and unanswered, or when half an answer was sent. */
  onPoint?: (point: 'sent' | 'answer torn', post: Post) => Promise<'killed' | undefined>;
  /** Called when the headers of an attempt have arrived. */
  onPost?: (post: Post) => void;
  /** Limit of rows per page, regardless of the request. */
  pageRows?: number;
  /** When the closing boundary of a submission was last released, by the service's clock; undefined if unknown. */
  closedMs?: (idempotencyKey: string) => number | undefined;
  withoutDate?: boolean;
  /** How long a new run is missing from the list. */
  listLagMs?: number;
}

/** A service that uses every freedom of the contract against the client, on the simulated clock, and records everything. */
export class HostileService {
  readonly ledger = new Ledger();
  /** Oldest first. */
  readonly runs: Run[] = [];
  balanceCents = 100_000;
  readonly #options: ServiceOptions;
  readonly #clock: SimulatedClock;
  readonly #known = new Map<string, Known>();
  #server: TestServer | undefined;

  constructor(options: ServiceOptions) {
    this.#options = options;
    this.#clock = options.clock;
  }

  async start(): Promise<this> {
    this.#server = await startHttpServer((request, response) => {
      request.on('error', () => undefined);
      response.on('error', () => undefined);
      // Node would send the real time.
      response.sendDate = false;
      if (request.method === 'POST') this.#onPost(request, response);
      else this.#onRead(request, response);
    });
    return this;
  }

  get url(): string {
    return this.#server?.url ?? '';
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }

  /** Adds a run and charges its price; the caller records a charge unless the run is someone else's. */
  addRun(modelId: string, label?: string, priceCents = PRICE_CENTS, createdMs = this.#clock.nowMs): Run {
    this.balanceCents -= priceCents;
    const { balanceCents: balanceAfterCents } = this;
    const run = { runId: randomUUID(), modelId, label, createdMs, priceCents, balanceAfterCents };
    this.runs.push(run);
    this.runs.sort((one, other) => one.createdMs - other.createdMs);
    return run;
  }

  #onRead(request: http.IncomingMessage, response: http.ServerResponse): void {
    request.resume();
    const { url = '', headers } = request;
    this.ledger.reads.push({ seq: ++this.ledger.seq, authorization: headers.authorization ?? '' });
    const fault = this.#options.readFault?.(url) ?? { kind: 'answer' };
    this.#reply(request, response, fault, this.#read(new URL(url, 'http://service.test')));
  }

  #onPost(request: http.IncomingMessage, response: http.ServerResponse): void {
    const { headers } = request;
    const post: Post = {
      seq: ++this.ledger.seq,
      window: Number(headers['x-window'] ?? 0),
      ordinal: Number(headers['x-post'] ?? 0),
      atMs: this.#clock.nowMs,
      idempotencyKey: String(headers['idempotency-key']),
      authorization: headers.authorization ?? '',
      contentType: headers['content-type'] ?? '',
      contentLength: Number(headers['content-length'] ?? 0),
      digest: 'incomplete',
    };
    this.ledger.posts.push(post);
    this.#options.onPost?.(post);
    const fault = this.#options.faultOf(post);
    const { at, reply, work } = fault;
    const chunks: Buffer[] = [];
    let receivedBytes = 0;
    let isHit = at === 'end';
    const hit = () => {
      isHit = true;
      this.#meanwhile(fault);
      // The fault was only a sleep; continue receiving.
      if (reply.kind === 'answer' && at === 'middle') return;
      if (reply.kind === 'silence') request.pause();
      // An early success: the service charges for an incomplete body.
      const isPriced = work !== 'none' && reply.kind === 'answer';
      this.#reply(request, response, reply, isPriced ? this.#price(post, 0) : undefined, post);
    };
    request.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      receivedBytes += chunk.byteLength;
      if (!isHit && at === 'middle' && receivedBytes >= MIDDLE_BYTES) hit();
    });
    request.on('end', () => {
      const body = readBody(post, Buffer.concat(chunks));
      if (body === undefined) return;
      Object.assign(post, body, { completeSeq: ++this.ledger.seq });
      if (at === 'end' || (at === 'middle' && reply.kind === 'answer'))
        void this.#onComplete(request, response, post, fault);
    });
    if (at === 'head') hit();
  }

  async #onComplete(
    request: http.IncomingMessage,
    response: http.ServerResponse,
    post: Post,
    fault: Fault,
  ): Promise<void> {
    const { reply, work } = fault;
    if (fault.sleepFirst === true) this.#meanwhile(fault);
    let answer: Answer | undefined;
    if (work !== 'none') answer = this.#price(post, work === 'charge' ? 0 : work.lateMs);
    else if (reply.kind === 'error') answer = this.#store(post, errorAnswer(reply, this.#echo(request)));
    if (fault.sleepFirst !== true && fault.at === 'end') this.#meanwhile(fault);
    // A killed process receives no answer.
    if ((await this.#options.onPoint?.('sent', post)) === 'killed') {
      request.socket.destroy();
      return;
    }
    // A stored answer is replayed instead of this attempt's fault.
    const isKept = work === 'none' && reply.kind === 'error' && answer?.status !== reply.status;
    this.#reply(request, response, isKept ? { kind: 'answer' } : reply, answer, post);
  }

  /** Handles a complete request. @param lateMs time until the charge, when the client may be gone */
  #price(post: Post, lateMs: number): Answer {
    let known = this.#options.mode === 'forgets at once' ? undefined : this.#knownOf(post.idempotencyKey);
    const { repeats } = this.ledger;
    if (known !== undefined) {
      if (known.answer === undefined && known.dueMs !== undefined) {
        const isRefused = this.#options.mode === '409 in flight';
        repeats.add(isRefused ? 'refuses' : 'lets wait');
        if (isRefused) return CONFLICT;
        // A repeat waits until the first request is done.
        this.#clock.pass(known.dueMs - this.#clock.nowMs);
      }
      const { answer } = known;
      if (answer !== undefined) {
        repeats.add(answer.status === 201 ? 'replays a run' : 'replays a failure');
        return answer.status === 201 ? { ...answer, status: 200 } : answer;
      }
    }
    known ??= this.#remember(post);
    const { idempotencyKey } = post;
    const decide = () => (known.answer ??= this.#charge(post, idempotencyKey));
    if (lateMs === 0) return decide();
    known.dueMs = this.#clock.nowMs + lateMs;
    this.#clock.at(known.dueMs, decide);
    return NO_ANSWER;
  }

  /** Stores a failure as the Idempotency-Key's answer in the mode `replays all`. */
  #store(post: Post, answer: Answer): Answer {
    if (this.#options.mode !== 'replays all' || ![402, 422, 500].includes(answer.status)) return answer;
    const known = this.#knownOf(post.idempotencyKey) ?? this.#remember(post);
    return (known.answer ??= answer);
  }

  #remember({ idempotencyKey }: Post): Known {
    const known: Known = { firstMs: this.#clock.nowMs };
    this.#known.set(idempotencyKey, known);
    return known;
  }

  #knownOf(key: string): Known | undefined {
    const known = this.#known.get(key);
    // A request that left before the machine slept was received before: no connection survives that.
    const sentMs = Math.min(this.#clock.nowMs, this.#options.closedMs?.(key) ?? Infinity);
    const isForgotten = this.#options.mode === 'forgets' && sentMs - (known?.firstMs ?? 0) >= FORGET_MS;
    if (!isForgotten) return known;
    this.ledger.repeats.add('forgets');
    this.#known.delete(key);
    return undefined;
  }

  #charge({ seq, modelId = '', label }: Post, idempotencyKey: string): Answer {
    if (this.balanceCents < PRICE_CENTS)
      return { status: 402, body: { error: { code: 'insufficient_balance', message: 'too low' } } };
    const { runId, priceCents, balanceAfterCents } = this.addRun(modelId, label);
    const listedMs =
      (this.#known.get(idempotencyKey)?.dueMs ?? this.#clock.nowMs) + (this.#options.listLagMs ?? 0);
    this.ledger.charges.push({ seq, idempotencyKey, runId, priceCents, listedMs });
    return {
      status: 201,
      body: {
        run_id: runId,
        status: 'queued',
        price_cents: priceCents,
        currency: 'EUR',
        balance_after_cents: balanceAfterCents,
        plan_name: 'standard',
      },
    };
  }

  #read({ pathname, searchParams }: URL): Answer {
    const ok = (body: unknown) => ({ status: 200, body });
    if (pathname === '/api/v1/balance') return ok({ balance_cents: this.balanceCents, currency: 'EUR' });
    if (pathname === '/api/v1/models') return ok({ data: [] });
    if (pathname === '/api/v1/runs') return ok(this.#page(searchParams));
    const run = this.runs.find(({ runId }) => pathname === `/api/v1/runs/${runId}`);
    if (run === undefined)
      return { status: 404, body: { error: { code: 'not_found', message: 'no such run' } } };
    const { label, priceCents } = run;
    return ok({
      run: {
        ...summary(run),
        ...(label !== undefined && { label }),
        plan: 'standard',
        price_cents: priceCents,
      },
    });
  }

  /** Newest first; the cursor is the last run of a page, so new runs shift nothing. */
  #page(query: URLSearchParams): unknown {
    const { listLagMs = 0, pageRows = 100 } = this.#options;
    const runs = this.runs.filter(({ createdMs }) => createdMs + listLagMs <= this.#clock.nowMs).reverse();
    const limit = Math.min(Number(query.get('limit') ?? 20), 100, pageRows);
    const cursor = query.get('cursor');
    const from = cursor === null ? 0 : runs.findIndex(({ runId }) => runId === cursor) + 1;
    const page = runs.slice(from, from + limit);
    const has_more = from + limit < runs.length;
    return { data: page.map(summary), has_more, next_cursor: has_more ? page.at(-1)?.runId : null };
  }

  #meanwhile({ passMs = 0, sleepMs = 0, setWallMs = 0 }: Fault): void {
    this.#clock.pass(passMs);
    this.#clock.sleepMachine(sleepMs);
    this.#clock.setWall(setWallMs);
  }

  #reply(
    request: http.IncomingMessage,
    response: http.ServerResponse,
    reply: Reply,
    answer: Answer = NO_ANSWER,
    post?: Post,
  ): void {
    const { withoutDate, elsewhere } = this.#options;
    const date = withoutDate === true ? {} : { date: new Date(this.#clock.nowMs).toUTCString() };
    const send = (status: number, type: string, body: string, headers: http.OutgoingHttpHeaders = {}) =>
      void response.writeHead(status, { ...date, 'content-type': type, ...headers }).end(body);
    const json = ({ status, body }: Answer, headers?: http.OutgoingHttpHeaders) =>
      send(status, 'application/json', body === undefined ? '' : JSON.stringify(body), headers);
    const echo = this.#echo(request);
    switch (reply.kind) {
      case 'answer':
        json(answer);
        return;
      case 'reset':
        request.socket.resetAndDestroy();
        return;
      case 'half-close':
        request.socket.end();
        return;
      case 'silence':
        this.#clock.pass(reply.costMs);
        return;
      case 'torn':
        void this.#tear(response, reply.by, answer, date, post);
        return;
      case 'page':
        // A portal that answers instead of the service has a different clock.
        send(reply.status, 'text/html', `<html>${echo}</html>`, { date: PORTAL_DATE });
        return;
      case 'redirect':
        send(reply.status, 'text/plain', '', { location: elsewhere?.() ?? '/' });
        return;
      case 'nameless':
        json({ status: reply.status, body: { status: 'queued', note: echo } });
        return;
      case 'error':
        json(errorAnswer(reply, echo), this.#retryAfter(reply, post));
    }
  }

  /** Sends half of the answer: a complete response with half the JSON, or a response that ends early. */
  async #tear(
    response: http.ServerResponse,
    by: 'json' | 'length',
    { status, body }: Answer,
    date: http.OutgoingHttpHeaders,
    post: Post | undefined,
  ): Promise<void> {
    const text = JSON.stringify(body ?? {});
    const half = text.slice(0, text.length / 2);
    const length = by === 'length' ? text.length : half.length;
    response.writeHead(status, { ...date, 'content-type': 'application/json', 'content-length': length });
    await new Promise((resolve) => response.write(half, resolve));
    if (post !== undefined) await this.#options.onPoint?.('answer torn', post);
    if (by === 'json') response.end();
    else response.socket?.destroy();
  }

  #echo({ headers }: http.IncomingMessage): string {
    return this.#options.echo?.(headers.authorization ?? '') ?? '';
  }

  #retryAfter({ retryAfter }: Extract<Reply, { kind: 'error' }>, post?: Post): http.OutgoingHttpHeaders {
    if (retryAfter === undefined) return {};
    const [, isDate, seconds] = /^(date:)?(\d+)$/.exec(retryAfter) ?? [];
    if (seconds === undefined) return { 'retry-after': retryAfter };
    // A Retry-After date has full seconds, like the `Date` beside it.
    const nowMs = this.#clock.nowMs;
    const untilMs = (isDate ? Math.floor(nowMs / 1000) * 1000 : nowMs) + Number(seconds) * 1000;
    if (post !== undefined) post.notBeforeMs = untilMs;
    return { 'retry-after': isDate ? new Date(untilMs).toUTCString() : seconds };
  }
}

function errorAnswer({ status, code }: Extract<Reply, { kind: 'error' }>, echo: string): Answer {
  if (code === undefined) return { status, body: undefined };
  const error = code === 'echo' ? { code: echo, message: echo } : { code, message: `refused: ${echo}` };
  return { status, body: { error } };
}

function summary({ runId, modelId, createdMs }: Run): object {
  return {
    run_id: runId,
    status: 'queued',
    model_id: modelId,
    created_at: new Date(createdMs).toISOString(),
    artifacts_available: false,
    artifacts_expires_at: null,
  };
}

/** Reads a body; undefined unless it is complete and ends with the closing boundary. */
function readBody({ contentType, contentLength }: Post, bytes: Buffer): Partial<Post> | undefined {
  const boundary = /boundary=([^;]+)$/.exec(contentType)?.[1] ?? '';
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const filePart = bytes.indexOf('name="dataset"');
  const isComplete = bytes.byteLength === contentLength && bytes.subarray(-tail.byteLength).equals(tail);
  if (boundary === '' || !isComplete || filePart < 0) return undefined;
  const dataset = bytes.subarray(bytes.indexOf('\r\n\r\n', filePart) + 4, -tail.byteLength);
  const head = bytes.toString('utf8', 0, filePart);
  const field = (name: string) => new RegExp(`name="${name}"\r\n\r\n([^\r]*)\r\n`).exec(head)?.[1];
  const [modelId, label] = [field('model_id'), field('label')];
  return {
    digest: sha256Of(bytes),
    datasetSha256: sha256Of(dataset),
    ...(modelId !== undefined && { modelId }),
    ...(label !== undefined && { label }),
  };
}
