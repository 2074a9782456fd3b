import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import type { Balance, RunSummary } from '../api/types.ts';
import { writeFileDurably } from '../storage/durableFile.ts';

const row = v.object({
  run_id: v.string(),
  status: v.string(),
  model_id: v.string(),
  created_at: v.optional(v.string()),
  artifacts_available: v.boolean(),
  artifacts_expires_at: v.optional(v.string()),
});
const pairs = <T>(value: v.GenericSchema<unknown, T>) => v.array(v.tuple([v.string(), value]));
const schema = v.object({
  version: v.literal(1),
  readAtMs: v.number(),
  runs: v.optional(
    v.object({
      rows: v.array(row),
      contiguous: v.number(),
      hasMore: v.boolean(),
      skipped: v.number(),
      labels: pairs(v.string()),
      changedAtMs: pairs(v.number()),
    }),
  ),
  balance: v.optional(
    v.object({ readAtMs: v.number(), value: v.object({ balance_cents: v.number(), currency: v.string() }) }),
  ),
  modelNames: v.optional(pairs(v.string())),
  clockSkewMs: v.optional(v.number()),
  offlineSinceMs: v.optional(v.number()),
  notBeforeMs: v.optional(v.number()),
  readsNotBeforeMs: v.optional(v.number()),
});

/** What is kept of the runs: the newest ones and all that go on. */
export interface SavedRuns {
  /** The fields of the contract alone; those without a time, which no list has named yet, are not among them. */
  rows: readonly RunSummary[];
  /** How many at the beginning stand without a gap; what follows are older ones that go on. */
  contiguous: number;
  /** Whether the service has older ones than the contiguous ones. */
  hasMore: boolean;
  skipped: number;
  labels: readonly (readonly [runId: string, label: string])[];
  /** When each that goes on was last seen to change. */
  changedAtMs: readonly (readonly [runId: string, atMs: number])[];
}

/** What the window that watches an account tells the others, and those that begin later. Times are this machine's wall clock. */
export interface SavedList {
  /** When the last request was sent of which this tells: whoever asked later knows better. */
  readAtMs: number;
  /** Undefined until the runs were read once. */
  runs?: SavedRuns | undefined;
  balance?: { readAtMs: number; value: Balance } | undefined;
  /** The display names of the models, by their ids. */
  modelNames?: readonly (readonly [modelId: string, name: string])[] | undefined;
  /** How far the service's clock is ahead of this machine's. */
  clockSkewMs?: number | undefined;
  offlineSinceMs?: number | undefined;
  /** The service asked for nothing to be sent before then. */
  notBeforeMs?: number | undefined;
  /** The same for reads that somebody waits for. */
  readsNotBeforeMs?: number | undefined;
}

/** Reads it; undefined where there is none, or none of ours. */
export async function readListFile(file: string): Promise<SavedList | undefined> {
  try {
    const parsed = v.safeParse(schema, JSON.parse(await readFile(file, 'utf8')));
    return parsed.success ? parsed.output : undefined;
  } catch {
    return undefined;
  }
}

/** Writes it so that a reader finds it whole. */
export function writeListFile(file: string, list: SavedList): Promise<void> {
  return writeFileDurably(file, JSON.stringify({ version: 1, ...list }));
}

/** Whether two say the same, whenever it was read. */
export function isSameList(a: SavedList | undefined, b: SavedList): boolean {
  return a !== undefined && JSON.stringify({ ...a, readAtMs: 0 }) === JSON.stringify({ ...b, readAtMs: 0 });
}

/** A row as it is kept: what the contract does not name could be anything. */
export function savedRow(run: RunSummary): RunSummary {
  const { run_id, status, model_id, created_at, artifacts_available, artifacts_expires_at } = run;
  return {
    run_id,
    status,
    model_id,
    ...(created_at !== undefined && { created_at }),
    artifacts_available,
    ...(artifacts_expires_at !== undefined && { artifacts_expires_at }),
  };
}
