import { ServiceError } from '../api/errors.ts';
import type { RunCreation } from '../api/types.ts';
import type { Clock } from '../base/clock.ts';
import type { Intent, Settlement } from './intent.ts';
import { NotOwnerError, type Journal } from './journal.ts';
import { doubtOf } from './judge.ts';
import type { Lease } from '../storage/lease.ts';
import type { SubmissionResult } from './pendingSubmission.ts';
import { LeaseLostError, refusalOf, type SeriesEnd } from './series.ts';
import type { Session } from '../runs/session.ts';

type Owned = { lease: Lease; intent: Intent };

/** Writes down how intents end, and lets runs and balance know. */
export class Ends {
  readonly #journal: Journal;
  readonly #clock: Clock;
  readonly #hide: (id: string) => void;

  /** @param hide takes an intent away that is settled though the disk would not take it */
  constructor(journal: Journal, clock: Clock, hide: (id: string) => void) {
    this.#journal = journal;
    this.#clock = clock;
    this.#hide = hide;
  }

  /**
   * Settles what is certain after the last attempt, and says what is true.
   * @param stopping aborted when the extension ends: then nothing is settled that a person did not decide
   */
  async conclude(
    session: Session,
    { lease }: Owned,
    end: SeriesEnd,
    stopping: AbortSignal,
  ): Promise<SubmissionResult> {
    const { intent } = end;
    if (end.kind === 'charged') {
      await this.charged(session, { lease, intent }, end.run, 'answered');
      const onTold = () => void this.#journal.claimNotice(end.run.run_id);
      return { kind: 'charged', run: end.run, onTold };
    }
    const { error, kind } = end;
    if (kind === 'refused')
      return { kind: 'not-charged', error, kept: await this.#keepRefused(session, { lease, intent }, error) };
    // Two looks have said so, and nothing was sent since.
    if (kind === 'reconcile' && doubtOf(intent) === undefined)
      return { kind: 'not-charged', error, kept: true };
    if (kind === 'reconcile') {
      void Promise.allSettled([session.runs.refresh(), session.balance.refresh()]);
      return { kind: 'unknown', error };
    }
    // Not by us; but who owns it now may be sending it.
    if (error instanceof LeaseLostError || error instanceof NotOwnerError) return { kind: 'elsewhere' };
    if (kind === 'unsent' || stopping.aborted) return { kind: 'not-charged', error, kept: true };
    const kept = await this.settle({ lease, intent }, { kind: 'not-charged', at: this.#now() }).then(
      () => false,
      () => true,
    );
    return { kind: 'not-charged', error, kept };
  }

  /** Settles an intent with its run. */
  async charged(
    session: Session,
    owned: Owned,
    run: RunCreation,
    how: 'answered' | 'found' | 'recognised',
  ): Promise<void> {
    const { model_id, label } = owned.intent;
    await this.settle(owned, { kind: 'charged', at: this.#now(), run, how });
    session.runs.insertCreated(run, model_id, label);
    if (run.balance_after_cents !== undefined && run.currency !== undefined)
      session.balance.set({ balance_cents: run.balance_after_cents, currency: run.currency });
    // Not awaited, and never an error: the outcome is told at once, and what is read later shows when it comes.
    void Promise.allSettled([session.runs.refresh(), session.balance.refresh()]);
  }

  /**
   * Where it cannot be written the file stays open, which asks for a look and never for money. A charge is told all the same.
   * @throws what writing anything else throws
   */
  async settle({ lease, intent }: Owned, settled: Settlement): Promise<void> {
    try {
      await this.#journal.settle(lease, { ...intent, settled });
    } catch (error) {
      lease.release();
      if (settled.kind !== 'charged') throw error;
      this.#hide(intent.id);
    }
  }

  async #keepRefused(session: Session, { lease, intent }: Owned, error: unknown): Promise<boolean> {
    if (isTooPoor(error)) void Promise.allSettled([session.balance.refresh()]);
    try {
      await this.#journal.write(lease, { ...intent, refused: refusalOf(error, this.#now()) });
      return true;
    } catch {
      return false;
    }
  }

  #now(): Intent['created'] {
    return { localMs: this.#clock.nowMs() };
  }
}

function isTooPoor(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'insufficient_balance';
}
