import * as v from 'valibot';
import { parseHttpDate } from '../base/clock.ts';
import { CancelledError } from '../base/errors.ts';
import { toPlainLine } from '../base/plainText.ts';
import { MAX_RETRY_AFTER_MS } from '../base/retry.ts';
import { ApiError, ServiceError, UnexpectedResponseError } from './errors.ts';
import type { HttpResponse } from './exchange.ts';
import { API_KEY_PREFIX, ERROR_CODES } from './types.ts';

/** More JSON than any list or detail of the contract needs, and little enough to parse without a noticeable pause. */
const MAX_BYTES = 2 * 1024 * 1024;
/** The limit for the response to a submission, which may be long: it may have a problem for each row. */
export const MAX_CREATION_BYTES = 4 * 1024 * 1024;
const MAX_MESSAGE_LENGTH = 300;
/** The longest Retry-After accepted from a gateway, which may not speak for the service. */
const LONGEST_OF_GATEWAY_MS = 5 * 60_000;
const MASK = '***';
/** Validation stops at the first problem. */
const FIRST = { abortEarly: true } as const;
/** The form that a code outside the contract must have. */
const CODE = /^[\w.-]{1,64}$/;

/**
 * Reads a response to its end and parses it.
 * @param shape the schema of a successful response
 * @param secret removed from every text that is kept, in case the service echoes it
 * @throws ServiceError, UnexpectedResponseError, NetworkError, CancelledError
 */
export async function readResponse<T>(
  answer: HttpResponse,
  shape: v.GenericSchema<unknown, T>,
  secret: string,
  nowMs: number,
  maxBytes = MAX_BYTES,
): Promise<T> {
  const { httpStatus } = answer;
  if (httpStatus >= 400) throw await readError(answer, secret, nowMs, maxBytes);
  if (httpStatus >= 300) {
    answer.discard();
    throw new UnexpectedResponseError(httpStatus, 'redirect');
  }
  const text = await readText(answer, maxBytes);
  const json = parseJson(text);
  if (json === undefined) throw new UnexpectedResponseError(httpStatus, kindOfText(text));
  const value = v.safeParse(shape, json, FIRST);
  if (!value.success) throw new UnexpectedResponseError(httpStatus, 'wrong-shape');
  // A secret as short as the prefix could be part of any ID.
  return secret.length > API_KEY_PREFIX.length ? masked(value.output, secret) : value.output;
}

/** Reads an error response. @returns ServiceError, or UnexpectedResponseError without the contract’s body */
async function readError(
  answer: HttpResponse,
  secret: string,
  nowMs: number,
  maxBytes: number,
): Promise<ApiError> {
  const { httpStatus } = answer;
  // Use the sender's clock if there is one: the local one may differ a lot.
  const clockMs = parseHttpDate(answer.header('date')) ?? nowMs;
  const retryAfterMs = parseRetryAfter(answer.header('retry-after'), clockMs);
  let text = '';
  try {
    text = await readText(answer, maxBytes);
  } catch (error) {
    // The status is known even if the body was cut off.
    if (error instanceof CancelledError) throw error;
  }
  const body = v.safeParse(errorBody, parseJson(text), FIRST);
  if (!body.success) {
    const shortMs = retryAfterMs && Math.min(retryAfterMs, LONGEST_OF_GATEWAY_MS);
    return new UnexpectedResponseError(httpStatus, 'no-error-body', shortMs);
  }
  const { code, message } = body.output.error;
  return new ServiceError(plainCode(code, secret), httpStatus, plain(message, secret), retryAfterMs);
}

/** Codes of the contract are never masked, because they decide whether a charge is possible. */
function plainCode(code: string, secret: string): string {
  if ((ERROR_CODES as readonly string[]).includes(code)) return code;
  // A code is logged and stored in the journal, so text that doesn't look like one is replaced.
  return CODE.test(code) && !code.includes(secret) ? code : 'unknown';
}

/** Masks the secret, and again after hidden characters were removed: they may have split it. Then truncates. */
function plain(text: string, secret: string): string {
  const line = toPlainLine(text.replaceAll(secret, MASK), 4 * MAX_MESSAGE_LENGTH);
  return toPlainLine(line.replaceAll(secret, MASK), MAX_MESSAGE_LENGTH);
}

/**
 * Masks the secret in every text of a parsed response, also in capitals, as currencies are. Changes objects in
 * place.
 */
function masked<T>(value: T, secret: string): T {
  if (typeof value === 'string')
    return value.replaceAll(secret, MASK).replaceAll(secret.toUpperCase(), MASK) as T;
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Record<string, unknown>;
  for (const name of Object.keys(fields)) fields[name] = masked(fields[name], secret);
  return value;
}

async function readText({ httpStatus, body }: HttpResponse, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of body) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes > maxBytes) throw new UnexpectedResponseError(httpStatus, 'too-large');
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function kindOfText(text: string): 'empty' | 'html' | 'broken-json' {
  const start = text.trimStart();
  if (start === '') return 'empty';
  return start.startsWith('<') ? 'html' : 'broken-json';
}

const errorBody = v.object({
  error: v.object({
    code: v.pipe(v.string(), v.nonEmpty()),
    message: v.fallback(v.optional(v.string(), ''), ''),
  }),
});

/** Parses Retry-After (seconds or an HTTP date) into milliseconds, up to a week; undefined if invalid. */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d+$/.test(text)) return Math.min(MAX_RETRY_AFTER_MS, Number(text) * 1000);
  const dateMs = parseHttpDate(text);
  return dateMs === undefined ? undefined : Math.min(MAX_RETRY_AFTER_MS, Math.max(0, dateMs - nowMs));
}
