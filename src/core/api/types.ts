import * as v from 'valibot';

/**
 * The wire types of the service (spec: "Resources and their fields"), in the API's own snake_case so that a field on
 * the screen greps back to the spec. A field that may be missing is `undefined`: null and omitted are read alike.
 * Fields that the spec does not name are left out: what they hold is unknown, and does not belong on the disk.
 */

/** The path prefix that carries the interface's major version (spec: "Versioning"). */
export const API_PATH = '/api/v1';

/** The interface's version (spec: "Versioning"). */
export const API_VERSION = '1.0.0';

/** Largest dataset that is sent: "600 MB" read as MiB; above it is refused here (spec: "Limits"). */
export const MAX_DATASET_BYTES = 629_145_600;
/** "600 MB" read as decimal: from here on the service may refuse (spec: "Limits" does not say which is meant). */
export const WARN_DATASET_BYTES = 600_000_000;
/** Longest label, in UTF-16 units, the strictest reading of "255 characters" (spec: "Limits"). */
export const MAX_LABEL_LENGTH = 255;
/** Largest page of the run list (spec: "Limits"). */
export const MAX_PAGE_SIZE = 100;
/** Page size where none is asked for (spec: "Limits"). */
export const DEFAULT_PAGE_SIZE = 20;
/** How API keys start (spec: "Authentication"). */
export const API_KEY_PREFIX = 'service_';
/** How long an Idempotency-Key may be used again, for the exact same request only (spec: "Limits"). */
export const IDEMPOTENCY_WINDOW_MS = 24 * 60 * 60 * 1000;

/** The error codes that the contract lists (spec: "Errors"). */
export const ERROR_CODES = [
  'invalid_api_key',
  'rate_limited',
  'validation_failed',
  'not_found',
  'insufficient_balance',
  'model_not_available',
  'consent_required',
  'idempotency_conflict',
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

/** A field that may be missing: null or of another type, it is undefined. */
const optionalField = <T>(schema: v.GenericSchema<T>) =>
  v.optional(v.fallback(v.optional(schema), undefined));
const requiredText = v.pipe(v.string(), v.nonEmpty());
const text = optionalField(v.string());
const number = optionalField(v.number());

/** A row that cannot be read is left out and counted: it must not cost the page. */
const rowsOf = <T>(row: v.GenericSchema<unknown, T>) =>
  v.pipe(
    v.array(v.unknown()),
    v.transform((rows) => {
      const data = rows.map((one) => v.safeParse(row, one)).filter(({ success }) => success);
      return { data: data.map(({ output }) => output as T), skipped: rows.length - data.length };
    }),
  );

const model = v.pipe(
  v.object({
    model_id: requiredText,
    /** The `model_id` where none is provided. */
    name: optionalField(requiredText),
    /** Empty where none is provided. */
    provider: v.fallback(v.optional(v.string(), ''), ''),
    // The list is of those that are available (spec: "GET /api/v1/models"); of what is no boolean nobody knows.
    available: v.fallback(v.optional(v.boolean(), true), false),
    terms_url: text,
    use_policy_url: text,
  }),
  v.transform((read) => ({ ...read, name: read.name ?? read.model_id })),
);
export type Model = v.InferOutput<typeof model>;

export const modelList = v.pipe(
  v.object({ data: rowsOf(model) }),
  v.transform(({ data }) => data),
);
export type ModelList = v.InferOutput<typeof modelList>;

/** The answer of a submission. Any object with a `run_id` says that the run exists and was charged; the rest may be missing. */
export const runCreation = v.object({
  run_id: requiredText,
  status: text,
  price_cents: number,
  currency: text,
  balance_after_cents: number,
  plan_name: text,
});
export type RunCreation = v.InferOutput<typeof runCreation>;

export const runSummary = v.object({
  run_id: requiredText,
  /** Any string: the complete list of states is not shown. `complete` here is `completed` in RunDetail. */
  status: v.string(),
  model_id: v.string(),
  /** ISO 8601 UTC. */
  created_at: text,
  // Missing means "not now": better than a run that is not shown.
  artifacts_available: v.fallback(v.optional(v.boolean(), false), false),
  /** ISO 8601 UTC. */
  artifacts_expires_at: text,
});
export type RunSummary = v.InferOutput<typeof runSummary>;

export interface RunPage {
  data: RunSummary[];
  next_cursor?: string;
  has_more: boolean;
  /** Rows that could not be read and were left out. */
  skipped: number;
}

export const runPage: v.GenericSchema<unknown, RunPage> = v.pipe(
  v.object({
    data: rowsOf(runSummary),
    next_cursor: optionalField(requiredText),
    has_more: optionalField(v.boolean()),
  }),
  v.transform(({ data, next_cursor, has_more = next_cursor !== undefined }) => ({
    ...data,
    ...(next_cursor !== undefined && { next_cursor }),
    has_more,
  })),
);

export const runDetail = v.object({
  run_id: requiredText,
  status: v.string(),
  model_id: v.string(),
  label: text,
  plan: text,
  /** The detail names no currency. */
  price_cents: number,
  /** ISO 8601 UTC. */
  created_at: text,
  started_at: text,
  completed_at: text,
});
export type RunDetail = v.InferOutput<typeof runDetail>;

/** A run's details, as the service wraps them. */
export const runAnswer = v.pipe(
  v.object({ run: runDetail }),
  v.transform(({ run }) => run),
);

const artifact = v.object({
  /** `model` is the trained adapter; other values are not shown. */
  artifact_type: v.string(),
  /** Signed: never stored, never logged. */
  url: requiredText,
  /** Seconds. */
  expires_in: number,
  filename: text,
});
export type Artifact = v.InferOutput<typeof artifact>;

export const artifactList = v.pipe(
  v.object({ artifacts: rowsOf(artifact) }),
  v.transform(({ artifacts }) => artifacts.data),
);

export const balance = v.object({ balance_cents: v.number(), currency: v.string() });
export type Balance = v.InferOutput<typeof balance>;

/** What one submission sends, except the dataset's bytes. Consents are given by the user: only `true` can be sent. */
export interface RunSubmission {
  /** A UUID; the same for every attempt of one intent. Sent as the Idempotency-Key header. */
  idempotencyKey: string;
  /** The multipart boundary; kept, so that every attempt is byte-identical. */
  boundary: string;
  /**
   * `sha256`, lower-case hexadecimal, of the bytes that may be sent. `mtimeMs` and `ctimeMs`: of the file that has it, in
   * whole milliseconds; one of other times is hashed before anything is sent.
   */
  dataset: {
    path: string;
    filename: string;
    sizeBytes: number;
    sha256: string;
    mtimeMs?: number | undefined;
    ctimeMs?: number | undefined;
  };
  model_id: string;
  /** Omitted when undefined or empty. */
  label?: string;
  model_terms_accepted: true;
  data_policy_accepted: true;
  priority_processing: boolean;
}
