import * as v from 'valibot';

/**
 * The wire types of the service (spec: "Resources and their fields"), in the API's snake_case. A missing field is
 * `undefined`, whether it was null or omitted. Fields that the spec doesn't name are dropped: their content is unknown
 * and must not be stored.
 */

/** The path prefix with the API's major version (spec: "Versioning"). */
export const API_PATH = '/api/v1';

/** The API's version (spec: "Versioning"). */
export const API_VERSION = '1.0.0';

/** The largest dataset that is sent: "600 MB" read as MiB (spec: "Limits"). */
export const MAX_DATASET_BYTES = 629_145_600;
/** "600 MB" read as decimal; the service may reject larger ones (spec: "Limits" is ambiguous). */
export const WARN_DATASET_BYTES = 600_000_000;
/** The longest label in UTF-16 units, the strictest reading of "255 characters" (spec: "Limits"). */
export const MAX_LABEL_LENGTH = 255;
/** The largest page of the run list (spec: "Limits"). */
export const MAX_PAGE_SIZE = 100;
/** The default page size (spec: "Limits"). */
export const DEFAULT_PAGE_SIZE = 20;
/** The prefix of API keys (spec: "Authentication"). */
export const API_KEY_PREFIX = 'service_';
/** How long an Idempotency-Key can be reused for the identical request (spec: "Limits"). */
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

/** A field that may be missing; null or another type becomes undefined. */
export const optionalField = <T>(schema: v.GenericSchema<unknown, T>) =>
  v.optional(v.fallback(v.optional(schema), undefined));
const requiredText = v.pipe(v.string(), v.nonEmpty());
const text = optionalField(v.string());

/** `1e999` is valid JSON, but parsed as infinity, which can't be written again. */
const finite = v.pipe(v.number(), v.finite());
/** An amount, which may be negative. Beyond these limits cents can't be counted. */
const amount = v.pipe(v.number(), v.minValue(Number.MIN_SAFE_INTEGER), v.maxValue(Number.MAX_SAFE_INTEGER));
export const cents = optionalField(amount);
/**
 * A price; one that isn't an integer of 0 or more (spec: "Balance") counts as missing, so that the charge stays
 * readable.
 */
export const price = optionalField(v.pipe(v.number(), v.safeInteger(), v.minValue(0)));

/** A currency code in capitals, so that codes can be compared. A long one becomes empty, to keep receipts small. */
export const currencyCode = v.pipe(
  v.string(),
  v.transform((code) => (code.length > 200 ? '' : code.trim().toUpperCase())),
);
/** An optional currency code. */
export const currency = optionalField(v.pipe(currencyCode, v.nonEmpty()));

/** No page of the contract has more rows. */
const MAX_ROWS = 5_000;

/** Omits and counts unreadable rows, and rows after the first 5,000, so that they don't invalidate the page. */
const rowsOf = <T>(row: v.GenericSchema<unknown, T>) =>
  v.pipe(
    v.custom<readonly unknown[]>(Array.isArray),
    v.transform((rows) => {
      const read = rows.slice(0, MAX_ROWS).filter((one) => v.is(row, one));
      return { data: read.map((one) => v.parse(row, one)), skipped: rows.length - read.length };
    }),
  );

export const model = v.pipe(
  v.object({
    model_id: requiredText,
    /** Defaults to the `model_id`. */
    name: optionalField(requiredText),
    /** Defaults to an empty string. */
    provider: v.fallback(v.optional(v.string(), ''), ''),
    // Listed models are available (spec: "GET /api/v1/models"), unless the field is not a boolean.
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

/** The response to a submission. Any object with a `run_id` is a charged run; the rest may be missing. */
export const runCreation = v.object({
  run_id: requiredText,
  status: text,
  price_cents: price,
  currency,
  balance_after_cents: cents,
  plan_name: text,
});
export type RunCreation = v.InferOutput<typeof runCreation>;

export const runSummary = v.object({
  run_id: requiredText,
  /** Any string: the list of states is incomplete. `complete` here is `completed` in RunDetail. */
  status: v.string(),
  model_id: v.string(),
  /** ISO 8601 UTC. */
  created_at: text,
  // Missing means "not now", so that the run is still shown.
  artifacts_available: v.fallback(v.optional(v.boolean(), false), false),
  /** ISO 8601 UTC. */
  artifacts_expires_at: text,
});
export type RunSummary = v.InferOutput<typeof runSummary>;

export interface RunPage {
  data: RunSummary[];
  next_cursor?: string;
  has_more: boolean;
  /** The number of unreadable rows that were omitted. */
  skipped: number;
}

export const runPage: v.GenericSchema<unknown, RunPage> = v.pipe(
  v.object({
    data: rowsOf(runSummary),
    next_cursor: optionalField(requiredText),
    has_more: optionalField(v.boolean()),
  }),
  v.transform(({ data, next_cursor, has_more = next_cursor !== undefined }) => {
    // The cut rows are unknown, so the list must not continue after them.
    if (data.data.length + data.skipped > MAX_ROWS) return { ...data, has_more: true };
    return { ...data, ...(next_cursor !== undefined && { next_cursor }), has_more };
  }),
);

export const runDetail = v.object({
  run_id: requiredText,
  status: v.string(),
  model_id: v.string(),
  label: text,
  plan: text,
  /** In cents; the details don't include a currency. */
  price_cents: price,
  /** ISO 8601 UTC. */
  created_at: text,
  started_at: text,
  completed_at: text,
});
export type RunDetail = v.InferOutput<typeof runDetail>;

/** The details of a run in the service's envelope. */
export const runResponse = v.pipe(
  v.object({ run: runDetail }),
  v.transform(({ run }) => run),
);

const artifact = v.object({
  /** `model` is the trained adapter; other values are not shown. */
  artifact_type: v.string(),
  /** A signed URL: never stored or logged. */
  url: requiredText,
  /** In seconds. */
  expires_in: optionalField(finite),
  filename: text,
});
export type Artifact = v.InferOutput<typeof artifact>;

export const artifactList = v.pipe(
  v.object({ artifacts: rowsOf(artifact) }),
  v.transform(({ artifacts }) => artifacts.data),
);

export const balance = v.object({ balance_cents: amount, currency: currencyCode });
export type Balance = v.InferOutput<typeof balance>;

/** The content of a submission except the dataset's bytes. Only the user's consent (`true`) can be sent. */
export interface RunSubmission {
  /** A UUID, the same for every attempt of a submission. Sent as the Idempotency-Key header. */
  idempotencyKey: string;
  /** The multipart boundary, the same for every attempt so that all are byte-identical. */
  boundary: string;
  /**
   * `sha256`: of the only bytes that may be sent, in lower-case hexadecimal. `mtimeMs`, `ctimeMs`: the times of the
   * hashed file, in whole milliseconds. If one differs, the file is hashed again before anything is sent.
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
