import path from 'node:path';
import { OvertakenError, type Head, type Version, type VersionStore } from '../storage/versions.ts';
import { chargeIdsOf, earlierSubmissionsOf, isNews, isPast, type KnownSubmissions } from './earlier.ts';
import { SubmissionError } from './errors.ts';
import { isDuplicate, isSettled, type Intent } from './intent.ts';
import { isLater, type JournalRecord } from './record.ts';

/**
 * Returns what the user knew when they consented to a draft that is continued now. That is what was settled
 * before the draft was created, and what other accounts submit.
 */
export function knownOnContinue(draft: Intent, records: readonly Intent[]): KnownSubmissions {
  const isKnown = ({ accountId, settled }: Intent) =>
    accountId !== draft.accountId || (settled !== undefined && settled.at.localMs < draft.created.localMs);
  const known = records.filter(isKnown);
  return { duplicates: known.map(({ id }) => id), receipts: chargeIdsOf(known) };
}

/** A submission of the same bytes and model at the same service that prevents another one. */
export type Rival =
  /** Nothing of it was sent, and it can still be withdrawn. */
  | { kind: 'draft'; intent: Intent; version: Version }
  | { kind: 'begun'; intent: Intent }
  /** Charged or discarded since the user consented. */
  | { kind: 'settled'; intent: Intent }
  /** Open, in the format of a later version. */
  | { kind: 'later' };

/** Returns the rivals of an intent; drafts come last. */
export function rivalsOf(
  intent: Intent,
  heads: Iterable<Head<JournalRecord>>,
  { duplicates = [], receipts }: KnownSubmissions,
): Rival[] {
  const rivals = [...heads].flatMap((head): Rival[] => {
    const { id, n, record } = head;
    if (record === undefined || id === intent.id) return [];
    if (isLater(record)) {
      const mayBeSame = record.key === undefined || isDuplicate(record.key, intent);
      return !record.isDecided && mayBeSame ? [{ kind: 'later' }] : [];
    }
    const { dataset, origin, model_id } = intent;
    const earlier = earlierSubmissionsOf(dataset.sha256, origin, { records: [record] })[0];
    if (earlier?.modelId !== model_id) return [];
    if (isPast(earlier))
      return receipts !== undefined && isNews(earlier, receipts) ? [{ kind: 'settled', intent: record }] : [];
    if (earlier.accountId !== intent.accountId && duplicates.includes(id)) return [];
    return [
      earlier.kind === 'draft'
        ? { kind: 'draft', intent: record, version: { id, n } }
        : { kind: 'begun', intent: record },
    ];
  });
  const order = { settled: 0, begun: 1, later: 2, draft: 3 };
  return rivals.sort((one, other) => order[one.kind] - order[other.kind]);
}

type Change = (head: Head<JournalRecord> | undefined) => Intent | undefined;

interface JournalAccess {
  folder: string;
  store: VersionStore<JournalRecord>;
  reload: () => Promise<void>;
  unreadable: () => readonly string[];
  appendAnyway: (id: string, change: Change) => Promise<void>;
}

/**
 * Decides between submissions of the same bytes and model (R13 in docs/journal.md). Each process writes its
 * own before it lists the folder, so one sees both. The earlier one stays, unless the later has begun.
 */
export class Rivals {
  readonly #parts: JournalAccess;

  constructor(parts: JournalAccess) {
    this.#parts = parts;
  }

  /**
   * Withdraws an intent if a rival comes first, else the later drafts.
   * @returns the open intent that comes first
   * @throws SubmissionError `journal-unreadable`, `later-version`, `submitted-meanwhile`
   */
  async giveWay(intent: Intent, known: KnownSubmissions): Promise<Intent | undefined> {
    const { folder, store, reload, unreadable } = this.#parts;
    for (;;) {
      await reload();
      const other = unreadable().find((id) => known.unreadable?.includes(id) !== true);
      if (other !== undefined)
        throw new SubmissionError('journal-unreadable', { file: path.join(folder, other) });
      const rivals = rivalsOf(intent, store.heads.values(), known);
      const first = rivals.find((rival) => rival.kind !== 'draft' || isEarlier(rival.intent, intent));
      if (first?.kind === 'later') throw new SubmissionError('later-version');
      if (first !== undefined) await this.withdraw(intent);
      if (first?.kind === 'settled') throw new SubmissionError('submitted-meanwhile');
      if (first !== undefined) return first.intent;
      if (rivals.length === 0) return undefined;
      for (const rival of rivals) if (rival.kind === 'draft') await this.#withdrawRival(rival);
    }
  }

  /** Withdraws a draft of this process. Never rejects: if it fails, it stays a draft, never sent. */
  async withdraw({ id }: Intent): Promise<void> {
    const change: Change = (head) => {
      const record = head?.record;
      if (record === undefined || isLater(record) || isSettled(record) || record.attempts.length > 0)
        return undefined;
      return withdrawn(record);
    };
    await this.#parts.appendAnyway(id, change).catch(() => undefined);
  }

  /** Withdraws another draft, unless it has begun meanwhile. @throws file system errors */
  async #withdrawRival({ intent, version }: Extract<Rival, { kind: 'draft' }>): Promise<void> {
    const { store } = this.#parts;
    try {
      await store.append(version, withdrawn(intent));
    } catch (error) {
      if (!(error instanceof OvertakenError)) throw error;
      // After this read, the next listing leaves out a version that can't be read.
      await store.read(version.id);
    }
  }
}

function withdrawn(intent: Intent): Intent {
  return { ...intent, settled: { kind: 'withdrawn', at: { localMs: Date.now() } } };
}

/** Whether an intent was created before another one; at the same time, the lower ID counts. */
export function isEarlier(one: Intent, other: Intent): boolean {
  const ms = one.created.localMs - other.created.localMs;
  return ms === 0 ? one.id < other.id : ms < 0;
}
