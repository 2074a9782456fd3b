import type { ErrorCode } from '../core/api/types.ts';

/** HTTP status of each code of the contract (spec: "Errors"). */
const STATUS: Readonly<Record<ErrorCode, number>> = {
  invalid_api_key: 401,
  insufficient_balance: 402,
  not_found: 404,
  idempotency_conflict: 409,
  validation_failed: 422,
  model_not_available: 422,
  consent_required: 422,
  rate_limited: 429,
};

/** A refusal: thrown anywhere below the server, answered as `{error: {code, message}}`. Its message holds no input. */
export class Refusal extends Error {
  readonly status: number;
  /** A code of the contract, or one of the sandbox's own where the contract has none. */
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** A refusal that the contract names; its HTTP status follows from the code. */
export function refuse(code: ErrorCode, message: string, headers?: Record<string, string>): Refusal {
  return new Refusal(STATUS[code], code, message, headers);
}

export function invalid(message: string): Refusal {
  return refuse('validation_failed', message);
}
