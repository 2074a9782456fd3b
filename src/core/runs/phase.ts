import type { RunDetail, RunSummary } from '../api/types.ts';

/**
 * The progress of a run. The list of states is incomplete (spec: "States and transitions"), so any other
 * status counts as active and is shown unchanged. `ended`: it reads like an end, but is still watched in case
 * it isn't.
 */
export type Phase = 'waiting' | 'active' | 'finished' | 'ended';

/** A word such as “cancelling” says that the end is still to come. */
const END = /(?:fail|error|cancel|reject|expire|abort)(?!l?ing)/i;

/** Lists say `complete`, details `completed`. An available artifact or an end time also means finished. */
export function phaseOf(run: RunSummary, detail?: RunDetail): Phase {
  const statuses = [run.status, detail?.status];
  if (statuses.includes('complete') || statuses.includes('completed')) return 'finished';
  if (run.artifacts_available || detail?.completed_at !== undefined) return 'finished';
  if (run.status === 'queued') return 'waiting';
  return END.test(run.status) ? 'ended' : 'active';
}
