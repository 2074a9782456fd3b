import type { Moved } from '../runs/runStore.ts';

/** Runs whose artifacts became available while they were known: not those that were available when they were first seen. */
export function becameAvailable(moved: readonly Pick<Moved, 'runId' | 'before' | 'after'>[]): string[] {
  return moved
    .filter(({ before, after }) => !before.artifacts_available && after.artifacts_available)
    .map(({ runId }) => runId);
}
