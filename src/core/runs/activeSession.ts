import type { Disposable } from '../base/disposable.ts';
import type { Session } from './session.ts';
import type { Sessions } from './sessions.ts';

/**
 * Calls `follow` with the active session, now and whenever it changes; undefined without one.
 * @param follow returns what to dispose before the next call
 */
export function followActive(
  sessions: Sessions,
  follow: (session: Session | undefined) => readonly Disposable[] | undefined,
): Disposable {
  let followed: readonly Disposable[] | undefined;
  const leave = () => {
    for (const disposable of followed ?? []) disposable.dispose();
    followed = undefined;
  };
  const subscription = sessions.onDidChangeActive((session) => {
    leave();
    followed = follow(session);
  });
  followed = follow(sessions.active);
  return {
    dispose() {
      subscription.dispose();
      leave();
    },
  };
}
