import * as v from 'valibot';
import { CancelledError } from '../base/errors.ts';
import { parseHttpDate } from '../base/instant.ts';
import { toPlainLine } from '../base/plainText.ts';
import { MAX_RETRY_AFTER_MS } from '../base/retry.ts';
import { ApiError, ServiceError, UnexpectedAnswerError } from './errors.ts';
import type { HttpAnswer } from './exchange.ts';
import {
  API_KEY_PREFIX,
  type Artifact,
  type Balance,
  ERROR_CODES,
  type Model,
  type ModelList,
  type RunCreation,
  type RunDetail,
  type RunPage,
  type RunSummary,
} from './types.ts';

/** More JSON than any answer of the contract could need. */
const MAX_BYTES = 32 * 1024 * 1024;
const MAX_MESSAGE_LENGTH = 300;
/** What is not the service may be wrong about it for hours: a longer Retry-After is cut. */
const LONGEST_OF_GATEWAY_MS = 5 * 60_000;
const MASK = '***';
/** What a code that the contract does not list may look like. */
const CODE = /^[\w.-]{1,64}$/;

/**
 * Reads an answer to its end and makes it a value.
 * @param read knows the shape of a success
 * @param secret is taken out of every text of the answer, should the service repeat it
 * @throws ServiceError, UnexpectedAnswerError, NetworkError, CancelledError
 */
export async function readAnswer<T>(
  answer: HttpAnswer,
  read: Reader<T>,
  secret: string,
  nowMs: number,
): Promise<T> {
  const { httpStatus } = answer;
  if (httpStatus >= 400) throw await readError(answer, secret, nowMs);
  if (httpStatus >= 300) {
    answer.discard();
    throw new UnexpectedAnswerError(httpStatus, 'redirect');
  }
  const text = await readText(answer);
  const json = parseJson(text, secret);
  if (json === undefined) throw new UnexpectedAnswerError(httpStatus, kindOfText(text));
  const value = read(json);
  if (value === undefined) throw new UnexpectedAnswerError(httpStatus, 'wrong-shape');
  return value;
}

async function readError(answer: HttpAnswer, secret: string, nowMs: number): Promise<ApiError> {
  const { httpStatus } = answer;
  // Against the sender's own clock, where it sends it: the two may be far apart.
  const clockMs = parseHttpDate(answer.header('date')) ?? nowMs;
  const retryAfterMs = parseRetryAfter(answer.header('retry-after'), clockMs);
  let text = '';
  try {
    text = await readText(answer);
  } catch (error) {
    // The status is known, even if its body was cut.
    if (error instanceof CancelledError) throw error;
  }
  const body = readErrorBody(parseJson(text));
  if (body === undefined) {
    const shortMs = retryAfterMs && Math.min(retryAfterMs, LONGEST_OF_GATEWAY_MS);
    return new UnexpectedAnswerError(httpStatus, 'no-error-body', shortMs);
  }
  return new ServiceError(
    plainCode(body.code, secret),
    httpStatus,
    plain(body.message, secret),
    retryAfterMs,
  );
}

/** A code of the contract decides what was charged: a secret that happens to be part of it changes nothing of it. */
function plainCode(code: string, secret: string): string {
  if ((ERROR_CODES as readonly string[]).includes(code)) return code;
  // A code goes into the log and the journal: what does not look like one could be anything.
  return CODE.test(code) && !code.includes(secret) ? code : 'unknown';
}

/** Masked before it is cut, and after what a plain line leaves out is gone: it may be what kept the secret apart. */
function plain(text: string, secret: string): string {
  const line = toPlainLine(text.replaceAll(secret, MASK), 4 * MAX_MESSAGE_LENGTH);
  return toPlainLine(line.replaceAll(secret, MASK), MAX_MESSAGE_LENGTH);
}

async function readText({ httpStatus, body }: HttpAnswer): Promise<string> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of body) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes > MAX_BYTES) throw new UnexpectedAnswerError(httpStatus, 'too-large');
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

/** @param secret is masked in all texts; one as short as the prefix alone could be a part of any id */
function parseJson(text: string, secret = ''): unknown {
  const mask = (_name: string, value: unknown) =>
    typeof value === 'string' ? value.replaceAll(secret, MASK) : value;
  try {
    return JSON.parse(text, secret.length > API_KEY_PREFIX.length ? mask : undefined) as unknown;
  } catch {
    return undefined;
  }
}

function kindOfText(text: string): 'empty' | 'html' | 'broken-json' {
  const start = text.trimStart();
  if (start === '') return 'empty';
  return start.startsWith('<') ? 'html' : 'broken-json';
}

/** A field that may be missing: null or of another type, it is undefined. */
const optionalField = <T>(schema: v.GenericSchema<T>) =>
  v.optional(v.fallback(v.optional(schema), undefined));
const requiredText = v.pipe(v.string(), v.nonEmpty());
const text = optionalField(v.string());
const number = optionalField(v.number());

const model: v.GenericSchema<unknown, Model> = v.pipe(
  v.looseObject({
    model_id: requiredText,
    name: optionalField(requiredText),
    provider: v.fallback(v.optional(v.string(), ''), ''),
    // The list is of those that are available (spec: "GET /api/v1/models"); of what is no boolean nobody knows.
    available: v.fallback(v.optional(v.boolean(), true), false),
    terms_url: text,
    use_policy_url: text,
  }),
  v.transform((read) => ({ ...read, name: read.name ?? read.model_id })),
);

const runCreation: v.GenericSchema<unknown, RunCreation> = v.looseObject({
  run_id: requiredText,
  status: text,
  price_cents: number,
  currency: text,
  balance_after_cents: number,
  plan_name: text,
});

const runSummary: v.GenericSchema<unknown, RunSummary> = v.looseObject({
  run_id: requiredText,
  status: v.string(),
  model_id: v.string(),
  created_at: text,
  // Missing means "not now": better than a run that is not shown.
  artifacts_available: v.fallback(v.optional(v.boolean(), false), false),
  artifacts_expires_at: text,
});

const runDetail: v.GenericSchema<unknown, RunDetail> = v.looseObject({
  run_id: requiredText,
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
  url: requiredText,
  expires_in: number,
  filename: text,
});

const balance: v.GenericSchema<unknown, Balance> = v.looseObject({
  balance_cents: v.number(),
  currency: v.string(),
});

const list = v.object({ data: v.array(v.unknown()) });
const envelope = v.object({ next_cursor: optionalField(requiredText), has_more: optionalField(v.boolean()) });
const errorBody = v.object({
  error: v.object({ code: requiredText, message: v.fallback(v.optional(v.string(), ''), '') }),
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
const readErrorBody: Reader<{ code: string; message: string }> = (json) => parse(errorBody, json)?.error;

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

/** Retry-After in milliseconds, a week at most, from seconds or an HTTP date; undefined when it is neither. */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return Math.min(MAX_RETRY_AFTER_MS, Number(text) * 1000);
  const dateMs = parseHttpDate(text);
  return dateMs === undefined ? undefined : Math.min(MAX_RETRY_AFTER_MS, Math.max(0, dateMs - nowMs));
}
