import { ExpectedError } from '../base/errors.ts';
import { ERROR_CODES } from './types.ts';

/** The base of all errors of this module except CancelledError. Their messages contain no received text. */
export abstract class ApiError extends ExpectedError {}

/** A response that is not a success of the contract. */
export abstract class ResponseError extends ApiError {
  readonly httpStatus: number;
  /** How long the sender of the response asks to wait. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, httpStatus: number, retryAfterMs?: number) {
    super(message);
    this.httpStatus = httpStatus;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The service answered with the contract's error body (spec: "Errors"). */
export class ServiceError extends ResponseError {
  /** A code of the contract, another well-formed code, or `unknown`. */
  readonly code: string;
  /** Whether the contract lists the code. */
  readonly isKnown: boolean;
  /** The service's message as one line of plain text, at most 300 characters; may be empty. */
  readonly serviceMessage: string;

  constructor(code: string, httpStatus: number, serviceMessage = '', retryAfterMs?: number) {
    const known = (ERROR_CODES as readonly string[]).includes(code);
    const named = known ? code : '(a code outside the contract)';
    super(`the service answered ${httpStatus} ${named}`, httpStatus, retryAfterMs);
    this.code = code;
    this.isKnown = known;
    this.serviceMessage = serviceMessage;
  }
}

/**
 * Why there was no complete response. `connect-timeout`: no connection; `stalled`: no bytes moved;
 * `answer-timeout`: connected, but no complete response; `proxy`: rejected or unreachable before the service.
 */
export type NetworkErrorReason =
  | 'refused'
  | 'dns'
  | 'tls'
  | 'reset'
  | 'connect-timeout'
  | 'stalled'
  | 'answer-timeout'
  | 'proxy'
  | 'other';

/** There was no complete response. */
export class NetworkError extends ApiError {
  readonly code = 'network';
  readonly reason: NetworkErrorReason;
  /** The error code of Node or undici, for the log. */
  readonly causeCode: string | undefined;

  constructor(reason: NetworkErrorReason, causeCode?: string) {
    super(`no complete answer: ${reason}${causeCode === undefined ? '' : ` (${causeCode})`}`);
    this.reason = reason;
    this.causeCode = causeCode;
  }
}

/**
 * `unsafe-link`: a signed URL that must not be opened. `compressed`: although the request didn't accept it.
 * `no-error-body`: an HTTP error without the contract's body. The others are invalid successes.
 */
type UnexpectedResponseKind =
  | 'unsafe-link'
  | 'redirect'
  | 'compressed'
  | 'html'
  | 'empty'
  | 'broken-json'
  | 'wrong-shape'
  | 'no-error-body'
  | 'too-large';

/** A response that doesn't conform to the contract. */
export class UnexpectedResponseError extends ResponseError {
  readonly code = 'unexpected-response';
  readonly kind: UnexpectedResponseKind;

  constructor(httpStatus: number, kind: UnexpectedResponseKind, retryAfterMs?: number) {
    super(`unexpected answer ${httpStatus}: ${kind}`, httpStatus, retryAfterMs);
    this.kind = kind;
  }
}

type DatasetChange = 'grew' | 'shrank' | 'changed' | 'unreadable';

/** The dataset is not the expected file. The closing boundary was not sent, so nothing can be charged. */
export class DatasetChangedError extends ApiError {
  readonly code = 'dataset-changed';
  readonly change: DatasetChange;
  /** The file system's error code, if any; ENOENT if the file is gone. */
  readonly causeCode: string | undefined;

  constructor(change: DatasetChange, causeCode?: string) {
    super(
      `the dataset ${change === 'unreadable' ? 'could not be read' : change} (${causeCode ?? 'while it was sent'})`,
    );
    this.change = change;
    this.causeCode = causeCode;
  }
}

/** The storage rejected a signed URL, usually because it expired. */
export class SignedUrlRefusedError extends ResponseError {
  readonly code = 'signed-url-refused';

  constructor(httpStatus: number) {
    super(`the signed URL was refused with ${httpStatus}`, httpStatus);
  }
}

/** The storage behind a signed URL didn't deliver the file; the service is not involved. */
export class DownloadLinkError extends ApiError {
  readonly code = 'storage';
  readonly failure: NetworkError | UnexpectedResponseError;

  constructor(failure: NetworkError | UnexpectedResponseError) {
    super(`the storage did not give the file: ${failure.message}`);
    this.failure = failure;
  }
}

/** Whether the server at an https address doesn't speak TLS, so that its certificate isn't the problem. */
export function isWithoutTls({ reason, causeCode = '' }: NetworkError): boolean {
  return reason === 'tls' && (causeCode === 'EPROTO' || causeCode.startsWith('ERR_SSL_'));
}

/** Returns the HTTP status of a response that is not a success of the contract. */
export function statusOf(error: unknown): number | undefined {
  return error instanceof ResponseError ? error.httpStatus : undefined;
}

/** Returns how long a response asks to wait, in milliseconds; 0 if it doesn't. */
export function retryAfterOf(error: unknown): number {
  return error instanceof ResponseError ? (error.retryAfterMs ?? 0) : 0;
}

/** Whether the service rejected the API key, with or without an error body (spec: "Authentication"). */
export function isUnauthorized(error: unknown): boolean {
  if (error instanceof ServiceError) return error.httpStatus === 401 || error.code === 'invalid_api_key';
  return error instanceof UnexpectedResponseError && error.httpStatus === 401;
}

/**
 * Whether a retry may succeed later.
 * @param lasting network errors for which another attempt would fail the same way
 */
export function isTransient(error: unknown, lasting: readonly NetworkErrorReason[]): boolean {
  if (error instanceof NetworkError) return !lasting.includes(error.reason);
  const status = statusOf(error);
  return status !== undefined && isTransientStatus(status);
}

/** Whether a status means that a retry may succeed later. */
export function isTransientStatus(httpStatus: number): boolean {
  return httpStatus === 408 || httpStatus === 425 || httpStatus === 429 || httpStatus >= 500;
}

/** Whether an error is a response about the requested run, not about the rate of requests. */
export function isAboutRun(error: unknown): boolean {
  return error instanceof ResponseError && error.httpStatus !== 429;
}

/** Whether the service reports that the account has no such run (spec: "GET /api/v1/runs/{run_id}"). */
export function isNotFound(error: unknown): boolean {
  return error instanceof ServiceError && error.httpStatus === 404;
}
