import { isUnauthorized } from '../../core/api/errors.ts';
import { CancelledError } from '../../core/base/errors.ts';
import { confirmUntriedKey } from './accountDialogs.ts';
import type { CommandId } from '../shared/ids.ts';
import { withCancellableProgress } from '../shared/progress.ts';
import { accountWords, tellKeyRefused } from './messages.ts';

/**
 * Tries an API key: tells when the service refuses it, and where it could not be tried (offline, say), asks whether to store
 * it all the same.
 * @param readBalance asks the service with the key
 * @param again the command that asks for another key
 * @returns undefined where it is not to be stored
 * @throws CancelledError
 */
export async function tryKey(
  readBalance: (signal: AbortSignal) => Promise<unknown>,
  again: CommandId,
): Promise<'accepted' | 'untried' | undefined> {
  try {
    await withCancellableProgress(accountWords.tryingKey(), readBalance);
    return 'accepted';
  } catch (error) {
    if (error instanceof CancelledError) throw error;
    if (!isUnauthorized(error)) return (await confirmUntriedKey(error)) ? 'untried' : undefined;
    tellKeyRefused(error, again);
    return undefined;
  }
}
