import * as v from 'valibot';
import { balance, runSummary } from '../api/types.ts';

const pairs = <T>(value: v.GenericSchema<unknown, T>) => v.array(v.tuple([v.string(), value]));

const runs = v.object({
  /** The newest ones and all active ones; not those without a time, which no list has named yet. */
  rows: v.array(runSummary),
  /** How many at the beginning have no gap between them; what follows are older ones that are active. */
  contiguous: v.number(),
  /** Whether the service has older ones than the contiguous ones. */
  hasMore: v.boolean(),
  skipped: v.number(),
  /** By run ids. */
  labels: pairs(v.string()),
  /** When each active one was last seen to change. */
  changedAtMs: pairs(v.number()),
});

/** What the window that polls an account stores for the others, and for those that start later. Times are this machine's. */
export const savedList = v.object({
  /** When the last request was sent whose answer this holds: what was asked later is newer. */
  readAtMs: v.number(),
  /** Undefined until the runs were read once. */
  runs: v.optional(runs),
  balance: v.optional(v.object({ readAtMs: v.number(), value: balance })),
  /** The display names of the models, by their ids. */
  modelNames: v.optional(pairs(v.string())),
  /** Undefined when the service answers. */
  offlineSinceMs: v.optional(v.number()),
  /** The service asked for nothing to be sent before then. */
  notBeforeMs: v.optional(v.number()),
  /** The same for reads that somebody waits for, which are held for some minutes only. */
  readsNotBeforeMs: v.optional(v.number()),
  /** When polls failed: how many in a row, and until when the next one waits. */
  backoff: v.optional(v.object({ failures: v.number(), untilMs: v.number() })),
});

export type SavedList = v.InferOutput<typeof savedList>;
export type SavedRuns = v.InferOutput<typeof runs>;
export type Backoff = NonNullable<SavedList['backoff']>;
