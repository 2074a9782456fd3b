import type { RunDetail, RunSummary } from '../api/types.ts';

/**
 * How far a run is. The complete list of states is not shown (spec: "States and transitions"), so every status that is
 * not known to wait or to be finished counts as active and is shown as it came.
 */
export type Phase = 'waiting' | 'active' | 'finished';

/** Lists say `complete`, details `completed`; an available artifact or an end time means finished, too. */
export function phaseOf(run: RunSummary, detail?: RunDetail): Phase {
  const statuses = [run.status, detail?.status];
  if (statuses.includes('complete') || statuses.includes('completed')) return 'finished';
  if (run.artifacts_available || detail?.completed_at !== undefined) return 'finished';
  return run.status === 'queued' ? 'waiting' : 'active';
}
