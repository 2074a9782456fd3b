import type { RunCreation, RunDetail } from '../api/types.ts';
import type { RunStore } from '../runs/runStore.ts';
import { hasMarker, markerOf } from '../runs/marker.ts';
import type { Intent } from './intent.ts';

/** Returns the record, open or settled, whose marker a run's label has. @param label undefined or empty if the service has none */
export function ownerOf<T extends Pick<Intent, 'marker'>>(
  records: readonly T[],
  label: string | undefined,
): T | undefined {
  const found = markerOf(label ?? '');
  return found === undefined ? undefined : records.find(({ marker }) => marker === found);
}

/** Whether a run is an open submission's by its marker. */
export function isMarkedRunOf(
  { marker }: Pick<Intent, 'marker'>,
  runId: string,
  runs: Pick<RunStore, 'label'>,
): boolean {
  return marker !== undefined && hasMarker(runs.label(runId) ?? '', marker);
}

/** Whether a run is an open submission's by its marker, or a possible one by the last check. */
export function mayBeRunOf(
  intent: Pick<Intent, 'lastCheck' | 'marker'>,
  runId: string,
  runs: Pick<RunStore, 'label'>,
): boolean {
  return isMarkedRunOf(intent, runId, runs) || intent.lastCheck?.candidates.includes(runId) === true;
}

/** Derives a run's charge from its details. Only the submission's response has plan and balance. */
export function creationOf({ run_id, status, price_cents, plan: plan_name }: RunDetail): RunCreation {
  return { run_id, status, price_cents, plan_name };
}
