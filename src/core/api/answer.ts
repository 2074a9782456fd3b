import { CancelledError } from '../base/errors.ts';
import { ApiError, ServiceError, UnexpectedAnswerError } from './errors.ts';
import type { HttpAnswer } from './exchange.ts';
import { toPlainLine } from './plainText.ts';
import { parseHttpDate, parseRetryAfter } from './retry.ts';
import { readErrorBody, type Reader } from './schemas.ts';
import { API_KEY_PREFIX, ERROR_CODES } from './types.ts';

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
  // Against the sender's own clock, where it tells it: the two may be far apart.
  const clockMs = parseHttpDate(answer.header('date')) ?? nowMs;
  const retryAfterMs = parseRetryAfter(answer.header('retry-after'), clockMs);
  let text = '';
  try {
    text = await readText(answer);
  } catch (error) {
    // The status has been told; that its body was cut does not take it back.
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
