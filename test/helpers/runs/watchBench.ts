import assert from 'node:assert/strict';
import type http from 'node:http';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from '../../../src/core/api/client.ts';
import type { HttpAnswer, HttpRequest } from '../../../src/core/api/exchange.ts';
import { Transport } from '../../../src/core/api/transport.ts';
import type { RunSummary } from '../../../src/core/api/types.ts';
import { readList, type SavedList } from '../../../src/core/runs/sharedList.ts';
import { StateStore } from '../../../src/core/storage/state.ts';
import type { Moved } from '../../../src/core/runs/runStore.ts';
import { Session } from '../../../src/core/runs/session.ts';
import { Watcher } from '../../../src/core/runs/watcher.ts';
import { sendJson } from '../httpServer.ts';
import { SteppedClock } from './steppedClock.ts';
import { Bench } from './support.ts';

/** A window that watches the account of a `WatchBench`. */
export interface WatchWindow {
  name: string;
  session: Session;
  watcher: Watcher;
  state: StateStore;
  errors: unknown[];
  moved: Moved[];
  isFocused: boolean;
  isAwaiting: boolean;
  dispose(): void;
}

/** Knows how many requests wait for the head of an answer. */
class CountingTransport extends Transport {
  waiting = 0;

  override async send(request: HttpRequest): Promise<HttpAnswer> {
    this.waiting++;
    try {
      return await super.send(request);
    } finally {
      this.waiting--;
    }
  }
}

/** Windows of one machine that share an account's folder and a clock, and a service that notes who asks for what. */
export class WatchBench {
  readonly clock = new SteppedClock();
  /** Where the shared state is. */
  readonly folder: string;
  /** What the service has, newest first. */
  rows: RunSummary[] = [];
  /** Answers in place of the service, where it returns true. */
  instead: ((request: http.IncomingMessage, response: http.ServerResponse) => boolean) | undefined;
  /** While set, answers wait for it. */
  gate: Promise<unknown> | undefined;
  balance_cents = 1_000;
  /** How far the service's clock is ahead of the windows'. */
  aheadMs = 0;
  /** What windows take in that was submitted earlier. */
  recallSubmitted: (session: Session) => Promise<void> = () => Promise.resolve();
  /** Who asked for what, such as `a /runs`. */
  readonly asked: string[] = [];
  /** When, by the clock. */
  readonly askedAtMs: number[] = [];
  readonly #bench: Bench;
  readonly #transport = new CountingTransport({ strictSsl: true, systemCertificates: false, env: {} });
  readonly #windows: WatchWindow[] = [];
  #url = '';
  #open = 0;

  private constructor(bench: Bench) {
    this.#bench = bench;
    this.folder = path.join(bench.folder, 'storage');
  }

  static async start(): Promise<WatchBench> {
    const bench = new WatchBench(await Bench.start());
    const server = await bench.#bench.serve((request, response) => {
      bench.#open++;
      response.once('close', () => bench.#open--);
      void bench.#answer(request, response);
    });
    bench.#url = server.url;
    return bench;
  }

  async end(): Promise<void> {
    for (const window of this.#windows) window.dispose();
    await this.settle();
    this.#transport.dispose();
    await this.#bench.end();
  }

  /** Opens a window; its API key is its name, so that the service knows who asks. */
  window(name: string, isFocused = true): WatchWindow {
    const { clock } = this;
    const session = new Session(
      { kind: 'service', id: 'account-1', name, baseUrl: 'https://service.test' },
      () => Promise.resolve({ baseUrl: this.#url, apiKey: name, keyId: 'key-1' }),
      (connection) => new Client(connection, () => this.#transport, { clock }),
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
      isAwaiting: false,
      dispose,
    };
    this.#windows.push(window);
    return window;
  }

  /** Passes time, and waits for what comes of it. */
  pass(ms: number): Promise<void> {
    return this.clock.pass(ms, () => this.settle());
  }

  /** Until no request is open, and nothing is being written or read. */
  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 4; quiet++) {
      await delay(1);
      const isAtFiles = process.getActiveResourcesInfo().some((name) => name.startsWith('FSReq'));
      const isAsking = this.#open + this.#transport.waiting > 0 && this.gate === undefined;
      if (isAtFiles || isAsking) quiet = -1;
    }
  }

  /** Waits, without time passing for the windows, for what goes through the file system's watch. */
  async until(condition: () => boolean): Promise<void> {
    const started = Date.now();
    while (!condition()) {
      if (Date.now() - started > 5_000) assert.fail(`never: ${condition.toString()}`);
      await delay(5);
    }
  }

  /** What is on the disk, once it fulfils a condition. */
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

  async #answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(String(request.url), 'http://x.test');
    const what = pathname.replace('/api/v1', '');
    this.asked.push(`${String(request.headers.authorization).replace('Bearer ', '')} ${what}`);
    this.askedAtMs.push(this.clock.monotonicMs());
    const start = Number(searchParams.get('cursor') ?? 0);
    const end = start + Number(searchParams.get('limit'));
    const has_more = end < this.rows.length;
    const page = { data: this.rows.slice(start, end), has_more, next_cursor: has_more ? String(end) : null };
    const text = JSON.stringify(page);
    await this.gate;
    response.setHeader('date', new Date(this.clock.nowMs() + this.aheadMs).toUTCString());
    if (this.instead?.(request, response)) return;
    if (what === '/runs') response.setHeader('content-type', 'application/json').end(text);
    else if (what === '/models')
      sendJson(response, 200, {
        data: [
          { model_id: 'm', name: 'Model M', provider: 'p', available: true, terms_url: 'https://t.test' },
        ],
      });
    else if (what === '/balance')
      sendJson(response, 200, { balance_cents: this.balance_cents, currency: 'EUR' });
    else sendJson(response, 404, { error: { code: 'not_found', message: '' } });
  }
}

/** A run that was made so long ago by the bench's clock. */
export function made(bench: WatchBench, runId: string, agoMs: number, status = 'running'): RunSummary {
  return {
    run_id: runId,
    status,
    model_id: 'm',
    artifacts_available: status === 'complete',
    created_at: new Date(bench.clock.nowMs() - agoMs).toISOString(),
  };
}
