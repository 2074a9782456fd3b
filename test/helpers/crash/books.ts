import { randomUUID } from 'node:crypto';
import type { Charge, Ledger, Post } from './ledger.ts';
import type { VirtualClock } from './time.ts';

/** What a service makes of an Idempotency-Key that it has seen: the contract does not say. */
export type Mode =
  | 'replays 2xx'
  /** Also refusals and failures, for ever. */
  | 'replays all'
  /** 409 while the first request is being priced. */
  | '409 in flight'
  /** After 24 hours the Idempotency-Key is as good as new. */
  | 'forgets'
  /** 409 for another raw body. */
  | 'fingerprints';

export const MODES: readonly Mode[] = [
  'replays 2xx',
  'replays all',
  '409 in flight',
  'forgets',
  'fingerprints',
];

export interface Run {
  runId: string;
  modelId: string;
  label: string | undefined;
  createdMs: number;
  priceCents: number;
  balanceAfterCents: number;
}

export interface Verdict {
  status: number;
  body: unknown;
}

interface Memory {
  digest: string;
  firstMs: number;
  dueMs: number | undefined;
  verdict?: Verdict;
}

const FORGET_MS = 24 * 3_600_000;
const PRICE_CENTS = 740;

/** The service's truth: balance, runs, and what it knows of Idempotency-Keys. Every charge is written into the ledger. */
export class Books {
  balanceCents = 100_000;
  readonly currency = 'EUR';
  /** Oldest first. */
  readonly runs: Run[] = [];
  readonly #mode: Mode;
  readonly #clock: VirtualClock;
  readonly #ledger: Ledger;
  readonly #memory = new Map<string, Memory>();

  constructor(mode: Mode, clock: VirtualClock, ledger: Ledger) {
    this.#mode = mode;
    this.#clock = clock;
    this.#ledger = ledger;
  }

  /** What the service does with a whole request. @param lateMs it takes so long, and whoever waits may be gone by then */
  take(post: Post, lateMs: number): Verdict {
    const { idempotencyKey: key, digest } = post;
    const known = this.#known(key);
    if (known !== undefined) return this.#again(post, known, lateMs);
    const memory: Memory = { digest, firstMs: this.#clock.nowMs, dueMs: undefined };
    this.#memory.set(key, memory);
    return this.#price(post, memory, lateMs);
  }

  /** A failure that was not the request's: some services keep it as the answer. */
  keep(post: Post, verdict: Verdict): Verdict {
    if (this.#mode !== 'replays all' || ![402, 422, 500].includes(verdict.status)) return verdict;
    const known = this.#known(post.idempotencyKey);
    if (known?.verdict !== undefined) return known.verdict;
    const memory = known ?? { digest: post.digest, firstMs: this.#clock.nowMs, dueMs: undefined };
    memory.verdict = verdict;
    this.#memory.set(post.idempotencyKey, memory);
    return verdict;
  }

  /** Somebody else spends, by other means. */
  addOther(
    modelId: string,
    label: string | undefined,
    priceCents = PRICE_CENTS,
    createdMs = this.#clock.nowMs,
  ): Run {
    this.balanceCents -= priceCents;
    const run = {
      runId: randomUUID(),
      modelId,
      label,
      createdMs,
      priceCents,
      balanceAfterCents: this.balanceCents,
    };
    this.runs.push(run);
    this.runs.sort((one, other) => one.createdMs - other.createdMs);
    return run;
  }

  #known(key: string): Memory | undefined {
    const known = this.#memory.get(key);
    if (known === undefined || this.#mode !== 'forgets' || this.#clock.nowMs - known.firstMs < FORGET_MS)
      return known;
    this.#memory.delete(key);
    return undefined;
  }

  #again(post: Post, known: Memory, lateMs: number): Verdict {
    if (this.#mode === 'fingerprints' && known.digest !== post.digest) return conflict();
    if (known.verdict === undefined && known.dueMs !== undefined) {
      if (this.#mode === '409 in flight') return conflict();
      // Whoever asks again waits for the first.
      this.#clock.pass(known.dueMs - this.#clock.nowMs);
    }
    const { verdict } = known;
    if (verdict === undefined) return this.#price(post, known, lateMs);
    return verdict.status === 201 ? { ...verdict, status: 200 } : verdict;
  }

  #price(post: Post, memory: Memory, lateMs: number): Verdict {
    const decide = () => (memory.verdict ??= this.#charge(post));
    if (lateMs === 0) return decide();
    memory.dueMs = this.#clock.nowMs + lateMs;
    this.#clock.at(memory.dueMs, decide);
    return { status: 500, body: undefined };
  }

  #charge(post: Post): Verdict {
    if (this.balanceCents < PRICE_CENTS)
      return { status: 402, body: { error: { code: 'insufficient_balance', message: 'too low' } } };
    const { seq, idempotencyKey, digest, modelId = '', label } = post;
    const run = this.addOther(modelId, label);
    const charge: Charge = {
      seq,
      idempotencyKey,
      digest,
      runId: run.runId,
      priceCents: run.priceCents,
      atMs: this.#clock.nowMs,
    };
    this.#ledger.charges.push(charge);
    return {
      status: 201,
      body: {
        run_id: run.runId,
        status: 'queued',
        price_cents: run.priceCents,
        currency: this.currency,
        balance_after_cents: run.balanceAfterCents,
        plan_name: 'standard',
      },
    };
  }
}

function conflict(): Verdict {
  return { status: 409, body: { error: { code: 'idempotency_conflict', message: 'already used' } } };
}
