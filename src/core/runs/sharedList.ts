import * as v from 'valibot';
import { balance, type Balance } from '../api/types.ts';
import { sequencer } from '../base/async.ts';
import type { StateStore } from '../storage/state.ts';
import { pairs, savedRuns } from './runStore.ts';
import type { Session } from './session.ts';

/** What the window that polls an account stores for the others, and for those that start later. Times are this machine's. */
const savedList = v.object({
  /** When the last request was sent whose answer this holds: what was asked later is newer. */
  readAtMs: v.number(),
  /** Undefined until the runs were read once. */
  runs: v.optional(savedRuns),
  balance: v.optional(v.object({ readAtMs: v.number(), value: balance })),
  /** The display names of the models, by their ids. */
  modelNames: v.optional(pairs(v.string())),
  // As the session has them.
  offlineSinceMs: v.optional(v.number()),
  notBeforeMs: v.optional(v.number()),
  readsNotBeforeMs: v.optional(v.number()),
  /** When polls failed: how many in a row, and until when the next one waits. */
  backoff: v.optional(v.object({ failures: v.number(), untilMs: v.number() })),
});
export type SavedList = v.InferOutput<typeof savedList>;
export type Backoff = NonNullable<SavedList['backoff']>;

/** The topic by which windows learn that the stored list changed. */
export const LIST_TOPIC = 'run-list';

/** Reads the stored list of an account; undefined where there is none, or none of ours. */
export async function readList(state: StateStore, accountId: string): Promise<SavedList | undefined> {
  const stored = await state.read((tables) =>
    tables.get('SELECT list FROM run_list WHERE account = ?', accountId),
  );
  try {
    return v.parse(savedList, JSON.parse(String(stored?.['list'])));
  } catch {
    return undefined;
  }
}

/**
 * What the windows of an account share: the one that polls stores what its session knows, the others take it into theirs.
 * Owns the table `run_list`.
 */
export class SharedList {
  readonly #state: StateStore;
  readonly #session: Session;
  readonly #nowMs: () => number;
  /** One at a time. */
  readonly #inTurn = sequencer();
  #runIds: ReadonlySet<string> = new Set();

  constructor(state: StateStore, session: Session, nowMs: () => number) {
    this.#state = state;
    this.#session = session;
    this.#nowMs = nowMs;
  }

  /** Whether it names a run, as it was last read or written. */
  has(runId: string): boolean {
    return this.#runIds.has(runId);
  }

  /**
   * Takes in what another window stored.
   * @param isOfLiving whether that window still runs: one that has ended does not know the way to the service
   * @returns what is stored
   * @throws what the store says
   */
  read(isOfLiving: boolean): Promise<SavedList | undefined> {
    return this.#inTurn(async () => {
      const list = await readList(this.#state, this.#session.account.id);
      this.#noteRuns(list);
      if (list !== undefined) this.#accept(list, isOfLiving);
      return list;
    });
  }

  /** Stores what the session knows, where it is something else than what is stored. @throws what the store says */
  write(backoff: Backoff | undefined): Promise<void> {
    return this.#inTurn(async () => {
      const { id } = this.#session.account;
      // As it will be read again: a field that the service did not provide is left out.
      const list = v.parse(savedList, JSON.parse(JSON.stringify(this.#compose(backoff))));
      if (textOf(list) === textOf(await readList(this.#state, id))) return;
      await this.#state.transaction((tables) => {
        tables.run(
          `INSERT INTO run_list (account, list) VALUES (?, ?)
           ON CONFLICT (account) DO UPDATE SET list = excluded.list`,
          id,
          JSON.stringify(list),
        );
        tables.touch(LIST_TOPIC, id);
      });
      this.#noteRuns(list);
    });
  }

  #noteRuns(list: SavedList | undefined): void {
    this.#runIds = new Set(list?.runs?.rows.map(({ run_id }) => run_id));
  }

  #compose(backoff: Backoff | undefined) {
    const { runs, models, balance, offlineSince, notBeforeMs, readsNotBeforeMs } = this.#session;
    const saved = runs.save();
    return {
      readAtMs: runs.readAtMs,
      runs: saved,
      balance: balance.current && { readAtMs: balance.readAtMs ?? 0, value: balance.current },
      modelNames: models.namesOf(new Set(saved?.rows.map(({ model_id }) => model_id))),
      offlineSinceMs: offlineSince,
      notBeforeMs,
      readsNotBeforeMs,
      backoff,
    };
  }

  #accept(list: SavedList, isOfLiving: boolean): void {
    const session = this.#session;
    // Before the runs, which are drawn with them.
    if (list.modelNames !== undefined) session.models.keepNames(list.modelNames);
    if (list.runs !== undefined) session.runs.acceptSaved(list.runs, list.readAtMs);
    const { balance } = list;
    // A submission here may know a newer one. Of the future: the clock was set back since.
    const { current, readAtMs = 0 } = session.balance;
    const isNewer = balance !== undefined && (balance.readAtMs > readAtMs || readAtMs > this.#nowMs());
    if (isNewer && !isSameBalance(current, balance.value))
      session.balance.set(balance.value, balance.readAtMs);
    session.acceptShared(list, isOfLiving);
  }
}

/** What a list says, whenever it was read. */
function textOf(list: SavedList | undefined): string | undefined {
  return list && JSON.stringify({ ...list, readAtMs: 0, balance: list.balance?.value });
}

function isSameBalance(a: Balance | undefined, b: Balance): boolean {
  return a?.balance_cents === b.balance_cents && a.currency === b.currency;
}
