import { isSettled, type Intent, type Settlement } from './intent.ts';
import { stageOf, type Stage } from './stage.ts';

/** What a version of a record says: the stage of an open one, or how it ended. */
export type Step = Stage['name'] | Settlement['kind'];

/**
 * Which step may follow which in a chain of versions. A known charge is never taken back. `closing` leads back to `begun` or `draft`
 * only if its own window knows that the boundary didn't leave.
 */
const NEXT: Readonly<Record<Step, readonly Step[]>> = {
  draft: ['draft', 'begun', 'refused', 'not-charged', 'discarded', 'withdrawn', 'charged'],
  begun: ['begun', 'draft', 'closing', 'refused', 'not-charged', 'discarded', 'charged'],
  closing: [
    ...(['closing', 'begun', 'draft', 'lost', 'cleared', 'refused'] as const),
    ...(['not-charged', 'discarded', 'charged'] as const),
  ],
  lost: ['lost', 'closing', 'cleared', 'not-charged', 'discarded', 'charged'],
  cleared: ['cleared', 'closing', 'lost', 'not-charged', 'discarded', 'charged'],
  refused: ['not-charged', 'discarded', 'charged'],
  'not-charged': ['charged'],
  discarded: ['charged'],
  withdrawn: ['charged'],
  charged: ['charged'],
};

export function stepOf(record: Intent): Step {
  return isSettled(record) ? record.settled.kind : stageOf(record).name;
}

/** Whether a version may stand right above another one. */
export function mayFollow(below: Intent, above: Intent): boolean {
  return NEXT[stepOf(below)].includes(stepOf(above));
}
