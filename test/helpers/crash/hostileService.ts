import http from 'node:http';
import { startHttpServer, type TestServer } from '../httpServer.ts';
import { Books, type Mode, type Verdict } from './books.ts';
import type { Fault, Reply } from './faults.ts';
import { Ledger, type Post } from './ledger.ts';
import { answerRead } from './reads.ts';
import type { VirtualClock } from './time.ts';
import { UploadProbe } from './uploadProbe.ts';

/** So much of a body has come when a fault hits its middle. */
const MIDDLE_BYTES = 50_000;
const PORTAL_DATE = 'Thu, 01 Jan 2032 00:00:00 GMT';

export interface HostileOptions {
  mode: Mode;
  clock: VirtualClock;
  /** What answers repeat to their sender: nothing of it may be found anywhere afterwards. */
  echo?: (authorization: string) => string;
  /** What happens to a post, asked when its head has come. */
  faultOf: (post: Post) => Fault;
  /** What happens to a read; undefined: nothing. */
  readFault?: (path: string) => Reply | undefined;
  /** Where redirects lead. */
  elsewhere?: () => string;
  /** Told when a body is there whole and nothing was answered, or when an answer went out torn; the service waits for it. */
  onPoint?: (point: 'sent' | 'answer-torn', post: Post) => Promise<'killed' | undefined>;
  /** A body was received whole. */
  onClosed?: (post: Post) => void;
  /** A head came. */
  onPost?: (post: Post) => void;
  apiKeys?: ReadonlySet<string>;
  /** Rows of a page at most, whatever is asked for. */
  pageRows?: number;
  /** It does not tell its time. */
  withoutDate?: boolean;
  /** For so long a new run is in no list. */
  listLagMs?: number;
}

/** A service that keeps the contract as badly as it can, on a clock of its own, and writes down everything. */
export class HostileService {
  readonly ledger = new Ledger();
  readonly books: Books;
  readonly options: HostileOptions;
  readonly #clock: VirtualClock;
  #server: TestServer | undefined;

  constructor(options: HostileOptions) {
    this.options = options;
    this.#clock = options.clock;
    this.books = new Books(options.mode, options.clock, this.ledger);
  }

  async start(): Promise<this> {
    this.#server = await startHttpServer((request, response) => {
      request.on('error', () => undefined);
      response.on('error', () => undefined);
      // Node would tell the machine's time.
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

  /** In the head of every answer: the service's own time. */
  get #date(): http.OutgoingHttpHeaders {
    return this.options.withoutDate === true ? {} : { date: new Date(this.#clock.nowMs).toUTCString() };
  }

  #onRead(request: http.IncomingMessage, response: http.ServerResponse): void {
    request.resume();
    const { url = '', method = '', headers } = request;
    this.ledger.reads.push({
      seq: this.ledger.nextSeq(),
      window: Number(headers['x-window'] ?? 0),
      atMs: this.#clock.nowMs,
      method,
      path: url,
      authorization: headers.authorization ?? '',
    });
    const fault = this.options.readFault?.(url);
    const verdict = this.#isKnownKey(headers.authorization) ? answerRead(this, url) : unauthorized();
    this.#reply(request, response, fault ?? { kind: 'answer' }, verdict);
  }

  #onPost(request: http.IncomingMessage, response: http.ServerResponse): void {
    const { headers } = request;
    const post: Post = {
      seq: this.ledger.nextSeq(),
      window: Number(headers['x-window'] ?? 0),
      ordinal: Number(headers['x-post'] ?? 0),
      atMs: this.#clock.nowMs,
      idempotencyKey: String(headers['idempotency-key']),
      authorization: headers.authorization ?? '',
      contentType: headers['content-type'] ?? '',
      contentLength: Number(headers['content-length'] ?? 0),
      receivedBytes: 0,
      digest: 'incomplete',
    };
    this.ledger.posts.push(post);
    this.options.onPost?.(post);
    const fault = this.options.faultOf(post);
    const probe = new UploadProbe(post.contentType, post.contentLength);
    let isHit = fault.at === 'end';
    const hit = () => {
      isHit = true;
      this.#meanwhile(fault);
      // A time for the machine to sleep, not an answer: it goes on.
      if (fault.reply.kind === 'answer' && fault.at === 'middle') return;
      if (fault.reply.kind === 'silence') request.pause();
      // Early and yet a success: such a service prices what it has seen of it.
      const verdict =
        fault.work === 'none' || fault.reply.kind !== 'answer' ? undefined : this.books.take(post, 0);
      this.#reply(request, response, fault.reply, verdict, post);
    };
    request.on('data', (chunk: Buffer) => {
      probe.add(chunk);
      post.receivedBytes = probe.receivedBytes;
      if (!isHit && fault.at === 'middle' && probe.receivedBytes >= MIDDLE_BYTES) hit();
    });
    request.on('end', () => {
      const body = probe.whole();
      if (body === undefined) return;
      post.digest = body.digest;
      post.datasetSha256 = body.datasetSha256;
      post.closedAtMs = this.#clock.nowMs;
      const modelId = body.fields.get('model_id');
      const label = body.fields.get('label');
      Object.assign(post, { modelId, label });
      this.options.onClosed?.(post);
      if (fault.at === 'end' || (fault.at === 'middle' && fault.reply.kind === 'answer'))
        void this.#onWhole(request, response, post, fault);
    });
    if (fault.at === 'head') hit();
  }

  async #onWhole(
    request: http.IncomingMessage,
    response: http.ServerResponse,
    post: Post,
    fault: Fault,
  ): Promise<void> {
    const { reply, work } = fault;
    let verdict: Verdict | undefined;
    if (!this.#isKnownKey(post.authorization)) {
      this.#reply(request, response, { kind: 'answer' }, unauthorized(), post);
      return;
    }
    if (fault.sleepFirst === true) this.#meanwhile(fault);
    if (work === 'charge') verdict = this.books.take(post, 0);
    if (typeof work === 'object') verdict = this.books.take(post, work.lateMs);
    if (work === 'none' && reply.kind === 'error')
      verdict = this.books.keep(post, {
        status: reply.status,
        body: errorBody(reply, this.#echo(request)),
      });
    if (fault.at === 'end' && fault.sleepFirst !== true) this.#meanwhile(fault);
    // Who is dead hears nothing of it.
    if ((await this.options.onPoint?.('sent', post)) === 'killed') {
      request.socket.destroy();
      return;
    }
    // What some services keep is what they say, whatever happens this time.
    const isKept = work === 'none' && reply.kind === 'error' && verdict?.status !== reply.status;
    this.#reply(request, response, isKept ? { kind: 'answer' } : reply, verdict, post);
  }

  #meanwhile({ passMs, sleepMs, setWallMs }: Fault): void {
    if (passMs !== undefined) this.#clock.pass(passMs);
    if (sleepMs !== undefined) this.#clock.sleepMachine(sleepMs);
    if (setWallMs !== undefined) this.#clock.setWall(setWallMs);
  }

  #reply(
    request: http.IncomingMessage,
    response: http.ServerResponse,
    reply: Reply,
    verdict: Verdict = { status: 500, body: undefined },
    post?: Post,
  ): void {
    const send = (status: number, type: string, body: string, headers: http.OutgoingHttpHeaders = {}) => {
      if (post !== undefined) post.status = status;
      response.writeHead(status, { ...this.#date, 'content-type': type, ...headers }).end(body);
    };
    const json = (status: number, value: unknown, headers?: http.OutgoingHttpHeaders) =>
      send(status, 'application/json', value === undefined ? '' : JSON.stringify(value), headers);
    const echo = this.#echo(request);
    switch (reply.kind) {
      case 'answer':
        json(verdict.status, verdict.body);
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
        void this.#tear(response, reply.by, verdict, post);
        return;
      case 'page':
        // Whoever answers in the service's place has a clock of its own.
        send(reply.status, 'text/html', `<html>${echo}</html>`, { date: PORTAL_DATE });
        return;
      case 'redirect':
        send(reply.status, 'text/plain', '', { location: this.options.elsewhere?.() ?? '/' });
        return;
      case 'nameless':
        json(reply.status, { status: 'queued', note: echo });
        return;
      case 'error': {
        const retryAfter = this.#retryAfter(reply, post);
        json(reply.status, errorBody(reply, echo), {
          ...(retryAfter !== undefined && { 'retry-after': retryAfter }),
        });
      }
    }
  }

  async #tear(
    response: http.ServerResponse,
    by: 'json' | 'length',
    { status, body }: Verdict,
    post: Post | undefined,
  ): Promise<void> {
    const text = JSON.stringify(body ?? {});
    const half = text.slice(0, text.length / 2);
    const length = by === 'length' ? text.length : half.length;
    response.writeHead(status, {
      ...this.#date,
      'content-type': 'application/json',
      'content-length': length,
    });
    await new Promise((resolve) => response.write(half, resolve));
    if (post !== undefined) await this.options.onPoint?.('answer-torn', post);
    if (by === 'json') response.end();
    else response.socket?.destroy();
  }

  #echo({ headers }: http.IncomingMessage): string {
    return this.options.echo?.(headers.authorization ?? '') ?? '';
  }

  #retryAfter({ retryAfter }: Extract<Reply, { kind: 'error' }>, post?: Post): string | undefined {
    if (retryAfter === undefined) return undefined;
    const [, seconds] = /^(?:date:)?(\d+)$/.exec(retryAfter) ?? [];
    if (seconds === undefined) return retryAfter;
    // A date is whole seconds: so is the time that it is told with.
    const nowMs = this.#clock.nowMs;
    const isDate = retryAfter.startsWith('date:');
    const untilMs = (isDate ? Math.floor(nowMs / 1000) * 1000 : nowMs) + Number(seconds) * 1000;
    if (post !== undefined) post.notBeforeMs = untilMs;
    return isDate ? new Date(untilMs).toUTCString() : seconds;
  }

  #isKnownKey(authorization: string | undefined): boolean {
    const { apiKeys } = this.options;
    return apiKeys === undefined || apiKeys.has(authorization?.replace(/^Bearer /, '') ?? '');
  }
}

function errorBody({ code }: Extract<Reply, { kind: 'error' }>, echo: string): unknown {
  if (code === 'echo') return { error: { code: echo, message: echo } };
  return code === undefined ? undefined : { error: { code, message: `refused: ${echo}` } };
}

function unauthorized(): Verdict {
  return { status: 401, body: { error: { code: 'invalid_api_key', message: 'no' } } };
}
