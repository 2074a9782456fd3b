import type { RunSummary } from '../../../src/core/api/types.ts';
import { Notices } from '../../../src/core/runs/notices.ts';
import { phaseOf } from '../../../src/core/runs/run.ts';
import { Random } from '../random.ts';
import { RefreshBench, type Answer, type RefreshWindow } from './refreshBench.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const GOAL_PER_HOUR = 120;
const REPLACED_MS = 2 * MINUTE;
const AT_START = 6;

/** A run of the day. Times are the service's, from the beginning of the day. */
interface Run {
  id: string;
  madeMs: number;
  startMs: number;
  endMs: number;
}

interface Limit {
  fromMs: number;
  untilMs: number;
  /** Undefined without a Retry-After. */
  seconds: number | undefined;
}

/** A window that the user has open, and the notification that it is about to show. */
interface Open {
  window: RefreshWindow;
  notices: Notices;
  waiting: Set<string>;
  focusedMs: number;
}

export interface DayOptions {
  seed: number;
  windows: number;
  hours: number;
  /** `hang`: the window that asked last hangs. `start`: VS Code opens all windows at once. */
  kind: 'day' | 'hang' | 'start';
}

/**
 * A user's day with several windows on one machine, determined by its seed: real sessions and refreshers on
 * files. Only the time, the service and the user are simulated.
 */
export class WindowsDay {
  readonly #options: DayOptions;
  readonly #random: Random;
  readonly #bench: RefreshBench;
  readonly #open = new Map<number, Open>();
  readonly #runs: Run[] = [];
  readonly #receipts: { atMs: number; id: string }[] = [];
  readonly #offline: [fromMs: number, untilMs: number][] = [];
  readonly #limits: Limit[] = [];
  readonly #asked: { ms: number; who: string; isList: boolean }[] = [];
  /** When the user was notified of the end of a run. */
  readonly #shown = new Map<string, number[]>();
  /** Runs whose window was closed just before it would have notified. */
  readonly #lost = new Set<string>();
  readonly #problems: string[] = [];
  readonly #startMs: number;
  #sleptMs = 0;
  #opened = 0;
  #hungMs: number | undefined;

  private constructor(options: DayOptions, bench: RefreshBench) {
    this.#options = options;
    this.#random = new Random(options.seed);
    this.#bench = bench;
    this.#startMs = bench.clock.nowMs();
    bench.balance_cents = 100_000;
    bench.onRequest = () => (bench.rows = this.#runs.map((run) => this.#rowOf(run)));
    bench.instead = (what, who) => this.#answer(what, who);
    bench.recallSubmitted = ({ runs }) => {
      const missed = this.#receipts.filter(
        ({ atMs, id }) => runs.rows !== undefined && atMs > runs.readAtMs && runs.get(id) === undefined,
      );
      for (const { id } of missed) runs.insertCreated({ run_id: id }, 'm', `L ${id}`);
      return Promise.resolve(missed.length > 0);
    };
  }

  /** Returns the violations, and the number of requests and notifications. */
  static async simulate(options: DayOptions) {
    const bench = await RefreshBench.start();
    try {
      const day = new WindowsDay(options, bench);
      await day.#live();
      return day.#judge();
    } finally {
      await bench.end();
    }
  }

  /** The service's time, which goes on while the machine sleeps. */
  get #nowMs(): number {
    return this.#bench.clock.monotonicMs() + this.#sleptMs;
  }

  async #live(): Promise<void> {
    for (let age = 40; age > 0; age--) this.#add(`old-${age}`, -age * 3 * HOUR, MINUTE, HOUR);
    for (const { ms, act } of this.#plan().sort((one, other) => one.ms - other.ms)) {
      if (ms > this.#nowMs) await this.#bench.pass(ms - this.#nowMs);
      act();
    }
    await this.#bench.pass(Math.max(0, this.#options.hours * HOUR - this.#nowMs));
  }

  /** Events during a sleep are skipped, except those that must happen: they come late, when the machine wakes up. */
  #plan(): { ms: number; act: () => unknown }[] {
    const { hours, kind, windows } = this.#options;
    const between = (from: number, to: number) => from + this.#random.fraction() * (to - from);
    const events: { ms: number; act: () => unknown }[] = [];
    const add = (ms: number, act: () => unknown) => {
      if (ms < hours * HOUR) events.push({ ms, act });
    };
    for (const [fromHour, forHours] of [
      [4.5, 0.75],
      [between(10, 11), 4],
      [between(16.5, 17), between(0.3, 1)],
    ] as const)
      add(fromHour * HOUR, () => this.#sleep(forHours * HOUR));
    for (const ms of [between(1.5, 6) * HOUR, between(18.5, 21) * HOUR])
      this.#offline.push([ms, ms + between(20, 70) * MINUTE]);
    for (const [hour, seconds] of [
      [between(1, 3), 45],
      [between(6, 9), 300],
      [between(18, 19), undefined],
      [between(21, 23), 120],
    ] as const)
      this.#limits.push({ fromMs: hour * HOUR, untilMs: hour * HOUR + between(1, 4) * MINUTE, seconds });
    add(between(3, 9) * HOUR, () => this.#bench.clock.setWall(HOUR));
    add(between(18, 23) * HOUR, () => this.#bench.clock.setWall(-2 * HOUR));
    for (let index = 0; index < windows; index++)
      if (kind === 'start')
        for (const ms of [0, 1.2 * HOUR]) {
          add(ms + index * 100, () => this.#openWindow(index));
          add(ms + HOUR, () => this.#close(index));
        }
      else
        for (let ms = between(0, 0.3) * HOUR; ms < hours * HOUR;) {
          const endMs = ms + between(0.7, 7) * HOUR;
          add(ms, () => this.#openWindow(index));
          add(endMs, () => this.#close(index));
          ms = endMs + (this.#random.chance(0.5) ? between(5, 20) * SECOND : between(5, 50) * MINUTE);
        }
    for (let ms = 0; ms < hours * HOUR; ms -= Math.log(1 - this.#random.fraction()) * 3 * MINUTE) {
      const [focused, isShown] = [
        this.#random.chance(0.4) ? -1 : this.#random.below(windows),
        this.#random.chance(0.4),
      ];
      add(ms, () => this.#isAwake(ms) && this.#focus(focused, isShown));
    }
    if (kind === 'hang') add(1.4 * HOUR, () => this.#hang());
    for (let hour = 0; hour < hours; hour++) {
      const [isHere, queueMs] = [this.#random.chance(0.8), between(0.2, 6) * MINUTE];
      const trainMs = between(4, this.#random.chance(0.3) ? 200 : 60) * MINUTE;
      const ms = between(hour, hour + 1) * HOUR;
      add(ms, () => this.#isAwake(ms) && this.#submit(isHere, queueMs, trainMs));
    }
    // So that the account is read often when its reader hangs.
    if (kind === 'hang') add(1.35 * HOUR, () => this.#submit(true, MINUTE, HOUR));
    return events;
  }

  #add(id: string, madeMs: number, queueMs: number, trainMs: number): void {
    const startMs = madeMs + queueMs;
    this.#runs.unshift({ id, madeMs, startMs, endMs: startMs + trainMs });
  }

  #rowOf({ id, madeMs, startMs, endMs }: Run): RunSummary {
    const isComplete = this.#nowMs >= endMs;
    return {
      run_id: id,
      status: isComplete ? 'complete' : this.#nowMs < startMs ? 'queued' : 'training',
      model_id: 'm',
      artifacts_available: isComplete,
      created_at: new Date(this.#startMs + madeMs).toISOString(),
    };
  }

  #openWindow(index: number): void {
    if (this.#open.has(index)) return;
    const window = this.#bench.window(`${index}.${this.#opened++}`, false);
    const open: Open = {
      window,
      notices: new Notices(this.#bench.folder),
      waiting: new Set(),
      focusedMs: -Infinity,
    };
    this.#open.set(index, open);
    window.session.runs.onDidChange(({ moved }) => {
      const ended = moved.filter(
        ({ before, after }) => phaseOf(after) === 'finished' && phaseOf(before) !== 'finished',
      );
      if (ended.length === 0 || window.isHung) return;
      const isFirst = open.waiting.size === 0;
      for (const { runId } of ended) open.waiting.add(runId);
      if (isFirst) void this.#notify(open, window.isFocused ? 300 : 2_000 + 1_000 * this.#random.fraction());
    });
  }

  /** Notifies as `RunNotices` does. */
  async #notify(open: Open, waitMs: number): Promise<void> {
    await this.#bench.clock.sleep(waitMs);
    const ids = [...open.waiting];
    open.waiting.clear();
    for (const id of ids)
      if (!open.window.isHung && (await open.notices.claim('account-1', id, 'finished')))
        this.#shown.set(id, [...(this.#shown.get(id) ?? []), this.#nowMs]);
  }

  #close(index: number): void {
    const { window, waiting } = this.#open.get(index) ?? {};
    this.#open.delete(index);
    // Its next notification is lost; the rows still show the end.
    for (const id of waiting ?? []) this.#lost.add(id);
    waiting?.clear();
    window?.dispose();
  }

  #hang(): void {
    const last = this.#asked.findLast(({ isList }) => isList)?.who;
    for (const { window } of this.#open.values()) if (window.name === last) window.isHung = true;
    this.#hungMs = this.#nowMs;
  }

  #isAwake(ms: number): boolean {
    return this.#nowMs <= ms + SECOND;
  }

  #sleep(forMs: number): void {
    this.#bench.clock.setWall(forMs);
    this.#sleptMs += forMs;
  }

  #focus(focused: number, isShown: boolean): void {
    for (const [index, open] of this.#open) {
      const { window } = open;
      const was = window.isFocused;
      window.isFocused = index === focused;
      window.areRowsShown = window.isFocused && isShown;
      if (!window.isFocused || window.isHung) continue;
      if (!was && this.#nowMs - open.focusedMs > 10 * SECOND) {
        open.focusedMs = this.#nowMs;
        void window.refresher.poll();
      }
      window.refresher.readMissing();
    }
  }

  #submit(isHere: boolean, queueMs: number, trainMs: number): void {
    const id = `run-${this.#runs.length}`;
    const open = [...this.#open.values()].filter(({ window }) => !window.isHung);
    const window = (open.find(({ window: one }) => one.isFocused) ?? open[0])?.window;
    this.#add(id, this.#nowMs, queueMs, trainMs);
    this.#bench.balance_cents -= 300;
    if (!isHere || window === undefined || this.#isOffline(this.#nowMs)) return;
    this.#receipts.push({ atMs: this.#bench.clock.nowMs(), id });
    window.session.charged(
      { run_id: id, balance_after_cents: this.#bench.balance_cents, currency: 'EUR' },
      'm',
      `L ${id}`,
    );
  }

  #isOffline(ms: number): boolean {
    return this.#offline.some(([fromMs, untilMs]) => ms >= fromMs && ms < untilMs);
  }

  #answer(what: string, who: string): Answer | undefined {
    const ms = this.#nowMs;
    if (this.#isOffline(ms)) return 'lost';
    this.#asked.push({ ms, who, isList: what === '/runs' });
    const limit = this.#limits.find(({ fromMs, untilMs }) => ms >= fromMs && ms < untilMs);
    if (limit === undefined) return undefined;
    const headers: Record<string, string> =
      limit.seconds === undefined ? {} : { 'retry-after': String(limit.seconds) };
    return [429, { error: { code: 'rate_limited', message: '' } }, headers];
  }

  #judge() {
    const { hours, kind } = this.#options;
    const perHour = Object.values(Object.groupBy(this.#asked, ({ ms }) => Math.floor(ms / HOUR)));
    const worst = Math.max(...perHour.map((one) => one?.length ?? 0));
    if (worst > GOAL_PER_HOUR) this.#problems.push(`${worst} requests in an hour`);
    for (const { id, madeMs, endMs } of this.#runs) {
      const times = this.#shown.get(id)?.length ?? 0;
      if (times > 1) this.#problems.push(`${id}: ${times} notifications`);
      // No window can notify of the end of a run that was complete when it was first seen.
      const wasSeen = this.#asked.some(({ ms, isList }) => isList && ms > madeMs && ms < endMs);
      if (times === 0 && wasSeen && !this.#lost.has(id) && endMs < hours * HOUR - 10 * MINUTE)
        this.#problems.push(`${id}: not notified`);
    }
    const hungMs = this.#hungMs ?? Infinity;
    const next = this.#asked.find(({ ms, isList }) => isList && ms > hungMs + 1);
    const replacedMs = (next?.ms ?? Infinity) - hungMs;
    if (kind === 'hang' && !(replacedMs <= REPLACED_MS))
      this.#problems.push(`replaced after ${replacedMs} ms`);
    const atStart = this.#asked.filter(({ ms }) => ms > 1.2 * HOUR && ms < 1.2 * HOUR + MINUTE).length;
    if (kind === 'start' && (atStart > AT_START || atStart === 0))
      this.#problems.push(`${atStart} requests at the start`);
    return { problems: this.#problems, requests: this.#asked.length, worst, notified: this.#shown.size };
  }
}
