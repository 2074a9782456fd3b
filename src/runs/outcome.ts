import { ServiceError } from '../api/errors.ts';
import type { RunCreation } from '../api/types.ts';

/** How a submission ended for the person's money. */
export type Outcome =
  | { kind: 'charged'; run: RunCreation }
  | { kind: 'not-charged'; error: unknown }
  /** The dataset went out whole, and no answer of the contract came: it may have been charged. */
  | { kind: 'unknown'; error: unknown };

/** The refusals of the contract that say that nothing was charged (spec: POST /runs, "Errors"). */
const REFUSALS: ReadonlySet<number> = new Set([401, 402, 422, 429]);

/**
 * The verdict on a submission's one attempt that did not end with a run.
 * @param closed whether the closing boundary may have left: without it the service cannot have taken the request
 */
export function outcomeOf(error: unknown, closed: boolean): Outcome {
  const refused = error instanceof ServiceError && error.known && REFUSALS.has(error.httpStatus);
  return { kind: refused || !closed ? 'not-charged' : 'unknown', error };
}
