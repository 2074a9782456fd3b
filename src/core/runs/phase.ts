import type { RunDetail, RunSummary } from '../api/types.ts';

/**
 * How far a run is. The complete list of states is not shown (spec: "States and transitions"), so every other status counts as
 * active and is shown as it came. `ended`: its word reads as an end. It may not be one, so the run is still watched.
 */
export type Phase = 'waiting' | 'active' | 'finished' | 'ended';

const END = /fail|error|cancel|reject|expire|abort/i;

/** Lists say `complete`, details `completed`; an available artifact or an end time means finished, too. */
export function phaseOf(run: RunSummary, detail?: RunDetail): Phase {
  const statuses = [run.status, detail?.status];
  if (statuses.includes('complete') || statuses.includes('completed')) return 'finished';
  if (run.artifacts_available || detail?.completed_at !== undefined) return 'finished';
  if (run.status === 'queued') return 'waiting';
  return END.test(run.status) ? 'ended' : 'active';
}
