import type { VIEWS } from '../shared/ids.ts';
import { withViewProgress } from '../shared/progress.ts';
import type { Sessions } from '../../core/runs/sessions.ts';

/**
 * Reads runs, models and balance of the active account again, and details that could not be read.
 * @param viewId where it is asked for, and shows its progress
 * @throws ApiError, KeyMissingError
 */
export function refresh(sessions: Sessions, viewId: (typeof VIEWS)[keyof typeof VIEWS]) {
  return async (): Promise<void> => {
    const session = sessions.active;
    if (session === undefined) return;
    await withViewProgress(viewId, async () => {
      session.runs.retryDetails();
      const results = await Promise.allSettled([
        session.runs.refresh(),
        session.models.refresh(),
        session.balance.refresh(),
      ]);
      const failed = results.find((result) => result.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    });
  };
}
