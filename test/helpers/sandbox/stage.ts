import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type {
  Artifact,
  Balance,
  Model,
  RunCreation,
  RunDetail,
  RunSummary,
} from '../../../src/core/api/types.ts';
import { startSandbox, type Sandbox } from '../../../src/sandbox/sandbox.ts';

/** The initial time of the sandbox's clock, a Monday. */
export const START = Date.parse('2026-01-05T10:00:00.000Z');
export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** The fields of all responses. A test uses those of its request. */
export interface Body extends Required<RunCreation>, Balance {
  data: (Nullable<RunSummary> & Nullable<Model> & { run_id: string; created_at: string })[];
  next_cursor: string | null;
  has_more: boolean;
  run: Nullable<RunDetail>;
  artifacts: Required<Artifact>[];
  error: { code: string; message: string };
}

type Nullable<T> = { [K in keyof T]-?: T[K] | null };

export interface Answer {
  status: number;
  headers: Headers;
  body: Body;
}

export type Address = Pick<Sandbox, 'baseUrl' | 'apiKey'>;

/** Owns a sandbox in a separate directory, with a controlled clock and a minimal client. */
export class Bench {
  readonly directory = mkdtempSync(path.join(tmpdir(), 'sandbox-test-'));
  readonly log: string[] = [];
  time = START;
  #sandbox: Sandbox | undefined;

  get sandbox(): Sandbox {
    if (!this.#sandbox) throw new Error('not started');
    return this.#sandbox;
  }

  /** Starts or restarts the sandbox on the same directory. */
  async start(): Promise<this> {
    await this.#sandbox?.close();
    this.#sandbox = await startSandbox({
      directory: this.directory,
      now: () => this.time,
      log: (line) => void this.log.push(line),
    });
    return this;
  }

  async close(): Promise<void> {
    await this.#sandbox?.close();
    rmSync(this.directory, { recursive: true, force: true });
  }

  get(path: string): Promise<Answer> {
    return this.call('GET', path);
  }

  async call(
    method: string,
    path: string,
    init: RequestInit = {},
    at: Address = this.sandbox,
  ): Promise<Answer> {
    const response = await fetch(`${at.baseUrl}/api/v1${path}`, {
      method,
      ...init,
      headers: { authorization: `Bearer ${at.apiKey}`, ...(init.headers as Record<string, string>) },
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: JSON.parse(text) as Body };
  }

  submit(change: FormChange = {}, idempotencyKey?: string, at: Address = this.sandbox): Promise<Answer> {
    const headers: Record<string, string> = idempotencyKey ? { 'idempotency-key': idempotencyKey } : {};
    return this.call('POST', '/runs', { body: form(change), headers }, at);
  }

  /** Sets the balance in the database, because no control can lower it. */
  leaveBalance(cents: number): void {
    const database = new DatabaseSync(path.join(this.directory, 'sandbox.sqlite'));
    database.prepare('UPDATE account SET balance_cents = ?').run(cents);
    database.close();
  }

  /** Submits a run, advances the clock past its completion, and returns its ID. */
  async completedRun(): Promise<string> {
    const { body } = await this.submit();
    this.time += HOUR;
    return body.run_id;
  }

  async signedUrl(runId: string): Promise<string> {
    const { body } = await this.call('POST', `/runs/${runId}/artifacts/download`);
    return body.artifacts[0]!.url;
  }
}

/** Fields to replace; null omits a field. */
export type FormChange = Record<string, string | Blob | null>;

export const ROW = '{"messages":[]}\n';

export function form(change: FormChange = {}): FormData {
  const fields: FormChange = {
    model_id: 'qwen3-8b',
    label: 'First try',
    model_terms_accepted: 'true',
    data_policy_accepted: 'true',
    dataset: new Blob([ROW]),
    ...change,
  };
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') data.append(name, value);
    else if (value) data.append(name, value, 'rows.jsonl');
  }
  return data;
}

/** Starts a bench before each test of the `describe` that calls this, and closes it afterwards. */
export function useBench(): () => Bench {
  let bench: Bench;
  beforeEach(async () => {
    bench = await new Bench().start();
  });
  afterEach(() => bench.close());
  return () => bench;
}
