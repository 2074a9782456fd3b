import { isUnauthorized } from '../api/errors.ts';
import { CancelledError } from '../base/errors.ts';
import { confirmUntriedKey } from './dialogs/accountDialogs.ts';
import { withCancellableProgress } from './progress.ts';
import { accountWords } from './wording/accounts.ts';

/**
 * Tries an API key; where that could not be done (offline, say), asks whether to store it all the same.
 * @param readBalance asks the service with the key
 * @throws ApiError when the service rejects the key, CancelledError
 */
export async function isKeyWorthStoring(
  readBalance: (signal: AbortSignal) => Promise<unknown>,
): Promise<boolean> {
  try {
    await withCancellableProgress(accountWords.tryingKey(), readBalance);
    return true;
  } catch (error) {
    if (isUnauthorized(error) || error instanceof CancelledError) throw error;
    return confirmUntriedKey(error);
  }
}
