import type { PendingSubmission } from '../runs/pendingSubmission.ts';

/** Progress is drawn at most this often. */
const PROGRESS_MS = 300;

/** Decides what of the Runs view an event of a submission draws anew: it comes with every chunk. */
export class UploadPace {
  readonly #drawn = new Map<string, { state: PendingSubmission['state']; atMs: number }>();

  /**
   * @param isPending false after the submission's last event
   * @returns `list` where a row comes or goes, `row` for that of the submission, undefined for nothing
   */
  next({ id, state }: PendingSubmission, isPending: boolean, nowMs: number): 'list' | 'row' | undefined {
    const drawn = this.#drawn.get(id);
    if (!isPending) {
      this.#drawn.delete(id);
      return 'list';
    }
    const isProgress = drawn?.state === state && state === 'uploading';
    if (isProgress && nowMs - drawn.atMs < PROGRESS_MS) return undefined;
    this.#drawn.set(id, { state, atMs: nowMs });
    return drawn === undefined ? 'list' : 'row';
  }
}
