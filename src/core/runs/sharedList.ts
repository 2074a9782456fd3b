import * as v from 'valibot';
import type { Balance } from '../api/types.ts';
import type { Clock } from '../base/clock.ts';
import type { Disposable } from '../base/disposable.ts';
import type { StateStore } from '../storage/state.ts';
import type { SavedRuns } from './runList.ts';
import type { Session } from './session.ts';

const SAME_SKEW_MS = 5_000;
/** The topic by which windows learn that the stored list changed. */
export const LIST_TOPIC = 'run-list';

const row = v.object({
  run_id: v.string(),
  status: v.string(),
  model_id: v.string(),
  created_at: v.optional(v.string()),
  artifacts_available: v.boolean(),
  artifacts_expires_at: v.optional(v.string()),
});
const pairs = <T>(value: v.GenericSchema<unknown, T>) => v.array(v.tuple([v.string(), value]));
const schema = v.object({
  readAtMs: v.number(),
  runs: v.optional(
    v.object({
      rows: v.array(row),
      contiguous: v.number(),
      hasMore: v.boolean(),
      skipped: v.number(),
      labels: pairs(v.string()),
      changedAtMs: pairs(v.number()),
    }),
  ),
  balance: v.optional(
    v.object({ readAtMs: v.number(), value: v.object({ balance_cents: v.number(), currency: v.string() }) }),
  ),
  modelNames: v.optional(pairs(v.string())),
  clockSkewMs: v.optional(v.number()),
  offlineSinceMs: v.optional(v.number()),
  notBeforeMs: v.optional(v.number()),
  readsNotBeforeMs: v.optional(v.number()),
  backoff: v.optional(v.object({ failures: v.number(), untilMs: v.number() })),
});

/** When polls failed: how many in a row, and until when the next one waits. */
export interface Backoff {
  failures: number;
  untilMs: number;
}

/** What the window that polls an account stores for the others, and for those that start later. Times are this machine's. */
export interface SavedList {
  /** When the last request was sent whose answer this holds: what was asked later is newer. */
  readAtMs: number;
  /** Undefined until the runs were read once. */
  runs?: SavedRuns | undefined;
  balance?: { readAtMs: number; value: Balance } | undefined;
  /** The display names of the models, by their ids. */
  modelNames?: readonly (readonly [modelId: string, name: string])[] | undefined;
  /** How far the service's clock is ahead of this machine's. */
  clockSkewMs?: number | undefined;
  offlineSinceMs?: number | undefined;
  /** The service asked for nothing to be sent before then. */
  notBeforeMs?: number | undefined;
  /** The same for reads that somebody waits for. */
  readsNotBeforeMs?: number | undefined;
  backoff?: Backoff | undefined;
}

/** Reads the stored list of an account; undefined where there is none, or none of ours. */
export async function readList(state: StateStore, accountId: string): Promise<SavedList | undefined> {
  const stored = await state.read((tables) =>
    tables.get('SELECT list FROM run_list WHERE account = ?', accountId),
  );
  try {
    const parsed = v.safeParse(schema, JSON.parse(String(stored?.['list'])));
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined;
  }
}

/**
 * What the windows of an account share: the one that polls stores what its session knows, the others take it into theirs.
 * Owns the table `run_list`.
 */
export class SharedList implements Disposable {
  readonly #state: StateStore;
  readonly #session: Session;
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #subscription: Disposable;
  #list: SavedList | undefined;
  /** When what is known of the balance was read. */
  #balanceAtMs = 0;
  #work: Promise<unknown> = Promise.resolve();

  constructor(state: StateStore, session: Session, clock: Pick<Clock, 'nowMs'>) {
    this.#state = state;
    this.#session = session;
    this.#clock = clock;
    this.#subscription = session.balance.onDidChange(() => (this.#balanceAtMs = clock.nowMs()));
  }

  /** Whether it names a run, as it was last read or written. */
  has(runId: string): boolean {
    return this.#list?.runs?.rows.some((each) => each.run_id === runId) ?? false;
  }

  /** As it was last read or written. */
  get backoff(): Backoff | undefined {
    return this.#list?.backoff;
  }

  /**
   * Takes in what another window stored.
   * @param isOfLiving whether that window still runs: one that has ended does not know the way to the service
   * @throws what the store says
   */
  read(isOfLiving: boolean): Promise<void> {
    return this.#next(async () => {
      this.#list = await readList(this.#state, this.#session.account.id);
      if (this.#list !== undefined) this.#accept(this.#list, isOfLiving);
    });
  }

  /** Stores what the session knows, where it is something else than what is stored. @throws what the store says */
  write(backoff: Backoff | undefined): Promise<void> {
    return this.#next(async () => {
      const list = this.#compose(backoff);
      if (isSameList(this.#list, list)) return;
      const { id } = this.#session.account;
      await this.#state.transaction((tables) => {
        tables.run(
          `INSERT INTO run_list (account, list) VALUES (?, ?)
           ON CONFLICT (account) DO UPDATE SET list = excluded.list`,
          id,
          JSON.stringify(list),
        );
        tables.touch(LIST_TOPIC, id);
      });
      this.#list = list;
    });
  }

  /** The file may have become another one: the next `write` stores it again. */
  forget(): void {
    this.#list = undefined;
  }

  dispose(): void {
    this.#subscription.dispose();
  }

  /** One at a time. */
  #next(work: () => Promise<void>): Promise<void> {
    const done = this.#work.then(work);
    this.#work = done.catch(() => undefined);
    return done;
  }

  #compose(backoff: Backoff | undefined): SavedList {
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
      backoff,
    };
  }

  /** A `Date` header has whole seconds: what is nearly the same is not stored again. */
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
    if (before !== undefined && isSameBalance(before.value, value)) return before;
    return { readAtMs: this.#balanceAtMs, value: { balance_cents, currency } };
  }

  #accept(list: SavedList, isOfLiving: boolean): void {
    const offlineSinceMs = isOfLiving ? list.offlineSinceMs : undefined;
    // Before the runs, which are drawn with them.
    if (list.modelNames !== undefined) this.#session.models.keepNames(list.modelNames);
    this.#session.runs.acceptSaved({ ...list, offlineSinceMs });
    const { balance } = list;
    // A submission here may know a newer one. Of the future: the clock was set back since.
    const isNewer =
      balance !== undefined &&
      (balance.readAtMs > this.#balanceAtMs || this.#balanceAtMs > this.#clock.nowMs());
    if (isNewer && !isSameBalance(this.#session.balance.current, balance.value)) {
      this.#session.balance.set(balance.value);
      this.#balanceAtMs = balance.readAtMs;
    }
    const { notBeforeMs, readsNotBeforeMs, clockSkewMs } = list;
    this.#session.acceptShared({ isOfLiving, offlineSinceMs, notBeforeMs, readsNotBeforeMs, clockSkewMs });
  }
}

function isSameBalance(a: Balance | undefined, b: Balance): boolean {
  return a?.balance_cents === b.balance_cents && a.currency === b.currency;
}

/** Whether two say the same, whenever it was read. */
function isSameList(a: SavedList | undefined, b: SavedList): boolean {
  return a !== undefined && JSON.stringify({ ...a, readAtMs: 0 }) === JSON.stringify({ ...b, readAtMs: 0 });
}
