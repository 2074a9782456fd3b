import { isSettled, type Intent, type Settlement } from './intent.ts';
import { stageOf, type Stage } from './stage.ts';

/** What a version of a record says: the stage of an open one, or how it ended. */
export type RecordStep = Stage['name'] | Settlement['kind'];

/** Which step may follow which in a chain of versions, in any window. A known charge is never taken back. */
const NEXT: Readonly<Record<RecordStep, readonly RecordStep[]>> = {
  draft: ['draft', 'begun', 'not-charged', 'discarded', 'withdrawn', 'charged'],
  begun: ['begun', 'draft', 'not-charged', 'discarded', 'charged'],
  closing: ['closing', 'lost', 'discarded', 'charged'],
  lost: ['lost', 'closing', 'cleared', 'discarded', 'charged'],
  cleared: ['cleared', 'closing', 'lost', 'not-charged', 'discarded', 'charged'],
  refused: ['not-charged', 'discarded', 'charged'],
  'not-charged': ['charged'],
  discarded: ['charged'],
  withdrawn: ['charged'],
  charged: ['charged'],
};

/**
 * What only the window of an attempt may write, and only right above its own version (R8 in docs/journal.md).
 * Only it knows that the boundary follows, that it wasn't sent, or what the service answered.
 */
const BY_OWNER: Readonly<Partial<Record<RecordStep, readonly RecordStep[]>>> = {
  draft: ['refused'],
  begun: ['closing', 'refused'],
  closing: ['begun', 'draft', 'cleared', 'refused', 'not-charged'],
};

export function stepOf(record: Intent): RecordStep {
  return isSettled(record) ? record.settled.kind : stageOf(record).name;
}

/** Whether a version may follow another one. @param isOwner whether the same window wrote both */
export function mayFollow(below: Intent, above: Intent, isOwner: boolean): boolean {
  const [from, to] = [stepOf(below), stepOf(above)];
  return NEXT[from].includes(to) || (isOwner && BY_OWNER[from]?.includes(to) === true);
}
