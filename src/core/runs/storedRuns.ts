import * as v from 'valibot';
import { balance, type Balance } from '../api/types.ts';
import { sequencer } from '../base/async.ts';
import type { StateStore } from '../storage/state.ts';
import { pairs, savedRuns } from './savedRuns.ts';
import type { Session } from './session.ts';

const wait = v.object({ sinceMs: v.number(), untilMs: v.number(), readUntilMs: v.number() });

/** What the polling window of an account stores for other and later windows. Times are by the local clock. */
const savedList = v.object({
  /** When the latest request for this data was sent; data requested later is newer. */
  readAtMs: v.number(),
  /** Undefined until the runs were read once. */
  runs: v.optional(savedRuns),
  balance: v.optional(v.object({ readAtMs: v.number(), value: balance })),
  /** The display names of the models, by ID. */
  modelNames: v.optional(pairs(v.string())),
  // As in the session.
  offlineSinceMs: v.optional(v.number()),
  waits: v.optional(v.object({ reads: wait, submissions: wait })),
  /** After failed polls: how many in a row, and when to retry. */
  backoff: v.optional(v.object({ failures: v.number(), untilMs: v.number() })),
});
export type SavedList = v.InferOutput<typeof savedList>;
export type Backoff = NonNullable<SavedList['backoff']>;

/** The topic that signals changes of the stored list to other windows. */
export const LIST_TOPIC = 'run-list';

/** Reads the stored list of an account; undefined if there is no valid one. */
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
 * Owns the `run_list` table, through which the windows of an account share data. The polling window stores
 * what its session knows; the other windows merge it into their sessions.
 */
export class StoredRuns {
  readonly #state: StateStore;
  readonly #session: Session;
  readonly #nowMs: () => number;
  /** Serializes access. */
  readonly #inTurn = sequencer();

  constructor(state: StateStore, session: Session, nowMs: () => number) {
    this.#state = state;
    this.#session = session;
    this.#nowMs = nowMs;
  }

  /**
   * Merges what another window stored into the session.
   * @param isOfLiving whether that window still runs; otherwise its connection state is stale
   * @returns what is stored
   * @throws store errors
   */
  read(isOfLiving: boolean): Promise<SavedList | undefined> {
    return this.#inTurn(async () => {
      const list = await readList(this.#state, this.#session.account.id);
      if (list !== undefined) this.#accept(list, isOfLiving);
      return list;
    });
  }

  /**
   * Stores what the session knows if that differs from what is stored.
   * @param isGuest whether another window polls: then this one adds only the waits that it knows
   * @throws store errors
   */
  write(backoff: Backoff | undefined, isGuest = false): Promise<void> {
    return this.#inTurn(async () => {
      const session = this.#session;
      const { id } = session.account;
      const stored = await readList(this.#state, id);
      if (stored !== undefined) session.acceptShared({ waits: stored.waits }, false);
      const known = isGuest ? stored && { ...stored, waits: session.waits } : this.#compose(backoff);
      // Compare as it would be read back: undefined fields are omitted.
      const list = known && v.parse(savedList, JSON.parse(JSON.stringify(known)));
      if (list === undefined || savedText(list) === savedText(stored)) return;
      await this.#state.transaction((tables) => {
        tables.run(
          `INSERT INTO run_list (account, list) VALUES (?, ?)
           ON CONFLICT (account) DO UPDATE SET list = excluded.list`,
          id,
          JSON.stringify(list),
        );
        tables.touch(LIST_TOPIC, id);
      });
    });
  }

  #compose(backoff: Backoff | undefined) {
    const { runs, models, balance, offlineSince, waits } = this.#session;
    const saved = runs.save();
    return {
      readAtMs: runs.readAtMs,
      runs: saved,
      balance: balance.current && { readAtMs: balance.readAtMs ?? 0, value: balance.current },
      modelNames: models.namesOf(new Set(saved?.rows.map(({ model_id }) => model_id))),
      offlineSinceMs: offlineSince,
      waits,
      backoff,
    };
  }

  #accept(list: SavedList, isOfLiving: boolean): void {
    const session = this.#session;
    // Set the names first, because drawing the runs uses them.
    if (list.modelNames !== undefined) session.models.keepNames(list.modelNames);
    if (list.runs !== undefined) session.runs.acceptSaved(list.runs, list.readAtMs);
    const { balance } = list;
    // A submission here may have set a newer balance. A time in the future: the clock was set back.
    const { current, readAtMs = 0 } = session.balance;
    const isNewer = balance !== undefined && (balance.readAtMs > readAtMs || readAtMs > this.#nowMs());
    if (isNewer && !isSameBalance(current, balance.value))
      session.balance.set(balance.value, balance.readAtMs);
    session.acceptShared(list, isOfLiving);
  }
}

/** Returns the content of a list, without read times. */
function savedText(list: SavedList | undefined): string | undefined {
  return list && JSON.stringify({ ...list, readAtMs: 0, balance: list.balance?.value });
}

function isSameBalance(a: Balance | undefined, b: Balance): boolean {
  return a?.balance_cents === b.balance_cents && a.currency === b.currency;
}
