import type { Submission } from '../../../src/core/submission/submission.ts';

/** What a version of a record says: its stage, and why it ended. */
type Step = Exclude<Submission['stage'], 'ended'> | NonNullable<Submission['reason']>;

/** Which step may follow which in a chain of versions, in any window. A known charge is never taken back. */
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
 * What only the window of an attempt may write, and only right above its own version (rule 7 in
 * docs/journal.md). Only it knows that the last bytes follow, that they stayed, or what the service answered.
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
