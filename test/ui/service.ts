// The service as a test runs it: the sandbox behind a door that counts, and that can refuse keys or be closed.
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
import type { Balance, RunDetail, RunSummary } from '../../src/api/types.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';

/** A service on loopback with an API key of the test's choice. */
export class Service {
  /** `METHOD /path` of every request that came, in order. */
  readonly requests: string[] = [];
  /** While set, a submission comes to a stand in its middle. */
  holdsUploads = false;
  /** The one API key that is accepted; undefined refuses all. */
  apiKey: string | undefined;
  readonly #sandbox: Sandbox;
  readonly #directory: string;
  #server: Server;
  #port = 0;

  private constructor(sandbox: Sandbox, directory: string, apiKey: string) {
    this.#sandbox = sandbox;
    this.#directory = directory;
    this.apiKey = apiKey;
    this.#server = this.#createServer();
  }

  static async start(apiKey: string): Promise<Service> {
    const directory = await mkdtemp(path.join(tmpdir(), 'fine-tuning-service-'));
    const service = new Service(await startSandbox({ directory }), directory, apiKey);
    await service.reopen();
    return service;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get control(): Sandbox['control'] {
    return this.#sandbox.control;
  }

  /** How many submissions came, whatever was in them. */
  get submissions(): number {
    return this.requests.filter((request) => request === 'POST /api/v1/runs').length;
  }

  /** The newest runs with their details, read past the door. */
  async runs(): Promise<RunDetail[]> {
    const { data } = await this.#get<{ data: RunSummary[] }>('/api/v1/runs');
    return Promise.all(
      data.map(async ({ run_id }) => (await this.#get<{ run: RunDetail }>(`/api/v1/runs/${run_id}`)).run),
    );
  }

  async balanceCents(): Promise<number> {
    return (await this.#get<Balance>('/api/v1/balance')).balance_cents;
  }

  /** Nothing answers at the address until `reopen`. */
  async shut(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async reopen(): Promise<void> {
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
    this.requests.push(`${method} ${url.split('?')[0] ?? ''}`);
    const isKnown = this.apiKey !== undefined && request.headers.authorization === `Bearer ${this.apiKey}`;
    const inner = new URL(url, this.#sandbox.baseUrl);
    const onward = forward(inner, {
      method,
      headers: {
        ...request.headers,
        host: inner.host,
        // The sandbox itself refuses whoever has no key, so that the refusal is the contract's.
        authorization: isKnown ? `Bearer ${this.#sandbox.apiKey}` : 'Bearer service_unknown',
      },
    });
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    request.pipe(onward);
    request.on('close', () => {
      if (!request.complete) onward.destroy();
    });
    if (this.holdsUploads && method === 'POST' && url === '/api/v1/runs') holdInTheMiddle(request, onward);
  }

  async #get<T>(where: string): Promise<T> {
    const answer = await fetch(this.#sandbox.baseUrl + where, {
      headers: { authorization: `Bearer ${this.#sandbox.apiKey}` },
    });
    return (await answer.json()) as T;
  }
}

/** Lets a few megabytes pass, and then nothing more. */
function holdInTheMiddle(request: IncomingMessage, onward: ClientRequest): void {
  let passedBytes = 0;
  request.on('data', (chunk: Buffer) => {
    passedBytes += chunk.byteLength;
    if (passedBytes > 4 * 1024 * 1024) request.unpipe(onward).pause();
  });
}
