import type { ActiveDownload } from '../../core/downloads/types.ts';
import type { SubmissionState } from '../../core/submission/pendingSubmission.ts';

type State = SubmissionState | ActiveDownload['state'] | undefined;

/**
 * Decides what of the Runs view an event of an upload or a download draws anew: it comes with every chunk. Progress is left to
 * the clock: a row that is drawn anew between the press and the release of a button in it loses the click.
 */
export class ProgressPace {
  readonly #drawn = new Map<string, State>();

  /**
   * @param isThere false after the last event
   * @returns `list` where it comes or goes, `row` where only its row changes, undefined for nothing
   */
  next(id: string, state: State, isThere: boolean): 'list' | 'row' | undefined {
    const isNew = !this.#drawn.has(id);
    const before = this.#drawn.get(id);
    if (isThere) this.#drawn.set(id, state);
    else this.#drawn.delete(id);
    if (isNew || !isThere) return 'list';
    return isProgressing(state) && state === before ? undefined : 'row';
  }
}

/** Whether it says something else with each chunk. */
export function isProgressing(state: State): boolean {
  return state === 'uploading' || state === 'downloading';
}
