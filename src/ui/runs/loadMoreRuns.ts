import { VIEWS } from '../shared/ids.ts';
import { withViewProgress } from '../shared/progress.ts';
import type { Sessions } from '../../core/runs/sessions.ts';

/** Reads the next older page of the active account's runs. @throws ApiError, KeyMissingError */
export function loadMoreRuns(sessions: Sessions) {
  return async (): Promise<void> => {
    const session = sessions.active;
    if (session !== undefined) await withViewProgress(VIEWS.runs, () => session.runs.loadMore());
  };
}
