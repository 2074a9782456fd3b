import * as v from 'valibot';
import { runSummary } from '../api/types.ts';

/** The schema of the entries of a map. */
export const pairs = <T>(value: v.GenericSchema<unknown, T>) => v.array(v.tuple([v.string(), value]));

/** The stored runs of an account, shared with other windows. */
export const savedRuns = v.object({
  /** The newest and all active runs. Rows without a time are left out: no list has contained them yet. */
  rows: v.array(runSummary),
  /** How many of the first rows have no gap between them. The remaining rows are older active runs. */
  contiguous: v.number(),
  /** Whether the service has runs older than the contiguous ones. */
  hasMore: v.boolean(),
  skipped: v.number(),
  /** By run ID. */
  labels: pairs(v.string()),
  /** When each active run was last seen to change. */
  changedAtMs: pairs(v.number()),
});
export type SavedRuns = v.InferOutput<typeof savedRuns>;
