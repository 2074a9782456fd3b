import { stat } from 'node:fs/promises';
import type { Clock } from '../base/clock.ts';
import type { Disposable } from '../base/disposable.ts';
import type { Balance } from '../api/types.ts';
import { isSameList, readListFile, writeListFile, type SavedList } from './listFile.ts';
import type { Session } from './session.ts';

const SAME_SKEW_MS = 5_000;

/**
 * What the windows of an account tell each other: the one that watches writes what its session knows into the account's
 * list file, the others take it into theirs.
 */
export class SharedList implements Disposable {
  readonly #file: string;
  readonly #session: Session;
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #subscription: Disposable;
  #list: SavedList | undefined;
  #version = '';
  /** When what is known of the balance was told. */
  #balanceAtMs = 0;
  #work: Promise<unknown> = Promise.resolve();
  #isWriting = false;
  #isDue = false;

  constructor(file: string, session: Session, clock: Pick<Clock, 'nowMs'>) {
    this.#file = file;
    this.#session = session;
    this.#clock = clock;
    this.#subscription = session.balance.onDidChange(() => (this.#balanceAtMs = clock.nowMs()));
  }

  /** Whether it names a run, as it was last read or written. */
  has(runId: string): boolean {
    return this.#list?.runs?.rows.some((row) => row.run_id === runId) ?? false;
  }

  /**
   * Takes in what another window wrote since; nothing is done where that is nothing, or none of ours.
   * @param isOfLiving whether the window that wrote it goes on: one that has ended does not know the way to the service
   */
  read(isOfLiving: boolean): Promise<void> {
    const done = this.#work.then(async () => {
      const version = await versionOf(this.#file);
      if (version === this.#version) return;
      const list = await readListFile(this.#file);
      this.#version = version;
      if (list === undefined) return;
      this.#list = list;
      this.#accept(list, isOfLiving);
    });
    this.#work = done.catch(() => undefined);
    return done;
  }

  /**
   * Writes what the session knows, where that says something else than before; calls during a write lead to one more.
   * @param isWaitedFor whether another window waits to hear, also that nothing is new
   */
  async write(isWaitedFor: boolean): Promise<void> {
    this.#isDue ||= isWaitedFor;
    if (this.#isWriting) {
      this.#isDue = true;
      return;
    }
    this.#isWriting = true;
    try {
      for (let force = this.#isDue; ; force = false) {
        this.#isDue = false;
        const list = this.#compose();
        if (force || !isSameList(this.#list, list)) {
          await writeListFile(this.#file, list);
          this.#list = list;
        }
        if (!this.#wasAskedAgain()) return;
      }
    } finally {
      this.#isWriting = false;
    }
  }

  dispose(): void {
    this.#subscription.dispose();
  }

  #wasAskedAgain(): boolean {
    return this.#isDue;
  }

  #compose(): SavedList {
    const { runs, models, balance, state, offlineSince, notBeforeMs, readsNotBeforeMs } = this.#session;
    const saved = runs.save();
    return {
      readAtMs: runs.readAtMs,
      runs: saved,
      balance: this.#balance(balance.current),
      modelNames: models.namesOf(new Set(saved?.rows.map(({ model_id }) => model_id))),
      clockSkewMs: this.#clockSkewMs(),
      offlineSinceMs: state === 'offline' ? offlineSince : undefined,
      notBeforeMs,
      readsNotBeforeMs,
    };
  }

  /** A `Date` tells whole seconds: what is nearly the same is not written again. */
  #clockSkewMs(): number | undefined {
    const { clockSkewMs } = this.#session;
    const before = this.#list?.clockSkewMs;
    if (clockSkewMs === undefined || before === undefined) return clockSkewMs ?? before;
    return Math.abs(clockSkewMs - before) < SAME_SKEW_MS ? before : clockSkewMs;
  }

  #balance(value: Balance | undefined): SavedList['balance'] {
    if (value === undefined) return undefined;
    const { balance_cents, currency } = value;
    const before = this.#list?.balance;
    if (before !== undefined && isSame(before.value, value)) return before;
    return { readAtMs: this.#balanceAtMs, value: { balance_cents, currency } };
  }

  #accept(list: SavedList, isOfLiving: boolean): void {
    const offlineSinceMs = isOfLiving ? list.offlineSinceMs : undefined;
    // Before the runs, which are drawn with them.
    if (list.modelNames !== undefined) this.#session.models.keepNames(list.modelNames);
    this.#session.runs.acceptSaved({ ...list, offlineSinceMs });
    const { balance } = list;
    // A submission here may have told a newer one. Of the future: the clock was set back since.
    const isNewer =
      balance !== undefined &&
      (balance.readAtMs > this.#balanceAtMs || this.#balanceAtMs > this.#clock.nowMs());
    if (isNewer && !isSame(this.#session.balance.current, balance.value)) {
      this.#session.balance.set(balance.value);
      this.#balanceAtMs = balance.readAtMs;
    }
    const { notBeforeMs, readsNotBeforeMs, clockSkewMs } = list;
    this.#session.acceptShared({ isOfLiving, offlineSinceMs, notBeforeMs, readsNotBeforeMs, clockSkewMs });
  }
}

function isSame(a: Balance | undefined, b: Balance): boolean {
  return a?.balance_cents === b.balance_cents && a.currency === b.currency;
}

async function versionOf(file: string): Promise<string> {
  try {
    const { ino, mtimeMs, size } = await stat(file);
    return `${ino}:${mtimeMs}:${size}`;
  } catch {
    return '';
  }
}
