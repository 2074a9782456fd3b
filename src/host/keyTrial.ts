import { isUnauthorized } from '../api/errors.ts';
import { CancelledError } from '../base/errors.ts';
import { confirmUntriedKey } from './dialogs/accountDialogs.ts';
import type { CommandId } from './ids.ts';
import { withCancellableProgress } from './progress.ts';
import { accountWords, tellKeyRefused } from './wording/accounts.ts';

/**
 * Tries an API key: tells when the service refuses it, and where it could not be tried (offline, say), asks whether to store
 * it all the same.
 * @param readBalance asks the service with the key
 * @param again the command that asks for another key
 * @throws CancelledError
 */
export async function isKeyWorthStoring(
  readBalance: (signal: AbortSignal) => Promise<unknown>,
  again: CommandId,
): Promise<boolean> {
  try {
    await withCancellableProgress(accountWords.tryingKey(), readBalance);
    return true;
  } catch (error) {
    if (error instanceof CancelledError) throw error;
    if (!isUnauthorized(error)) return confirmUntriedKey(error);
    tellKeyRefused(error, again);
    return false;
  }
}
