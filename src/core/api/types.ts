/**
 * The wire types of the service (spec: "Resources and their fields"), in the API's own snake_case so that a field on
 * the screen greps back to the spec. A field that may be missing is `undefined`: null and omitted are read alike.
 * Fields that the spec does not name are kept by the client, though no type names them.
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

export interface Model {
  model_id: string;
  /** The `model_id` where none is provided. */
  name: string;
  /** Empty where none is provided. */
  provider: string;
  available: boolean;
  terms_url?: string;
  use_policy_url?: string;
}

/** The answer of a submission. Only `run_id` is needed to know that it was charged; the rest may be missing. */
export interface RunCreation {
  run_id: string;
  status?: string;
  price_cents?: number;
  currency?: string;
  balance_after_cents?: number;
  plan_name?: string;
}

export interface RunSummary {
  run_id: string;
  /** Any string: the complete list of states is not shown. `complete` here is `completed` in RunDetail. */
  status: string;
  model_id: string;
  /** ISO 8601 UTC. */
  created_at?: string;
  artifacts_available: boolean;
  /** ISO 8601 UTC. */
  artifacts_expires_at?: string;
}

export interface RunDetail {
  run_id: string;
  status: string;
  model_id: string;
  label?: string;
  plan?: string;
  /** The detail names no currency. */
  price_cents?: number;
  /** ISO 8601 UTC. */
  created_at?: string;
  started_at?: string;
  completed_at?: string;
}

export interface Artifact {
  /** `model` is the trained adapter; other values are not shown. */
  artifact_type: string;
  /** Signed: never stored, never logged. */
  url: string;
  /** Seconds. */
  expires_in?: number;
  filename?: string;
}

export interface Balance {
  balance_cents: number;
  currency: string;
}

export interface RunPage {
  data: RunSummary[];
  next_cursor?: string;
  has_more: boolean;
  /** Rows that could not be read and were left out. */
  skipped: number;
}

export interface ModelList {
  data: Model[];
  skipped: number;
}

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
