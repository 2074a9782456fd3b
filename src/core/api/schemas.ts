import * as v from 'valibot';
import type {
  Artifact,
  Balance,
  Model,
  ModelList,
  RunCreation,
  RunDetail,
  RunPage,
  RunSummary,
} from './types.ts';

/** A field that need not be told: missing, null or of another type, it is undefined. */
const untold = <T>(schema: v.GenericSchema<T>) => v.optional(v.fallback(v.optional(schema), undefined));
const told = v.pipe(v.string(), v.nonEmpty());
const text = untold(v.string());
const number = untold(v.number());

const model: v.GenericSchema<unknown, Model> = v.pipe(
  v.looseObject({
    model_id: told,
    name: untold(told),
    provider: v.fallback(v.optional(v.string(), ''), ''),
    // The list is of those that are available (spec: "GET /api/v1/models"); of what is no boolean nobody knows.
    available: v.fallback(v.optional(v.boolean(), true), false),
    terms_url: text,
    use_policy_url: text,
  }),
  v.transform((read) => ({ ...read, name: read.name ?? read.model_id })),
);

const runCreation: v.GenericSchema<unknown, RunCreation> = v.looseObject({
  run_id: told,
  status: text,
  price_cents: number,
  currency: text,
  balance_after_cents: number,
  plan_name: text,
});

const runSummary: v.GenericSchema<unknown, RunSummary> = v.looseObject({
  run_id: told,
  status: v.string(),
  model_id: v.string(),
  created_at: text,
  // Not told is "not now": better than a run that is not shown.
  artifacts_available: v.fallback(v.optional(v.boolean(), false), false),
  artifacts_expires_at: text,
});

const runDetail: v.GenericSchema<unknown, RunDetail> = v.looseObject({
  run_id: told,
  status: v.string(),
  model_id: v.string(),
  label: text,
  plan: text,
  price_cents: number,
  created_at: text,
  started_at: text,
  completed_at: text,
});

const artifact: v.GenericSchema<unknown, Artifact> = v.looseObject({
  artifact_type: v.string(),
  url: told,
  expires_in: number,
  filename: text,
});

const balance: v.GenericSchema<unknown, Balance> = v.looseObject({
  balance_cents: v.number(),
  currency: v.string(),
});

const list = v.object({ data: v.array(v.unknown()) });
const envelope = v.object({ next_cursor: untold(told), has_more: untold(v.boolean()) });
const errorBody = v.object({
  error: v.object({ code: told, message: v.fallback(v.optional(v.string(), ''), '') }),
});

/** Reads the JSON of a success; undefined where it has not the contract's shape. */
export type Reader<T> = (json: unknown) => T | undefined;

export const readModelList: Reader<ModelList> = (json) => {
  const rows = parse(list, json)?.data;
  return rows && readRows(model, rows);
};

export const readRunPage: Reader<RunPage> = (json) => {
  const rows = parse(list, json)?.data;
  if (rows === undefined) return undefined;
  const { next_cursor, has_more = next_cursor !== undefined } = parse(envelope, json) ?? {};
  return { ...readRows(runSummary, rows), ...(next_cursor !== undefined && { next_cursor }), has_more };
};

/** Any object with a `run_id` says that the run exists and was charged; nothing else of it is needed. */
export const readRunCreation: Reader<RunCreation> = (json) => parse(runCreation, json);

export const readRunDetail: Reader<RunDetail> = (json) => parse(v.object({ run: runDetail }), json)?.run;

export const readArtifacts: Reader<Artifact[]> = (json) => {
  const rows = parse(v.object({ artifacts: v.array(v.unknown()) }), json)?.artifacts;
  return rows && readRows(artifact, rows).data;
};

export const readBalance: Reader<Balance> = (json) => parse(balance, json);

/** The contract's error body (spec: "Error body"). */
export const readErrorBody: Reader<{ code: string; message: string }> = (json) =>
  parse(errorBody, json)?.error;

/** A row that cannot be read is left out and counted: it must not cost the page. */
function readRows<T>(
  schema: v.GenericSchema<unknown, T>,
  rows: readonly unknown[],
): { data: T[]; skipped: number } {
  const data = rows.flatMap((row) => {
    const parsed = v.safeParse(schema, row);
    return parsed.success ? [parsed.output] : [];
  });
  return { data, skipped: rows.length - data.length };
}

function parse<T>(schema: v.GenericSchema<unknown, T>, json: unknown): T | undefined {
  const parsed = v.safeParse(schema, json);
  return parsed.success ? parsed.output : undefined;
}
