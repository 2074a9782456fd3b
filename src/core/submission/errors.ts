import { ExpectedError } from '../base/errors.ts';

const MESSAGES = {
  /** Whoever writes an intent has to own it. */
  'not-owner': 'the lease of the intent is not held',
  /** Other windows were creating intents for as long as this one waited. */
  'journal-busy': 'another process is creating an intent',
  /** It cannot be known whether an intent for the same bytes and model is open. */
  'journal-unreadable': 'an intent cannot be read',
  /** An intent for the same bytes and model is open, in a file that only a later version of the extension can read. */
  'later-version': 'an intent of a later version is for the same bytes and model',
  /** The account has another API key than the one it may have been charged with: it could be another account of the service. */
  'key-replaced': 'sent before with another API key; it is not sent again',
  /** Another window may have the intent now. */
  'lease-lost': 'another process may own this submission now',
  /** It is too late to send it again with its Idempotency-Key: the service may have forgotten it. */
  'window-closed': 'more than 23 hours have passed since the first attempt',
  /** How much time has passed since the first attempt is unknown: a clock was set, the machine slept, or the service gave none. */
  'clocks-disagree': 'the time since the first attempt is not certain',
  /** A run that could be the one is listed since the user asked to send it again. */
  candidates: 'a run that could be this one is listed now',
} as const;

/** Nothing was sent, and why. */
export class SubmissionError extends ExpectedError {
  readonly code: keyof typeof MESSAGES;
  /** The file that cannot be read. */
  readonly file?: string;

  constructor(code: SubmissionError['code'], { cause, file }: { cause?: unknown; file?: string } = {}) {
    super(MESSAGES[code], { cause });
    this.code = code;
    if (file !== undefined) this.file = file;
  }
}

/** The service asked, after an earlier attempt, to be left alone for some more time; nothing was sent. */
export class TooEarlyError extends ExpectedError {
  readonly code = 'too-early';
  readonly retryAfterMs: number;

  constructor(retryAfterMs: number) {
    super('the service asked to wait');
    this.retryAfterMs = retryAfterMs;
  }
}
