import type { Clock } from '../base/clock.ts';
import { isAnswer } from './detailStore.ts';
import type { Budget } from './pacing.ts';
import type { RunStore } from './runStore.ts';

/** How long after the second failure is asked again; twice as long after each further one. */
const FIRST_MS = 60_000;
const LONGEST_MS = 10 * 60_000;

/** Of so many of the newest runs the labels are read. */
const NEWEST = 50;
const AT_ONCE = 2;
/** About one screen; the rest comes slowly, so that what is submitted meanwhile can be polled often. */
const AT_FIRST = 20;
const THEN_EVERY_MS = 90_000;
/** After a read to which no answer came. */
const LATER_MS = 60_000;

/** Something that an account's views need once, such as its models. */
export interface Missing {
  isMissing: () => boolean;
  /** One request at most. */
  read: () => Promise<unknown>;
  /** Whether one more request may be sent after two that failed. */
  mayRepeat: () => boolean;
  /** Gets each failure. */
  onError: (error: unknown) => void;
}

/** Reads what could not be read while the service was out of reach: once as soon as it answers, and then ever more rarely. */
export class MissingRead {
  readonly #missing: Missing;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #work: Promise<unknown> | undefined;
  #failures = 0;
  /** Until then it is left to `begin`. */
  #notBeforeMs = Infinity;

  constructor(missing: Missing, clock: Pick<Clock, 'monotonicMs'>) {
    this.#missing = missing;
    this.#clock = clock;
  }

  /** It is read again, with somebody waiting for it: nothing is sent meanwhile. */
  begin(work: Promise<unknown>): void {
    this.#failures = 0;
    this.#notBeforeMs = 0;
    void this.#follow(work);
  }

  /** Reads it, if it is due; while the service answers. */
  tick(): void {
    const { isMissing, read, mayRepeat } = this.#missing;
    const isDue = this.#work === undefined && this.#clock.monotonicMs() >= this.#notBeforeMs;
    if (isDue && isMissing() && (this.#failures < 2 || mayRepeat())) void this.#follow(read());
  }

  async #follow(work: Promise<unknown>): Promise<void> {
    this.#work = work;
    try {
      await work;
    } catch (error) {
      if (work === this.#work) {
        this.#failures++;
        const waitMs = this.#failures < 2 ? 0 : Math.min(LONGEST_MS, FIRST_MS * 2 ** (this.#failures - 2));
        this.#notBeforeMs = this.#clock.monotonicMs() + waitMs;
      }
      this.#missing.onError(error);
    }
    if (work === this.#work) this.#work = undefined;
  }
}

/**
 * Reads the details of the newest runs whose label nobody knows, a few at a time and each once, as far as the background's
 * GETs reach: the list has no labels.
 */
export class DetailReader {
  readonly #runs: RunStore;
  readonly #mayRead: () => Promise<boolean>;
  readonly #budget: Pick<Budget, 'isScarce' | 'takeSpare'>;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #read = new Set<string>();
  readonly #reading = new Set<string>();
  #left = AT_FIRST;
  #notBeforeMs = 0;

  /** @param mayRead whether the rows are on the screen and the service answers, once what is stored is known */
  constructor(
    runs: RunStore,
    mayRead: () => Promise<boolean>,
    budget: Pick<Budget, 'isScarce' | 'takeSpare'>,
    clock: Pick<Clock, 'monotonicMs'>,
  ) {
    this.#runs = runs;
    this.#mayRead = mayRead;
    this.#budget = budget;
    this.#clock = clock;
  }

  /** Reads the next ones, if they are due. */
  async tick(): Promise<void> {
    // After the sandbox was reset its runs may come again under their ids.
    if ((this.#runs.rows ?? []).length === 0) this.#read.clear();
    if (!(await this.#mayRead())) return;
    while (this.#reading.size < AT_ONCE && this.#clock.monotonicMs() >= this.#notBeforeMs) {
      const runId = this.#next();
      if (runId === undefined || this.#budget.isScarce || !this.#budget.takeSpare()) return;
      if (--this.#left <= 0) this.#wait(THEN_EVERY_MS);
      void this.#load(runId);
    }
  }

  #next(): string | undefined {
    return this.#runs.rows?.slice(0, NEWEST).find(({ run_id: runId }) => {
      const isKnown = this.#runs.label(runId) !== undefined || this.#runs.detail(runId) !== undefined;
      const isTried = this.#read.has(runId) || this.#reading.has(runId);
      return !isKnown && !isTried && this.#runs.detailFailure(runId) === undefined;
    })?.run_id;
  }

  async #load(runId: string): Promise<void> {
    this.#reading.add(runId);
    try {
      await this.#runs.loadDetail(runId, { isBackground: true });
      this.#read.add(runId);
    } catch (error) {
      // A run that has no detail is no reason to leave the others.
      if (!isAnswer(error)) this.#wait(LATER_MS);
    } finally {
      this.#reading.delete(runId);
    }
    await this.tick();
  }

  #wait(ms: number): void {
    this.#notBeforeMs = this.#clock.monotonicMs() + ms;
  }
}
