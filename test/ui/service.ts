// The service of a test: the sandbox behind a proxy that records requests. The proxy can reject API keys,
// change responses, hold transfers, or refuse connections.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import {
  createServer,
  request as forward,
  type ClientRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';
import type { Balance, RunDetail, RunSummary } from '../../src/core/api/types.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import { addPastRuns } from '../helpers/sandbox/pastRuns.ts';
import { setSandboxSpeed } from '../helpers/sandbox/speed.ts';
import { form } from '../helpers/sandbox/stage.ts';

/** A service on loopback with the test's API key. */
export class Service {
  /** `METHOD /path` of every request, in order. */
  readonly requests: string[] = [];
  /** The Idempotency-Key of each submission, in order. */
  readonly idempotencyKeys: string[] = [];
  /** While set, uploads stop in the middle until `release`. */
  holdsUploads = false;
  /** While set, submissions are charged, but their responses are held until `release`. */
  holdsAnswers = false;
  /** The currency of the balance. */
  currency = 'USD';
  /** While set, downloads stop in the middle until `release`. */
  holdsDownloads = false;
  /** The only API key that is accepted; undefined rejects all. */
  apiKey: string | undefined;
  readonly #sandbox: Sandbox;
  readonly #clock: { aheadMs: number };
  readonly #directory: string;
  #server: Server;
  #port = 0;
  /** Each continues a held transfer. */
  readonly #held: (() => void)[] = [];

  private constructor(sandbox: Sandbox, clock: { aheadMs: number }, directory: string, apiKey: string) {
    this.#sandbox = sandbox;
    this.#clock = clock;
    this.#directory = directory;
    this.apiKey = apiKey;
    this.#server = this.#createServer();
  }

  static async start(apiKey: string): Promise<Service> {
    const directory = await mkdtemp(path.join(tmpdir(), 'fine-tuning-service-'));
    const clock = { aheadMs: 0 };
    const sandbox = await startSandbox({ directory, now: () => Date.now() + clock.aheadMs });
    const service = new Service(sandbox, clock, directory, apiKey);
    await service.reopen();
    return service;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get control(): Sandbox['control'] {
    return this.#sandbox.control;
  }

  /** Advances the service's time. */
  passTime(ms: number): void {
    this.#clock.aheadMs += ms;
  }

  /** Number of submissions received, valid or not. */
  get submissions(): number {
    return this.requests.filter((request) => request === 'POST /api/v1/runs').length;
  }

  /** The newest runs with their details, read from the sandbox directly. */
  async runs(): Promise<RunDetail[]> {
    const { data } = await this.#get<{ data: RunSummary[] }>('/api/v1/runs');
    return Promise.all(
      data.map(async ({ run_id }) => (await this.#get<{ run: RunDetail }>(`/api/v1/runs/${run_id}`)).run),
    );
  }

  /** Submits a run as another client of the account does. */
  async submitElsewhere(label: string): Promise<void> {
    const headers = { authorization: `Bearer ${this.apiKey ?? ''}`, 'idempotency-key': randomUUID() };
    const sent = { method: 'POST', headers, body: form({ label }) };
    const { status } = await fetch(`${this.baseUrl}/api/v1/runs`, sent);
    assert.equal(status, 201);
  }

  /** Adds past runs, one per hour back from now. */
  addPastRuns(count: number): void {
    addPastRuns(this.#directory, count);
  }

  setSpeed(speed: number): void {
    setSandboxSpeed(this.#directory, speed, Date.now() + this.#clock.aheadMs);
  }

  setBalance(cents: number): void {
    const database = new DatabaseSync(path.join(this.#directory, 'sandbox.sqlite'), { timeout: 5_000 });
    database.prepare('UPDATE account SET balance_cents = ?').run(cents);
    database.close();
  }

  async balanceCents(): Promise<number> {
    return (await this.#get<Balance>('/api/v1/balance')).balance_cents;
  }

  /** Number of held uploads, responses, and downloads. */
  get held(): number {
    return this.#held.length;
  }

  /** Continues everything that is held, and stops holding. */
  release(): void {
    this.holdsUploads = false;
    this.holdsAnswers = false;
    this.holdsDownloads = false;
    for (const goOn of this.#held.splice(0)) goOn();
  }

  /** Refuses connections until `reopen`. */
  async shut(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  /** Accepts connections at the same address again if shut. */
  async reopen(): Promise<void> {
    if (this.#server.listening) return;
    this.#server = this.#createServer();
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    if (this.#server.listening) await this.shut();
    await this.#sandbox.close();
    await rm(this.#directory, { recursive: true, force: true });
  }

  #createServer(): Server {
    return createServer((request, response) => this.#pass(request, response));
  }

  #pass(request: IncomingMessage, response: ServerResponse): void {
    const { method = '', url = '' } = request;
    const isSubmission = method === 'POST' && url === '/api/v1/runs';
    const isDownload = method === 'GET' && url.startsWith('/artifacts/');
    this.requests.push(`${method} ${url.split('?')[0] ?? ''}`);
    if (isSubmission) this.idempotencyKeys.push(String(request.headers['idempotency-key']));
    const isKnown = this.apiKey !== undefined && request.headers.authorization === `Bearer ${this.apiKey}`;
    const inner = new URL(url, this.#sandbox.baseUrl);
    const onward = forward(inner, {
      method,
      headers: {
        ...request.headers,
        host: inner.host,
        // Let the sandbox reject a wrong API key, so that its response follows the contract.
        authorization: isKnown ? `Bearer ${this.#sandbox.apiKey}` : 'Bearer service_unknown',
      },
    });
    onward.on('response', (answer) => {
      const pass = () => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
        // Cut what the sandbox cuts.
        answer.on('close', () => {
          if (!answer.complete) response.destroy();
        });
      };
      if (isSubmission && this.holdsAnswers) this.#held.push(pass);
      else if (isDownload && this.holdsDownloads)
        holdTheHalf(answer, response, (goOn) => this.#held.push(goOn));
      else if (isDownload || isSubmission) pass();
      else passChanged(answer, response, (body) => this.#changed(url, body)).catch(() => response.destroy());
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
    request.on('close', () => {
      if (!request.complete) onward.destroy();
    });
    if (isSubmission && this.holdsUploads) holdInTheMiddle(request, onward, (goOn) => this.#held.push(goOn));
  }

  /** Returns the body of a response with the test's changes. */
  #changed(url: string, body: string): string {
    // Signed URLs go through the proxy.
    if (url.endsWith('/artifacts/download')) return body.replaceAll(this.#sandbox.baseUrl, this.baseUrl);
    return url === '/api/v1/balance' ? body.replace('"USD"', `"${this.currency}"`) : body;
  }

  async #get<T>(where: string): Promise<T> {
    const answer = await fetch(this.#sandbox.baseUrl + where, {
      headers: { authorization: `Bearer ${this.#sandbox.apiKey}` },
    });
    return (await answer.json()) as T;
  }
}

async function passChanged(
  answer: IncomingMessage,
  response: ServerResponse,
  change: (body: string) => string,
): Promise<void> {
  const body = change(await text(answer));
  const headers = { ...answer.headers, 'content-length': Buffer.byteLength(body) };
  response.writeHead(answer.statusCode ?? 502, headers);
  response.end(body);
}

/** Pauses an upload after 4 MiB, until the function passed to `onHold` is called. */
function holdInTheMiddle(
  request: IncomingMessage,
  onward: ClientRequest,
  onHold: (goOn: () => void) => void,
): void {
  let passedBytes = 0;
  const count = (chunk: Buffer) => {
    passedBytes += chunk.byteLength;
    if (passedBytes <= 4 * 1024 * 1024) return;
    request.off('data', count);
    request.unpipe(onward).pause();
    onHold(() => request.pipe(onward));
  };
  request.on('data', count);
}

/** Pauses a response after its first half, until the function passed to `onHold` is called. */
function holdTheHalf(
  answer: IncomingMessage,
  response: ServerResponse,
  onHold: (goOn: () => void) => void,
): void {
  response.writeHead(answer.statusCode ?? 502, answer.headers);
  const half = Number(answer.headers['content-length']) / 2;
  let passedBytes = 0;
  const pass = (chunk: Buffer) => {
    response.write(chunk);
    passedBytes += chunk.byteLength;
    if (passedBytes < half) return;
    answer.off('data', pass).pause();
    onHold(() => answer.pipe(response));
  };
  answer.on('data', pass);
}
