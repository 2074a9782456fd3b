import type { Head, Version } from '../storage/versions.ts';
import { isDuplicate, isSettled, type Intent } from './intent.ts';
import { isLater, type JournalRecord } from './record.ts';

/** The submissions of the same bytes that the user knew of when consenting to another one. */
export interface KnownSubmissions {
  /** IDs of open intents of other accounts that don't prevent this one. */
  duplicates?: readonly string[];
  /** IDs of receipts. Any other charged or discarded one prevents this one; undefined: none does. */
  receipts?: readonly string[];
  /** IDs of records that can't be read, beside which the user agreed to submit. Any other one prevents this one. */
  unreadable?: readonly string[];
}

/**
 * What the user knew of when consenting to a draft that is continued now: what was settled before it was created, and what other
 * accounts submit.
 */
export function knownOnContinue(draft: Intent, records: readonly Intent[]): KnownSubmissions {
  const isKnown = ({ accountId, settled }: Intent) =>
    accountId !== draft.accountId || (settled !== undefined && settled.at.localMs < draft.created.localMs);
  const ids = records.filter(isKnown).map(({ id }) => id);
  return { duplicates: ids, receipts: ids };
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

/** Returns the rivals of an intent, those that have begun first. */
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
    if (!isDuplicate(record, intent) || record.refused !== undefined) return [];
    if (isSettled(record)) {
      const isNew = receipts?.includes(id) === false;
      const isMeant = record.settled.kind === 'charged' || record.settled.kind === 'discarded';
      return isNew && isMeant ? [{ kind: 'settled', intent: record }] : [];
    }
    if (record.accountId !== intent.accountId && duplicates.includes(id)) return [];
    const isDraft = record.attempts.length === 0;
    return [
      isDraft ? { kind: 'draft', intent: record, version: { id, n } } : { kind: 'begun', intent: record },
    ];
  });
  const order = { settled: 0, begun: 1, later: 2, draft: 3 };
  return rivals.sort((one, other) => order[one.kind] - order[other.kind]);
}

/** Whether an intent was created before another one; of two at once, one always was. */
export function isEarlier(one: Intent, other: Intent): boolean {
  const ms = one.created.localMs - other.created.localMs;
  return ms === 0 ? one.id < other.id : ms < 0;
}
