import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readlinkSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from '../../../src/core/api/client.ts';
import type { Timeouts } from '../../../src/core/api/exchange.ts';
import { Transport } from '../../../src/core/api/transport.ts';
import type { RunSubmission } from '../../../src/core/api/types.ts';
import type { UploadHooks } from '../../../src/core/api/upload.ts';
import { bodyOf, sendJson, startHttpServer, type TestServer } from '../httpServer.ts';

export const MIB = 1024 * 1024;
/** The service's response to a submission. */
export const CREATED = {
  run_id: 'run-1',
  status: 'queued',
  price_cents: 100,
  currency: 'EUR',
  balance_after_cents: 5,
  plan_name: 'p',
};
/** The closing boundary of `UploadBench.submission`. */
export const CLOSING = '\r\n--b0undary--\r\n';

/** A server that records complete requests. */
export interface Receiver extends TestServer {
  bodies: Buffer[];
  headers: http.IncomingHttpHeaders[];
}

export interface ClientSettings {
  timeouts?: Partial<Timeouts>;
  strictSsl?: boolean;
  /** Environment variables that may name proxies. */
  env?: Record<string, string>;
}

/**
 * Owns the resources of one upload test until its end: a folder with one dataset, local servers, transports. Fails a test that
 * leaves a promise rejection unhandled.
 */
export class UploadBench {
  readonly folder: string;
  readonly file: string;
  readonly #open: { close(): Promise<void> }[] = [];
  #sha256 = '';
  readonly #unhandled: unknown[] = [];
  readonly #noteUnhandled = (reason: unknown) => this.#unhandled.push(reason);

  private constructor(folder: string) {
    this.folder = folder;
    this.file = path.join(folder, 'dataset.jsonl');
    process.on('unhandledRejection', this.#noteUnhandled);
  }

  static async start(): Promise<UploadBench> {
    return new UploadBench(await mkdtemp(path.join(tmpdir(), 'create-run-')));
  }

  async end(): Promise<void> {
    for (const server of this.#open) await server.close();
    await rm(this.folder, { recursive: true });
    process.off('unhandledRejection', this.#noteUnhandled);
    if (this.#unhandled.length > 0)
      throw new Error('a rejection was left to nobody', { cause: this.#unhandled });
  }

  async served(starting: Promise<TestServer>): Promise<TestServer> {
    const server = await starting;
    this.#open.push(server);
    return server;
  }

  /** Starts a server that reads complete bodies and responds with a run. */
  async receiver(start: typeof startHttpServer = startHttpServer): Promise<Receiver> {
    const bodies: Buffer[] = [];
    const headers: http.IncomingHttpHeaders[] = [];
    const server = await this.served(
      start((request, response) => {
        headers.push(request.headers);
        bodyOf(request).then(
          (body) => {
            bodies.push(body);
            sendJson(response, 201, CREATED);
          },
          () => undefined,
        );
      }),
    );
    return { ...server, bodies, headers };
  }

  /** Starts a server that reads one chunk and then pauses, so the upload is stuck in the middle of a large file. */
  async standstill() {
    let request: http.IncomingMessage | undefined;
    let response: http.ServerResponse | undefined;
    const standing = Promise.withResolvers<undefined>();
    const server = await this.served(
      startHttpServer((...both) => {
        [request, response] = both;
        request.once('data', () => {
          request?.pause();
          standing.resolve(undefined);
        });
      }),
    );
    let last: Buffer = Buffer.alloc(0);
    return {
      url: server.url,
      /** Resolves when the first chunk was read. */
      standing: standing.promise,
      /** Reads the rest and responds. */
      resume: () => {
        request?.on('data', (chunk: Buffer) => (last = chunk));
        request?.on('end', () => response && sendJson(response, 201, CREATED));
        request?.resume();
      },
      last: () => last,
    };
  }

  /** A submission of the last dataset that was written. */
  submission(sizeBytes: number): RunSubmission {
    return {
      idempotencyKey: '8d5b2f9c-1111-4222-8333-444455556666',
      boundary: 'b0undary',
      dataset: {
        path: this.file,
        filename: 'dataset.jsonl',
        sizeBytes,
        sha256: this.#sha256,
      },
      model_id: 'm',
      label: 'Ünique',
      model_terms_accepted: true,
      data_policy_accepted: true,
      priority_processing: true,
    };
  }

  async dataset(sizeBytes: number): Promise<Buffer> {
    const bytes = randomBytes(sizeBytes);
    await writeFile(this.file, bytes);
    this.#sha256 = sha256Of(bytes);
    return bytes;
  }

  clientOf(url: string, settings: ClientSettings = {}): Client {
    const { timeouts = {}, strictSsl = true, env = {} } = settings;
    const transport = new Transport({ strictSsl, systemCertificates: false, env }, { timeouts });
    this.#open.push({
      close: () => {
        transport.dispose();
        return Promise.resolve();
      },
    });
    return new Client({ baseUrl: url, apiKey: 'k', keyId: 'key-1' }, () => transport);
  }

  /** Number of open descriptors of the dataset in this process, even if it was deleted or replaced. */
  openDescriptors(): number {
    return descriptors().filter((target) => target.startsWith(this.file)).length;
  }
}

/** The targets of this process's open descriptors. */
export function descriptors(): string[] {
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      return [readlinkSync(`/proc/self/fd/${descriptor}`)];
    } catch {
      return []; // the descriptor used to read the folder
    }
  });
}

/** Hooks that record their calls, in order. */
export function noted(hooks: UploadHooks = {}) {
  const events: string[] = [];
  return {
    events,
    hooks: {
      beforeClose: () => {
        events.push('beforeClose');
        return hooks.beforeClose?.() ?? Promise.resolve();
      },
      onClosed: () => void events.push('onClosed'),
    },
  };
}

export function sha256Of(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}
