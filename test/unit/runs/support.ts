import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client, type Connection } from '../../../src/api/client.ts';
import { Transport } from '../../../src/api/transport.ts';
import type { RunSummary } from '../../../src/api/types.ts';
import type { Account } from '../../../src/runs/account.ts';
import { Session } from '../../../src/runs/session.ts';
import type { Draft } from '../../../src/runs/submitter.ts';
import { startSandbox, type Sandbox } from '../../../src/sandbox/sandbox.ts';
import { startHttpServer, type TestServer } from '../../helpers/httpServer.ts';

/** What one test opens, all of it closed at its end: a folder, local servers, a transport and sessions. */
export class Bench {
  readonly folder: string;
  readonly transport = new Transport({ strictSsl: true, systemCertificates: false, env: {} });
  readonly #open: { close(): Promise<void> }[] = [];
  readonly #sessions: Session[] = [];

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async start(): Promise<Bench> {
    return new Bench(await mkdtemp(path.join(tmpdir(), 'runs-test-')));
  }

  async end(): Promise<void> {
    for (const session of this.#sessions) session.dispose();
    for (const server of this.#open) await server.close();
    this.transport.dispose();
    await rm(this.folder, { recursive: true, force: true });
  }

  async serve(listener: http.RequestListener): Promise<TestServer> {
    const server = await startHttpServer(listener);
    this.#open.push(server);
    return server;
  }

  async sandbox(now?: () => number): Promise<Sandbox> {
    const directory = path.join(this.folder, `sandbox-${this.#open.length}`);
    const sandbox = await startSandbox({ directory, ...(now && { now }) });
    this.#open.push(sandbox);
    return sandbox;
  }

  /** A session that never waits between retries. */
  session(connect: Connection | (() => Promise<Connection | undefined>), id = 'account-1'): Session {
    const account: Account = { kind: 'service', id, name: id, baseUrl: 'https://service.test' };
    const session = new Session(
      account,
      typeof connect === 'function' ? connect : () => Promise.resolve(connect),
      (connection) => new Client(connection, () => this.transport, { sleep: () => Promise.resolve() }),
    );
    this.#sessions.push(session);
    return session;
  }

  /** A dataset on disk and what the person chose for it. */
  async draft(rows = 10, name = 'train.jsonl'): Promise<Draft> {
    const text = '{"prompt":"a","completion":"b"}\n'.repeat(rows);
    const file = path.join(this.folder, name);
    await writeFile(file, text);
    return {
      dataset: { path: file, filename: name, sizeBytes: Buffer.byteLength(text) },
      model_id: 'qwen3-8b',
      label: 'Läbel',
      model_terms_accepted: true,
      data_policy_accepted: true,
      priority_processing: false,
    };
  }
}

/** Resolves when the condition holds; looks at every turn of the event loop. */
export async function until(condition: () => boolean): Promise<void> {
  const started = Date.now();
  while (!condition()) {
    if (Date.now() - started > 5000) throw new Error(`never: ${condition.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** A row of the run list, made `minutes` after noon. */
export function row(runId: string, minutes: number | undefined, status = 'queued'): RunSummary {
  return {
    run_id: runId,
    status,
    model_id: 'm',
    artifacts_available: false,
    ...(minutes !== undefined && { created_at: new Date(Date.UTC(2026, 0, 5, 12, minutes)).toISOString() }),
  };
}

export const silent = () => new AbortController().signal;
