import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Account } from '../../../src/core/accounts/account.ts';
import { Client, type Connection } from '../../../src/core/api/client.ts';
import { Transport } from '../../../src/core/api/transport.ts';
import type { RunSummary } from '../../../src/core/api/types.ts';
import { SYSTEM_CLOCK } from '../../../src/core/base/clock.ts';
import { Session } from '../../../src/core/runs/session.ts';
import { Journal, type JournalOptions } from '../../../src/core/submission/journal.ts';
import type { Draft } from '../../../src/core/submission/submission.ts';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../../src/sandbox/sandbox.ts';
import { startHttpServer, type TestServer } from '../httpServer.ts';

/** Owns the resources of one test until its end: a folder, a journal, local servers, a transport, and sessions. */
export class Bench {
  readonly folder: string;
  /** Open and initially empty. */
  readonly journal: Journal;
  readonly transport = new Transport({ strictSsl: true, systemCertificates: false, env: {} });
  readonly #open: { close(): Promise<void> }[] = [];
  readonly #sessions: Session[] = [];
  readonly #journals: Journal[] = [];

  private constructor(folder: string, journalOptions: JournalOptions) {
    this.folder = folder;
    this.journal = this.#createJournal(journalOptions);
  }

  static async start(journalOptions: JournalOptions = {}): Promise<Bench> {
    const bench = new Bench(await mkdtemp(path.join(tmpdir(), 'runs-test-')), journalOptions);
    await bench.journal.open();
    return bench;
  }

  async end(): Promise<void> {
    for (const one of [...this.#sessions, ...this.#journals]) one.dispose();
    for (const server of this.#open) await server.close();
    this.transport.dispose();
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  get journalFolder(): string {
    return path.join(this.folder, 'journal');
  }

  /** Creates another window's journal in the same folder, not opened yet. */
  otherJournal(options: JournalOptions = {}): Journal {
    return this.#createJournal(options);
  }

  async serve(listener: http.RequestListener): Promise<TestServer> {
    const server = await startHttpServer(listener);
    this.#open.push(server);
    return server;
  }

  async sandbox(options: Omit<SandboxOptions, 'directory'> = {}): Promise<Sandbox> {
    const directory = path.join(this.folder, `sandbox-${this.#open.length}`);
    const sandbox = await startSandbox({ directory, ...options });
    this.#open.push(sandbox);
    return sandbox;
  }

  /** Creates a session whose reads never wait between retries. @param now the machine's clock, by default the real one */
  session(
    connect: Sandbox | Connection | (() => Promise<Connection | undefined>),
    id = 'account-1',
    now?: () => number,
  ): Session {
    const baseUrl = typeof connect === 'function' ? 'https://service.test' : connect.baseUrl;
    const account: Account = { kind: 'service', id, name: id, baseUrl };
    const session = new Session(
      account,
      typeof connect === 'function' ? connect : () => Promise.resolve({ keyId: 'key-1', ...connect }),
      (connection, gate) =>
        new Client(connection, () => this.transport, {
          gate,
          clock: { nowMs: now ?? Date.now, sleep: () => Promise.resolve() },
        }),
      { ...SYSTEM_CLOCK, ...(now && { nowMs: now }) },
    );
    this.#sessions.push(session);
    return session;
  }

  /** Writes a dataset, whose bytes depend on its name, and returns a draft for it. */
  async draft(rows = 10, name = 'train.jsonl', changes: Partial<Draft> = {}): Promise<Draft> {
    const text = `{"prompt":"${name}","completion":"b"}\n`.repeat(rows);
    const file = path.join(this.folder, name);
    await writeFile(file, text);
    const sha256 = createHash('sha256').update(text).digest('hex');
    return {
      dataset: {
        path: file,
        filename: name,
        sizeBytes: Buffer.byteLength(text),
        sha256,
        rows,
        mtimeMs: 1,
        ctimeMs: 1,
      },
      model_id: 'qwen3-8b',
      label: 'Läbel',
      priority_processing: false,
      consents: {
        model_terms: { accepted_at: '2026-05-03T12:00:00Z', urls: ['https://terms.test/'] },
        data_policy: { accepted_at: '2026-05-03T12:00:01Z' },
      },
      ...changes,
    };
  }

  #createJournal(options: JournalOptions): Journal {
    const journal = new Journal(this.journalFolder, options);
    this.#journals.push(journal);
    return journal;
  }
}

/** Waits for a condition, which it checks about every millisecond. */
export async function until(condition: () => boolean): Promise<void> {
  const started = Date.now();
  while (!condition()) {
    // Only a fault takes that long, on a busy machine too.
    if (Date.now() - started > 60_000) throw new Error(`never: ${condition.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** A row of the run list, created `minutes` after noon. */
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
