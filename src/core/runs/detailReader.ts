import { SYSTEM_CLOCK, type Clock } from '../base/clock.ts';
import type { Disposable } from '../base/disposable.ts';
import { isAnswer } from './detailStore.ts';
import type { Budget } from './pacing.ts';
import type { RunStore } from './runStore.ts';

/** Of so many of the newest runs the labels are read. */
const NEWEST = 50;
const AT_ONCE = 2;
/** About one screen; the rest comes slowly, so that what is submitted meanwhile can be polled often. */
const AT_FIRST = 20;
const THEN_EVERY_MS = 90_000;
/** After a read to which no answer came. */
const LATER_MS = 60_000;
/** Less than this is not waited for. */
const SOON_MS = 10_000;
/** Where another window is the one that reads: this one may become it. */
const ANOTHER_MS = 5_000;

/**
 * Reads the details of the newest runs whose label nobody knows, a few at a time and each once: the list has no labels. Only
 * while rows are on the screen, and as far as the background's GETs reach.
 */
export class DetailReader implements Disposable {
  readonly #runs: RunStore;
  readonly #isShown: () => boolean;
  readonly #budget: Pick<Budget, 'isScarce' | 'takeSpare' | 'spareWaitMs'>;
  readonly #clock: Pick<Clock, 'sleep'>;
  readonly #subscription: Disposable;
  readonly #read = new Set<string>();
  readonly #reading = new Set<string>();
  readonly #end = new AbortController();
  #isWaiting = false;
  #left = AT_FIRST;

  /** @param isShown whether the rows are on the screen; call `wake` when they come */
  constructor(
    runs: RunStore,
    isShown: () => boolean,
    budget: Pick<Budget, 'isScarce' | 'takeSpare' | 'spareWaitMs'>,
    clock: Pick<Clock, 'sleep'> = SYSTEM_CLOCK,
  ) {
    this.#runs = runs;
    this.#isShown = isShown;
    this.#budget = budget;
    this.#clock = clock;
    this.#subscription = runs.onDidChange(() => {
      // After the sandbox was reset its runs may come again under their ids.
      if ((runs.rows ?? []).length === 0) this.#read.clear();
      this.wake();
    });
  }

  /** Continues, if there is something to read and it may be read now. */
  wake(): void {
    while (this.#isReady()) {
      const runId = this.#next();
      if (runId === undefined) return;
      if (this.#left === 0) {
        this.#wait(THEN_EVERY_MS, () => (this.#left = 1));
        return;
      }
      if (this.#budget.isScarce || !this.#budget.takeSpare()) {
        const { spareWaitMs } = this.#budget;
        this.#wait(spareWaitMs === undefined ? ANOTHER_MS : Math.max(spareWaitMs, SOON_MS));
        return;
      }
      this.#left--;
      void this.#load(runId);
    }
  }

  dispose(): void {
    this.#end.abort();
    this.#subscription.dispose();
  }

  #isReady(): boolean {
    const isFree = !this.#end.signal.aborted && !this.#isWaiting && this.#reading.size < AT_ONCE;
    return isFree && this.#isShown();
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
    this.wake();
  }

  #wait(ms: number, then: () => void = () => undefined): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#clock.sleep(ms, this.#end.signal).then(
      () => {
        this.#isWaiting = false;
        then();
        this.wake();
      },
      () => undefined,
    );
  }
}
