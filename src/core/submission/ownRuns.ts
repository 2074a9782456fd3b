import type { RunCreation, RunDetail } from '../api/types.ts';
import { markerOf } from '../runs/marker.ts';
import type { Submission } from './submission.ts';

/** Returns the submission whose marker a run's label has. @param label undefined or empty if unknown */
export function submissionOfLabel<T extends Pick<Submission, 'marker'>>(
  records: readonly T[],
  label: string | undefined,
): T | undefined {
  const found = markerOf(label ?? '');
  return found === undefined ? undefined : records.find(({ marker }) => marker === found);
}

/** Derives a run's charge from its details. Currency and balance are only in the response to the submission. */
export function creationOf({ run_id, status, price_cents, plan: plan_name }: RunDetail): RunCreation {
  return { run_id, status, price_cents, plan_name };
}
