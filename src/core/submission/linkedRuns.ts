import type { RunCreation, RunDetail, RunSummary } from '../api/types.ts';
import type { Disposable } from '../base/disposable.ts';
import type { Session } from '../runs/session.ts';
import type { Journal } from './journal.ts';
import { creationOf, submissionOfLabel } from './ownRuns.ts';
import type { FoundRun } from './pendingSubmission.ts';
import { isFromThen, mayBeCopy } from './reconcilePolicy.ts';
import { isCharged, isOver, isRunOf, type Submission } from './submission.ts';

/** Settles an open submission with its run, and returns the charge. Undefined if that isn't possible now. */
type Adopt = (session: Session, submission: Submission, runId: string) => Promise<RunCreation | undefined>;

/** Adds loaded runs to the submissions whose marker they have: late or repeated charges. */
export class LinkedRuns implements Disposable {
  readonly #journal: Journal;
  readonly #nowMs: () => number;
  readonly #adopt: Adopt;
  readonly #subscription: Disposable;
  /** Accounts and IDs of runs that need not be added to a submission. Emptied when the journal changes. */
  readonly #known = new Set<string>();

  constructor(journal: Journal, nowMs: () => number, adopt: Adopt) {
    this.#journal = journal;
    this.#nowMs = nowMs;
    this.#adopt = adopt;
    this.#subscription = journal.onDidChange(() => this.#known.clear());
  }

  /**
   * Settles open submissions with their runs, which saves a check. An ended submission becomes charged; a charged one
   * gets a further run. Never rejects.
   * @returns the charges that were found, which this window must report
   */
  async link(session: Session): Promise<readonly FoundRun[]> {
    const { account, runs } = session;
    const found: FoundRun[] = [];
    const keyOf = ({ run_id }: RunSummary) => `${account.id} ${run_id}`;
    const isNew = (row: RunSummary) => !this.#known.has(keyOf(row)) && runs.label(row.run_id);
    const rows = runs.rows?.filter(isNew) ?? [];
    if (rows.length === 0) return found;
    const records = await this.#journal.records().catch(() => undefined);
    if (records === undefined) return found;
    for (const row of rows) {
      const owner = submissionOfLabel(records, runs.label(row.run_id));
      try {
        if (owner?.accountId === account.id && !mayBeCopy(owner, row)) {
          const news = await this.#add(session, owner, row);
          found.push(...news);
          // Try again at the next change. Not after a charge was found: on a full disk, that would never end.
          if (!isOver(owner) && news.length === 0) continue;
        }
      } catch {
        // Try again when the runs change.
        continue;
      }
      this.#known.add(keyOf(row));
    }
    if (found.length > 0) session.readAgain();
    return found;
  }

  dispose(): void {
    this.#subscription.dispose();
  }

  /** @throws ApiError, write errors */
  async #add(session: Session, owner: Submission, row: RunSummary): Promise<FoundRun[]> {
    const { run_id } = row;
    if (!isOver(owner)) {
      const run = await this.#adopt(session, owner, run_id);
      return run === undefined ? [] : [{ submission: owner, run }];
    }
    if (isRunOf(owner, run_id) || !isFromThen(owner, row, isCharged(owner))) return [];
    const run = creationOf(await detailOf(session, run_id));
    const at = { localMs: this.#nowMs() };
    const submission = await this.#journal.addCharge(owner.id, { at, run, foundBy: 'found' });
    return submission === undefined ? [] : [{ submission, run: submission.charge.run }];
  }
}

/**
 * Returns a run's details, which have the price; reads them unless they are loaded.
 * @throws ApiError, KeyMissingError
 */
export function detailOf(session: Session, runId: string): Promise<RunDetail> {
  const known = session.runs.detail(runId);
  return known === undefined ? session.call((client) => client.getRun(runId)) : Promise.resolve(known);
}
