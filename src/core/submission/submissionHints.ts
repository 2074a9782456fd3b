import type { StateStore } from '../storage/state.ts';
import { isSettled, type Intent } from './intent.ts';

/** What is known of a submission whose record can't be read. Its bytes and model never change. */
export interface Hint extends Pick<Intent, 'id' | 'accountId' | 'origin' | 'model_id' | 'marker'> {
  dataset: Pick<Intent['dataset'], 'filename' | 'sha256'>;
  /** Whether it was neither settled nor refused when it was last read. */
  isOpen: boolean;
}

/**
 * Owns the `submission` table: a few facts of each submission, for when its record can't be read. Only a hint,
 * written after the journal was read and at any time incomplete: the journal alone is the truth.
 */
export class SubmissionHints {
  readonly #state: Pick<StateStore, 'read' | 'transaction'>;
  /** Whether each stored submission is open, as this window knows it; undefined before the table was read. */
  #stored: Map<string, boolean> | undefined;

  constructor(state: Pick<StateStore, 'read' | 'transaction'>) {
    this.#state = state;
  }

  /** Stores what the table lacks of these intents and receipts. Never rejects. */
  async learn(intents: readonly Intent[]): Promise<void> {
    try {
      this.#stored ??= await this.#readStored();
      const stored = this.#stored;
      const news = intents.filter((intent) => stored.get(intent.id) !== isOpen(intent));
      if (news.length === 0) return;
      await this.#state.transaction((tables) => {
        for (const intent of news) {
          const { accountId, id, origin, model_id, marker, dataset } = intent;
          tables.run(
            `INSERT INTO submission (account, id, origin, model, marker, filename, sha256, is_open)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?)
             ON CONFLICT (account, id) DO UPDATE SET is_open = min(is_open, excluded.is_open)`,
            accountId,
            id,
            origin,
            model_id,
            marker ?? null,
            dataset.filename,
            dataset.sha256,
            Number(isOpen(intent)),
          );
        }
      });
      for (const intent of news) stored.set(intent.id, isOpen(intent));
    } catch {
      // The next read of the journal tries again.
    }
  }

  /** Notes that the user ended a submission whose record can't be read. Never rejects. */
  async end(id: string): Promise<void> {
    const sql = 'UPDATE submission SET is_open = 0 WHERE id = ?';
    await this.#state.transaction((tables) => tables.run(sql, id)).catch(() => undefined);
    this.#stored?.set(id, false);
  }

  /** Returns the hints of these submissions, by ID. Never rejects: without a store, there are none. */
  async of(ids: readonly string[]): Promise<ReadonlyMap<string, Hint>> {
    const sql = `SELECT id, account, origin, model, marker, filename, sha256, is_open FROM submission
                 WHERE id IN (SELECT value FROM json_each(?))`;
    const rows = await this.#state
      .read((tables) => tables.all<Row>(sql, JSON.stringify(ids)))
      .catch(() => []);
    return new Map(rows.map((row) => [row.id, hintOf(row)]));
  }

  async #readStored(): Promise<Map<string, boolean>> {
    const sql = 'SELECT id, is_open FROM submission';
    const rows = await this.#state.read((tables) => tables.all<Pick<Row, 'id' | 'is_open'>>(sql));
    return new Map(rows.map(({ id, is_open }) => [id, is_open === 1]));
  }
}

function isOpen(intent: Intent): boolean {
  return !isSettled(intent) && intent.refused === undefined;
}

/** A row of the table. */
interface Row {
  id: string;
  account: string;
  origin: string;
  model: string;
  marker: string | null;
  filename: string;
  sha256: string;
  is_open: number;
}

function hintOf({ id, account, origin, model, marker, filename, sha256, is_open }: Row): Hint {
  return {
    id,
    accountId: account,
    origin,
    model_id: model,
    ...(marker !== null && { marker }),
    dataset: { filename, sha256 },
    isOpen: is_open === 1,
  };
}
