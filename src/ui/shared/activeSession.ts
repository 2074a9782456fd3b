import type { Disposable } from '../../core/base/disposable.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Sessions } from '../../core/runs/sessions.ts';

/**
 * Follows the active session: now, and whenever another one becomes active, or none.
 * @param follow returns what is disposed before the next one
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
