import type { RunCreation } from '../api/types.ts';
import type { Clock } from '../base/clock.ts';
import { ExpectedError } from '../base/errors.ts';
import type { Finding } from './finding.ts';
import { mayBeCharged, type Intent, type Look } from './intent.ts';
import type { Journal } from './journal.ts';
import { doubtOf, nextLookAtMs, withLook } from './judge.ts';
import type { Lease } from '../storage/lease.ts';
import { creationOf, lookFor, type Sight } from './look.ts';
import type { Session } from '../runs/session.ts';

type Owned = { lease: Lease; intent: Intent };

/** After this long nothing new is expected by itself: the person looks when they want to. */
const BY_ITSELF_MS = 60 * 60_000;
const SOON_MS = 20_000;
const LATER_MS = 2 * 60_000;

/** A run that could be the one is listed since the person asked to send it again; nothing was sent. */
export class CandidatesError extends ExpectedError {
  readonly code = 'candidates';

  constructor() {
    super('a run that could be this one is listed now');
  }
}

/** Finds out what became of intents that may have been charged, and keeps what each look saw. */
export class Looks {
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #onFound: (session: Session, owned: Owned, run: RunCreation) => Promise<void>;
  /** The last look for each intent, also one that the service did not answer. */
  readonly #last = new Map<string, { atMs: number; isAnswered: boolean }>();

  /** @param onFound settles an intent whose run was found */
  constructor(
    journal: Journal,
    clock: Clock,
    onFound: (session: Session, owned: Owned, run: RunCreation) => Promise<void>,
  ) {
    this.#journal = journal;
    this.#clock = clock;
    this.#onFound = onFound;
  }

  /**
   * Looks once. The intent that comes back holds what was seen, durably.
   * @throws ApiError, CancelledError, KeyMissingError, and what writing throws
   */
  async look(
    session: Session,
    owned: Owned,
    signal?: AbortSignal,
  ): Promise<{ finding: Finding; intent: Intent }> {
    const { lease, intent } = owned;
    if (!mayBeCharged(intent)) return { finding: { verdict: 'not-charged' }, intent };
    const last = { atMs: this.#clock.nowMs(), isAnswered: false };
    this.#last.set(intent.id, last);
    const claimed = await this.#claimed(intent);
    const sight = await session.call((client) =>
      lookFor(client, intent, this.#clock, (runId) => claimed.has(runId), signal),
    );
    last.isAnswered = true;
    if (sight.match !== undefined) {
      const run = creationOf(sight.match);
      await this.#onFound(session, owned, run);
      return { finding: { verdict: 'charged', run }, intent };
    }
    const next = withLook(intent, lookOf(sight));
    await this.#journal.write(lease, next);
    return { finding: findingOf(next, sight), intent: next };
  }

  /** A run as far as its details tell what it cost; they are read where nobody has yet. @throws ApiError, KeyMissingError */
  async read(session: Session, runId: string): Promise<RunCreation> {
    return creationOf(session.runs.detail(runId) ?? (await session.call((client) => client.getRun(runId))));
  }

  /** Whether a look may say something new: at once after a start, soon while the service may be pricing, then less often. */
  isDue(id: string): boolean {
    const intent = this.#journal.intents.find((open) => open.id === id);
    if (intent === undefined) return false;
    const { localMs = 0 } = intent.attempts.at(-1)?.notBefore ?? {};
    if (localMs > this.#clock.nowMs()) return false;
    const last = this.#last.get(id);
    if (last === undefined) return true;
    const nowMs = this.#clock.nowMs();
    const sinceLookMs = nowMs - last.atMs;
    const againAtMs = doubtOf(intent) === 'too-early' ? nextLookAtMs(intent) : undefined;
    if (againAtMs !== undefined && nowMs >= againAtMs) return sinceLookMs >= SOON_MS;
    const sentAtMs = Math.max(
      0,
      ...intent.attempts.map(({ started, closed }) => (closed ?? started).localMs),
    );
    const sinceMs = nowMs - sentAtMs;
    // Where nothing was seen, whoever was away or offline for hours wants to know as soon as the service answers.
    if (sinceMs > BY_ITSELF_MS && last.isAnswered) return false;
    return sinceLookMs >= (sinceMs < LATER_MS ? SOON_MS : LATER_MS);
  }

  /** The runs of other intents of the service. */
  async #claimed({ id, origin }: Intent): Promise<ReadonlySet<string>> {
    const receipts = await this.#journal.receipts();
    return new Set(
      receipts.flatMap((receipt) =>
        receipt.id !== id && receipt.origin === origin && receipt.settled.kind === 'charged'
          ? [receipt.settled.run.run_id]
          : [],
      ),
    );
  }
}

function lookOf({ at, complete, candidates, balance, otherKey }: Sight): Look {
  return {
    at,
    complete,
    candidates: candidates.map(({ run_id }) => run_id),
    ...(balance !== undefined && { balance_cents: balance.balance_cents }),
    ...(otherKey && { otherKey: true as const }),
  };
}

function findingOf(intent: Intent, { at, candidates }: Sight): Finding {
  const doubt = doubtOf(intent);
  if (doubt === undefined) return { verdict: 'not-charged' };
  const againAtMs = doubt === 'too-early' ? nextLookAtMs(intent) : undefined;
  return {
    verdict: 'cannot-tell',
    doubt,
    candidates,
    atMs: at.localMs,
    ...(againAtMs !== undefined && { againAtMs }),
  };
}

/** Whether the last look found runs that the look before had not. */
export function hasNewCandidates(before: Intent, after: Intent): boolean {
  const known = before.lastLook?.candidates ?? [];
  return after.lastLook?.candidates.some((runId) => !known.includes(runId)) ?? false;
}
