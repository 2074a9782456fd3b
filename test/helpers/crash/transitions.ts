import type { Submission } from '../../../src/core/submission/submission.ts';

/** The stage of a version, or the reason of its end. */
type Step = Exclude<Submission['stage'], 'ended'> | NonNullable<Submission['reason']>;

/** The steps that may follow each one in a chain of versions, by any window. A known charge is never taken back. */
const NEXT: Readonly<Record<Step, readonly Step[]>> = {
  draft: ['draft', 'sending', 'not-charged', 'discarded', 'charged'],
  sending: ['sending', 'draft', 'not-charged', 'discarded', 'charged'],
  sent: ['sent', 'cleared', 'discarded', 'charged'],
  cleared: ['cleared', 'sent', 'not-charged', 'discarded', 'charged'],
  refused: ['not-charged', 'charged'],
  'not-charged': ['charged'],
  discarded: ['charged'],
  charged: ['charged'],
};

/**
 * The steps that only the window of an attempt may write, and only right above its own version (rule 7 in docs/journal.md). Only
 * that window knows that the last bytes follow or stayed, or what the service answered.
 */
const BY_OWNER: Readonly<Partial<Record<Step, readonly Step[]>>> = {
  draft: ['refused'],
  sending: ['sent', 'refused'],
  sent: ['sending', 'draft', 'refused', 'not-charged'],
};

export function stepOf({ stage, reason }: Submission): Step {
  return stage === 'ended' ? (reason ?? 'not-charged') : stage;
}

/** Whether a version may follow another one. @param isOwner whether the same window wrote both */
export function mayFollow(below: Submission, above: Submission, isOwner: boolean): boolean {
  const [from, to] = [stepOf(below), stepOf(above)];
  return NEXT[from].includes(to) || (isOwner && BY_OWNER[from]?.includes(to) === true);
}
