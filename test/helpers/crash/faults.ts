/** How a request is answered. */
export type Reply =
  /** The service's own answer. */
  | { kind: 'answer' }
  | { kind: 'reset' }
  /** The service closes its side without an answer. */
  | { kind: 'half-close' }
  /** No answer until the client gives up, which takes `costMs` of simulated time. */
  | { kind: 'silence'; costMs: number }
  /** The service's answer, cut: a complete response with half the JSON, or a response that ends early. */
  | { kind: 'torn'; by: 'json' | 'length' }
  | { kind: 'page'; status: number }
  | { kind: 'redirect'; status: number }
  | {
      kind: 'error';
      status: number;
      code?: string;
      /** `date:n` is the HTTP date in n seconds. */ retryAfter?: string;
    }
  /** A success without a run ID. */
  | { kind: 'nameless'; status: number };

export interface Fault {
  /** The reason why the attempt never reaches the service. */
  connect?: 'refused' | 'dns' | 'tls';
  /** How much of the request is received before the reply. */
  at: 'head' | 'middle' | 'end';
  /** How the service handles a complete body; `lateMs`: it charges after this time, even if the connection is gone. */
  work: 'none' | 'charge' | { lateMs: number };
  reply: Reply;
  /** The machine sleeps before the last bytes are sent. */
  sleepFirst?: true;
  /** Before the reply: time passes, the machine sleeps, the wall clock is set. */
  passMs?: number;
  sleepMs?: number;
  setWallMs?: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Longest time the service may take to price after receiving the complete body. */
export const PRICING_MS = 15 * MINUTE_MS;
const STALL_MS = 2 * MINUTE_MS;

const RESET: Reply = { kind: 'reset' };
const ANSWER: Reply = { kind: 'answer' };
/** Slightly less than the limit, because `Date` has only full seconds. */
const LATE = { lateMs: PRICING_MS - 5_000 };
const SILENCE: Reply = { kind: 'silence', costMs: PRICING_MS };

const error = (status: number, code?: string, retryAfter?: string): Reply => ({
  kind: 'error',
  status,
  ...(code !== undefined && { code }),
  ...(retryAfter !== undefined && { retryAfter }),
});
const end = (work: Fault['work'], reply: Reply): Fault => ({ at: 'end', work, reply });
const refusal = (at: Fault['at'], status: number, code: string): Fault => ({
  at,
  work: 'none',
  reply: error(status, code),
});
const nowhere = (connect: Fault['connect'] & string): Fault => ({
  connect,
  at: 'head',
  work: 'none',
  reply: RESET,
});

/** Every fault of an attempt, by name; `ok` is none. */
export const FAULTS = {
  ok: end('charge', ANSWER),
  refused: nowhere('refused'),
  dns: nowhere('dns'),
  tls: nowhere('tls'),
  'reset at head': { at: 'head', work: 'none', reply: RESET },
  'reset mid-body': { at: 'middle', work: 'none', reply: RESET },
  stall: { at: 'middle', work: 'none', reply: { kind: 'silence', costMs: STALL_MS } },
  'half-close mid-body': { at: 'middle', work: 'none', reply: { kind: 'half-close' } },
  'half-close after body, processed': end('charge', { kind: 'half-close' }),
  'half-close after body, not processed': end('none', { kind: 'half-close' }),
  'reset after body, processed': end('charge', RESET),
  'reset after body, not processed': end('none', RESET),
  'reset after body, processed late': end(LATE, RESET),
  'header timeout, processed': end('charge', SILENCE),
  'header timeout, not processed': end('none', SILENCE),
  'header timeout, processed late': end(LATE, SILENCE),
  'truncated JSON': end('charge', { kind: 'torn', by: 'json' }),
  'truncated answer': end('charge', { kind: 'torn', by: 'length' }),
  'truncated answer, not processed': end('none', { kind: 'torn', by: 'length' }),
  'portal page 200': end('none', { kind: 'page', status: 200 }),
  'portal page 200, processed': end('charge', { kind: 'page', status: 200 }),
  'portal page 402': end('none', { kind: 'page', status: 402 }),
  'redirect 307': end('none', { kind: 'redirect', status: 307 }),
  'redirect 302, processed': end('charge', { kind: 'redirect', status: 302 }),
  'redirect 308, early': { at: 'head', work: 'none', reply: { kind: 'redirect', status: 308 } },
  '429 seconds': end('none', error(429, 'rate_limited', '30')),
  '429 date': end('none', error(429, 'rate_limited', 'date:90')),
  '429 nonsense': end('none', error(429, 'rate_limited', 'soon')),
  '429 huge': end('none', error(429, 'rate_limited', '86400')),
  '429 of an hour, early': { at: 'head', work: 'none', reply: error(429, 'rate_limited', '3600') },
  '429, early': { at: 'head', work: 'none', reply: error(429, 'rate_limited', '20') },
  '408': end('none', error(408)),
  '408, processed': end('charge', error(408)),
  '500': end('none', error(500, 'internal')),
  '500, processed': end('charge', error(500, 'internal')),
  '500, processed late': end(LATE, error(500, 'internal')),
  '504': end('none', error(504, 'timeout')),
  '504, processed soon': end({ lateMs: 40_000 }, error(504, 'timeout')),
  '504, processed late': end(LATE, error(504, 'timeout')),
  /** An echoed secret in place of the error code must not be used where codes are. */
  '500, telling code': end('none', { kind: 'error', status: 500, code: 'echo' }),
  '503': end('none', error(503, 'unavailable', '15')),
  '503, early': { at: 'head', work: 'none', reply: error(503, 'unavailable') },
  '401': refusal('end', 401, 'invalid_api_key'),
  '402': refusal('end', 402, 'insufficient_balance'),
  '402, early': refusal('head', 402, 'insufficient_balance'),
  '422': refusal('end', 422, 'validation_failed'),
  '404': end('none', error(404, 'not_found')),
  '404, processed': end('charge', error(404, 'not_found')),
  '413': end('none', error(413)),
  '413, early': { at: 'head', work: 'none', reply: error(413) },
  '409': end('none', error(409, 'idempotency_conflict')),
  '409, processed': end('charge', error(409, 'idempotency_conflict')),
  '201 without run_id': end('charge', { kind: 'nameless', status: 201 }),
  '200 without run_id': end('none', { kind: 'nameless', status: 200 }),
  '201, early': { at: 'head', work: 'charge', reply: ANSWER },
  'slow answer': { at: 'end', work: 'charge', reply: ANSWER, passMs: PRICING_MS - MINUTE_MS },
  'sleep 25 h mid-body': { at: 'middle', work: 'charge', reply: ANSWER, sleepMs: 25 * HOUR_MS },
  'sleep 25 h mid-body, reset': { at: 'middle', work: 'none', reply: RESET, sleepMs: 25 * HOUR_MS },
  'sleep 25 h after body, processed': { at: 'end', work: 'charge', reply: RESET, sleepMs: 25 * HOUR_MS },
  'sleep 2 h after body, processed': { at: 'end', work: 'charge', reply: RESET, sleepMs: 2 * HOUR_MS },
  'sleep 10 min before the last bytes, processed late': {
    at: 'end',
    work: LATE,
    reply: RESET,
    sleepMs: 10 * MINUTE_MS,
    sleepFirst: true,
  },
  'sleep 2 h before the last bytes, processed late': {
    at: 'end',
    work: LATE,
    reply: RESET,
    sleepMs: 2 * HOUR_MS,
    sleepFirst: true,
  },
  'clock set back mid-body': { at: 'middle', work: 'charge', reply: ANSWER, setWallMs: -26 * HOUR_MS },
  'clock set forward after body': { at: 'end', work: 'charge', reply: RESET, setWallMs: 400 * 24 * HOUR_MS },
} as const satisfies Record<string, Fault>;

export type FaultName = keyof typeof FAULTS;

/** Whether the client must run into a timeout; its timeouts are then short. */
export function isSilent({ reply }: Fault): boolean {
  return reply.kind === 'silence';
}

export const READ_FAULTS: readonly Reply[] = [
  { kind: 'reset' },
  { kind: 'error', status: 500, code: 'internal' },
  { kind: 'error', status: 404, code: 'not_found' },
  { kind: 'page', status: 200 },
  { kind: 'torn', by: 'json' },
  { kind: 'half-close' },
];
