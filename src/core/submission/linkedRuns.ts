import type { RunCreation, RunDetail, RunSummary } from '../api/types.ts';
import type { Disposable } from '../base/disposable.ts';
import type { Session } from '../runs/session.ts';
import { isCharged, isOver, isRunOf, type Submission } from './submission.ts';
import type { Journal } from './journal.ts';
import { creationOf, ownerOf } from './ownRuns.ts';
import type { FoundRun } from './pendingSubmission.ts';
import { isFromThen, mayBeCopy } from './reconcilePolicy.ts';

/** Settles an open submission with its run. @returns undefined if that isn't possible now */
type Adopt = (session: Session, submission: Submission, runId: string) => Promise<RunCreation | undefined>;

/** Adds loaded runs to the submissions whose marker they have: charges that were found late, or twice. */
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
   * Settles open submissions that may have been charged, which saves a check. What was discarded or found not
   * charged is charged after all. What was charged has two runs then. Never rejects.
   * @returns what changed, which this window must report
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
      const owner = ownerOf(records, runs.label(row.run_id));
      try {
        if (owner?.accountId === account.id && !mayBeCopy(owner, row)) {
          const news = await this.#add(session, owner, row);
          found.push(...news);
          // Tried again at the next change. Not if it was found: a full disk must not make an endless loop.
          if (!isOver(owner) && news.length === 0) continue;
        }
      } catch {
        // Tried again when the runs change.
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

/** Reads the details, which have the price, only if they are not loaded yet. @throws ApiError, KeyMissingError */
export function detailOf(session: Session, runId: string): Promise<RunDetail> {
  const known = session.runs.detail(runId);
  return known === undefined ? session.call((client) => client.getRun(runId)) : Promise.resolve(known);
}
