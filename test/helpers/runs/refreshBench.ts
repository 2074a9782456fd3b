import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { Client } from '../../../src/core/api/client.ts';
import { NetworkError } from '../../../src/core/api/errors.ts';
import type { HttpResponse, HttpRequest } from '../../../src/core/api/exchange.ts';
import { Transport } from '../../../src/core/api/transport.ts';
import type { RunSummary } from '../../../src/core/api/types.ts';
import { CacheFile, type Cache } from '../../../src/core/runs/cacheFile.ts';
import type { Moved } from '../../../src/core/runs/loadedRuns.ts';
import { Refresher } from '../../../src/core/runs/refresher.ts';
import { Session } from '../../../src/core/runs/session.ts';
import { SteppedClock } from './steppedClock.ts';

/** A window that shows the bench's account. */
export interface RefreshWindow {
  name: string;
  session: Session;
  refresher: Refresher;
  errors: unknown[];
  moved: Moved[];
  isFocused: boolean;
  areRowsShown: boolean;
  isAwaiting: boolean;
  /** Whether another extension’s loop blocks its extension host. */
  isHung: boolean;
  dispose(): void;
}

/** A response of the service, or `lost` for a disconnect. */
export type Answer = 'lost' | readonly [status: number, body: unknown, headers?: Record<string, string>];

/** Passes requests to the bench's service without a network. */
class DirectTransport extends Transport {
  readonly #answer: (request: HttpRequest) => Promise<Answer>;
  readonly #date: () => string;
  open = 0;

  constructor(answer: (request: HttpRequest) => Promise<Answer>, date: () => string) {
    super({ strictSsl: true, systemCertificates: false, env: {} });
    this.#answer = answer;
    this.#date = date;
  }

  override async send(request: HttpRequest): Promise<HttpResponse> {
    this.open++;
    const answer = await this.#answer(request).finally(() => this.open--);
    if (answer === 'lost') throw new NetworkError('reset');
    const [httpStatus, body, more] = answer;
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      date: this.#date(),
      ...more,
    };
    const bytes = Buffer.from(JSON.stringify(body));
    return {
      httpStatus,
      header: (name) => headers[name],
      body: (async function* () {
        yield await Promise.resolve(bytes);
      })(),
      discard: () => undefined,
    };
  }
}

/** Owns the windows of one machine, which share an account's folder and a clock, and a service that records requests. */
export class RefreshBench {
  readonly clock = new SteppedClock();
  /** The folder of the shared state. */
  readonly folder: string;
  /** Whether a file watcher reports changes to windows, in real time. Otherwise they see them at their next tick. */
  isWatched = false;
  /** The service's runs, newest first. */
  rows: RunSummary[] = [];
  /** Overrides the service's response unless it returns undefined. */
  instead: ((what: string, who: string) => Answer | undefined) | undefined;
  /** Called before a request is answered. */
  onRequest: () => void = () => undefined;
  /** While set, responses wait for it. */
  gate: Promise<unknown> | undefined;
  balance_cents = 1_000;
  /** Passed to the refreshers of all windows. */
  recallSubmitted: (session: Session) => Promise<boolean> = () => Promise.resolve(false);
  /** Requests by window, such as `a /runs`. */
  readonly asked: string[] = [];
  readonly #transport = new DirectTransport(
    (request) => this.#answer(request),
    () => new Date(this.clock.nowMs()).toUTCString(),
  );
  readonly #windows: RefreshWindow[] = [];

  private constructor(folder: string) {
    this.folder = path.join(folder, 'storage');
  }

  get file(): string {
    return path.join(this.folder, 'cache.1.json');
  }

  static async start(): Promise<RefreshBench> {
    return new RefreshBench(await mkdtemp(path.join(tmpdir(), 'refresh-')));
  }

  async end(): Promise<void> {
    for (const window of this.#windows) window.dispose();
    await this.settle();
    await rm(path.dirname(this.folder), { recursive: true, force: true, maxRetries: 5 });
  }

  /** Opens a window; its name is its API key, so the service can identify it. */
  window(name: string, isFocused = true): RefreshWindow {
    const { clock } = this;
    const session = new Session(
      { kind: 'service', id: 'account-1', name, baseUrl: 'https://service.test' },
      () => Promise.resolve({ baseUrl: 'https://service.test', apiKey: name, keyId: 'key-1' }),
      (connection, gate) => new Client(connection, () => this.#transport, { clock, gate }),
      clock,
    );
    // Each window has other random numbers.
    const jitter = (0.5 + 0.4 * this.#windows.length) % 1;
    const errors: unknown[] = [];
    const moved: Moved[] = [];
    session.runs.onDidChange((change) => moved.push(...change.moved));
    const refresher: Refresher = new Refresher({
      session,
      file: this.file,
      isWatched: this.isWatched,
      isFocused: () => window.isFocused,
      areRowsShown: () => window.areRowsShown,
      isAwaiting: () => window.isAwaiting,
      recallSubmitted: () => this.recallSubmitted(session),
      clock: {
        nowMs: () => clock.nowMs(),
        monotonicMs: () => clock.monotonicMs(),
        sleep: async (ms, signal) => {
          await clock.sleep(ms, signal);
          if (window.isHung) await new Promise(() => undefined);
        },
      },
      random: () => jitter,
      onError: (error) => errors.push(error),
    });
    const dispose = () => {
      refresher.dispose();
      session.dispose();
    };
    const window: RefreshWindow = {
      name,
      session,
      refresher,
      errors,
      moved,
      isFocused,
      areRowsShown: false,
      isAwaiting: false,
      isHung: false,
      dispose,
    };
    this.#windows.push(window);
    return window;
  }

  /** Advances the time and waits until all effects are done. */
  async pass(ms: number): Promise<void> {
    await this.settle();
    await this.clock.pass(ms, () => this.settle());
  }

  /** Waits until no request is open and no file is being read or written. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 4; quiet++) {
      await turn();
      const isAtFiles = process.getActiveResourcesInfo().some((name) => /^(FSReq|CloseReq)/.test(name));
      if (isAtFiles || (this.#transport.open > 0 && this.gate === undefined)) quiet = -1;
    }
  }

  /** Waits in real time for a condition that depends on file system events. */
  async until(condition: () => boolean): Promise<void> {
    const started = Date.now();
    while (!condition()) {
      if (Date.now() - started > 5_000) assert.fail(`never: ${condition.toString()}`);
      await delay(5);
    }
  }

  /** Returns the content of the file that windows share. */
  async cache(): Promise<Cache> {
    return (await new CacheFile(this.file).read()) ?? assert.fail('no cache');
  }

  async #answer({ url, headers }: HttpRequest): Promise<Answer> {
    const what = url.pathname.replace('/api/v1', '');
    const who = String(headers['authorization']).replace('Bearer ', '');
    this.asked.push(`${who} ${what}`);
    this.onRequest();
    const start = Number(url.searchParams.get('cursor') ?? 0);
    const end = start + Number(url.searchParams.get('limit'));
    const has_more = end < this.rows.length;
    const page = { data: this.rows.slice(start, end), has_more, next_cursor: has_more ? String(end) : null };
    await this.gate;
    const instead = this.instead?.(what, who);
    if (instead !== undefined) return instead;
    if (what === '/runs') return [200, page];
    if (what === '/models')
      return [
        200,
        {
          data: [
            { model_id: 'm', name: 'Model M', provider: 'p', available: true, terms_url: 'https://t.test' },
          ],
        },
      ];
    if (what === '/balance') return [200, { balance_cents: this.balance_cents, currency: 'EUR' }];
    const runId = what.replace('/runs/', '');
    const run = this.rows.find(({ run_id }) => run_id === runId);
    if (run !== undefined) return [200, { run: { ...run, label: `L ${runId}` } }];
    return [404, { error: { code: 'not_found', message: '' } }];
  }
}

/** A run that was created `agoMs` ago by the bench's clock. */
export function made(bench: RefreshBench, runId: string, agoMs: number, status = 'running'): RunSummary {
  return {
    run_id: runId,
    status,
    model_id: 'm',
    artifacts_available: status === 'complete',
    created_at: new Date(bench.clock.nowMs() - agoMs).toISOString(),
  };
}
