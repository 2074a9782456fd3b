import type { Sessions } from '../../core/runs/sessions.ts';

/** Reads the active account's balance again. @throws ApiError, KeyMissingError */
export function refreshBalance(sessions: Sessions) {
  return async (): Promise<void> => {
    await sessions.active?.balance.refresh();
  };
}
