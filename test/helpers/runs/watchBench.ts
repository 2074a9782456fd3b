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
import { readList } from '../../../src/core/runs/storedRuns.ts';
import type { SavedList } from '../../../src/core/runs/storedRuns.ts';
import { StateStore } from '../../../src/core/storage/state.ts';
import type { Moved } from '../../../src/core/runs/loadedRuns.ts';
import { Session } from '../../../src/core/runs/session.ts';
import { Watcher } from '../../../src/core/runs/watcher.ts';
import { SteppedClock } from './steppedClock.ts';

/** A window that watches the bench's account. */
export interface WatchWindow {
  name: string;
  session: Session;
  watcher: Watcher;
  state: StateStore;
  errors: unknown[];
  moved: Moved[];
  isFocused: boolean;
  areRowsShown: boolean;
  isAwaiting: boolean;
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
export class WatchBench {
  readonly clock = new SteppedClock();
  /** The folder of the shared state. */
  readonly folder: string;
  /** The service's runs, newest first. */
  rows: RunSummary[] = [];
  /** Overrides the service's response unless it returns undefined. */
  instead: ((what: string, who: string) => Answer | undefined) | undefined;
  /** While set, responses wait for it. */
  gate: Promise<unknown> | undefined;
  balance_cents = 1_000;
  /** Passed to the watchers of all windows. */
  recallSubmitted: (session: Session) => Promise<boolean> = () => Promise.resolve(false);
  /** Requests by window, such as `a /runs`. */
  readonly asked: string[] = [];
  readonly #transport = new DirectTransport(
    (request) => this.#answer(request),
    () => new Date(this.clock.nowMs()).toUTCString(),
  );
  readonly #windows: WatchWindow[] = [];

  private constructor(folder: string) {
    this.folder = path.join(folder, 'storage');
  }

  static async start(): Promise<WatchBench> {
    return new WatchBench(await mkdtemp(path.join(tmpdir(), 'watch-')));
  }

  async end(): Promise<void> {
    for (const window of this.#windows) window.dispose();
    await this.settle();
    await rm(path.dirname(this.folder), { recursive: true, force: true, maxRetries: 5 });
  }

  /** Opens a window; its name is its API key, so the service can identify it. */
  window(name: string, isFocused = true): WatchWindow {
    const { clock } = this;
    const session = new Session(
      { kind: 'service', id: 'account-1', name, baseUrl: 'https://service.test' },
      () => Promise.resolve({ baseUrl: 'https://service.test', apiKey: name, keyId: 'key-1' }),
      (connection, gate) => new Client(connection, () => this.#transport, { clock, gate }),
      clock,
    );
    const errors: unknown[] = [];
    const moved: Moved[] = [];
    session.runs.onDidChange((change) => moved.push(...change.moved));
    const state = new StateStore(this.folder);
    const watcher: Watcher = new Watcher({
      session,
      state,
      lockFile: path.join(this.folder, 'watch.lock'),
      isFocused: () => window.isFocused,
      areRowsShown: () => window.areRowsShown,
      isAwaiting: () => window.isAwaiting,
      recallSubmitted: () => this.recallSubmitted(session),
      clock,
      random: () => 0.5,
      onError: (error) => errors.push(error),
    });
    const dispose = () => {
      watcher.dispose();
      session.dispose();
      state.dispose();
    };
    const window: WatchWindow = {
      name,
      session,
      watcher,
      state,
      errors,
      moved,
      isFocused,
      areRowsShown: false,
      isAwaiting: false,
      dispose,
    };
    this.#windows.push(window);
    return window;
  }

  /** Advances the time and waits until all effects are done. */
  pass(ms: number): Promise<void> {
    return this.clock.pass(ms, () => this.settle());
  }

  /** Waits until no request is open and no file is being read or written. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 4; quiet++) {
      await turn();
      const isAtFiles = process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'));
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

  /** Returns the stored list once it fulfills a condition. */
  async list(condition: (list: SavedList) => boolean = () => true): Promise<SavedList> {
    const started = Date.now();
    const state = new StateStore(this.folder);
    try {
      for (;;) {
        const list = await readList(state, 'account-1');
        if (list !== undefined && condition(list)) return list;
        if (Date.now() - started > 5_000) assert.fail(`never: ${condition.toString()}`);
        await delay(2);
      }
    } finally {
      state.dispose();
    }
  }

  async #answer({ url, headers }: HttpRequest): Promise<Answer> {
    const what = url.pathname.replace('/api/v1', '');
    const who = String(headers['authorization']).replace('Bearer ', '');
    this.asked.push(`${who} ${what}`);
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
export function made(bench: WatchBench, runId: string, agoMs: number, status = 'running'): RunSummary {
  return {
    run_id: runId,
    status,
    model_id: 'm',
    artifacts_available: status === 'complete',
    created_at: new Date(bench.clock.nowMs() - agoMs).toISOString(),
  };
}
