import type { Disposable } from '../base/disposable.ts';
import type { Session } from '../runs/session.ts';
import { isCharged, isOver, isRunOf, type ChargedReceipt } from './submission.ts';
import type { Journal } from './journal.ts';
import { creationOf, ownerOf } from './ownRuns.ts';
import { isFromThen, mayBeCopy } from './reconcilePolicy.ts';

/** Adds runs to the receipts whose marker they have: charges that were found late, or twice. */
export class LinkedRuns implements Disposable {
  readonly #journal: Journal;
  readonly #nowMs: () => number;
  readonly #subscription: Disposable;
  /** IDs of runs that need not be added to a receipt. Emptied when the journal changes. */
  readonly #known = new Set<string>();

  constructor(journal: Journal, nowMs: () => number) {
    this.#journal = journal;
    this.#nowMs = nowMs;
    this.#subscription = journal.onDidChange(() => this.#known.clear());
  }

  /**
   * Adds loaded runs to the receipts whose markers they have. What was discarded or found not
   * charged is charged after all. What was charged has two runs then. Never rejects.
   * @returns the receipts that changed; `Journal.unreported` has their charges now
   */
  async link(session: Session): Promise<readonly ChargedReceipt[]> {
    const { account, runs } = session;
    const changed: ChargedReceipt[] = [];
    const rows = runs.rows?.filter(({ run_id }) => !this.#known.has(run_id) && runs.label(run_id)) ?? [];
    if (rows.length === 0) return changed;
    const records = await this.#journal.records().catch(() => undefined);
    if (records === undefined) return changed;
    for (const row of rows) {
      const receipt = ownerOf(records, runs.label(row.run_id));
      if (
        receipt?.accountId === account.id &&
        isOver(receipt) &&
        !isRunOf(receipt, row.run_id) &&
        isFromThen(receipt, row, isCharged(receipt)) &&
        !mayBeCopy(receipt, row)
      )
        try {
          const linked = await this.#add(session, receipt.id, row.run_id);
          if (linked !== undefined) changed.push(linked);
        } catch {
          // Tried again when the runs change.
          continue;
        }
      this.#known.add(row.run_id);
    }
    if (changed.length > 0) session.readAgain();
    return changed;
  }

  dispose(): void {
    this.#subscription.dispose();
  }

  /** @throws ApiError, write errors */
  async #add(session: Session, id: string, runId: string): Promise<ChargedReceipt | undefined> {
    const detail = session.runs.detail(runId) ?? (await session.call((client) => client.getRun(runId)));
    const at = { localMs: this.#nowMs() };
    return this.#journal.addCharge(id, { at, run: creationOf(detail), foundBy: 'found' });
  }
}
