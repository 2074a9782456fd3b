const QUEUED_MS = 60_000;
const PRIORITY_QUEUED_MS = 10_000;
const RUNNING_MS = 300_000;
const RUNNING_MS_PER_MB = 1_000;

/** How long artifacts can be downloaded after completion, in real time: the speed does not shorten it. */
const ARTIFACT_RETENTION_MS = 7 * 24 * 60 * 60 * 1000;
/** A little more than the two hours before whose end the user is reminded. */
const SHORT_RETENTION_MS = 2 * 60 * 60 * 1000 + 30_000;

/** The ways a run may go, decided when it is submitted. */
export type Course = 'plain' | 'unknown-statuses' | 'failed-run' | 'short-retention';

/** What the clock needs to know of a run; all times in ms since 1970. */
export interface Timeline {
  created_at: number;
  starts_at: number;
  completes_at: number;
  course: Course;
}

/** Plans a run that is created now: it runs on the clock alone, also while no sandbox does. */
export function planRun(createdAt: number, datasetBytes: number, priority: boolean, speed: number) {
  const queuedMs = priority ? PRIORITY_QUEUED_MS : QUEUED_MS;
  const runningMs = RUNNING_MS + (datasetBytes / 1_000_000) * RUNNING_MS_PER_MB;
  return {
    created_at: createdAt,
    starts_at: Math.round(createdAt + queuedMs / speed),
    completes_at: Math.round(createdAt + (queuedMs + runningMs) / speed),
  };
}

/** Whether the run has ended well: only then are there artifacts and a completion time. */
export function isCompleted(run: Timeline, now: number): boolean {
  return now >= run.completes_at && run.course !== 'failed-run';
}

/** When the artifacts stop being available, or null before completion. */
export function artifactsExpireAt(run: Timeline, now: number): number | null {
  if (!isCompleted(run, now)) return null;
  return run.completes_at + (run.course === 'short-retention' ? SHORT_RETENTION_MS : ARTIFACT_RETENTION_MS);
}

/** Whether artifacts can be downloaded now (spec: "States and transitions", the rule at the end). */
export function artifactsAvailable(run: Timeline, now: number): boolean {
  const expiresAt = artifactsExpireAt(run, now);
  return expiresAt !== null && now < expiresAt;
}

/**
 * The status as the run list spells it. The contract names `queued` and `complete` only: `running`, `failed` and the
 * statuses of the scenario are the sandbox's own.
 */
export function statusInList(run: Timeline, now: number): string {
  if (now >= run.completes_at) return run.course === 'failed-run' ? 'failed' : 'complete';
  if (run.course !== 'unknown-statuses') return now < run.starts_at ? 'queued' : 'running';
  if (now < run.starts_at) return now < (run.created_at + run.starts_at) / 2 ? 'queued' : 'warming_up';
  return now < (run.starts_at + run.completes_at) / 2 ? 'calibrating' : 'evaluating';
}
