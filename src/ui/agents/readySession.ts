import { onDisk } from '../../core/base/diskError.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Services } from '../../services.ts';
import { Refusal } from './answer.ts';

/**
 * Returns the session of the active account, which pays. Agents can't choose another account.
 * @throws Refusal, DiskError
 */
export async function readySession({ openJournal, sessions }: Services): Promise<Session> {
  const session = sessions.active;
  if (session === undefined)
    throw new Refusal(
      'No account is active. Ask the user to sign in or to use the sandbox; don’t ask for a key.',
    );
  if (session.isLocked)
    throw new Refusal(
      'The account’s API key is missing or rejected. Ask the user to enter it; don’t ask for it here.',
    );
  await onDisk(openJournal(), 'submissions');
  return session;
}
