import type { Disposable } from '../../core/base/disposable.ts';
import type { Event } from '../../core/base/event.ts';
import type { Log } from '../shared/log.ts';
import { DetailReader } from '../../core/runs/detailReader.ts';
import { StoredDetails } from '../../core/runs/storedDetails.ts';
import type { StateStore } from '../../core/storage/state.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import { followActive } from '../shared/activeSession.ts';

/** The view whose rows show what the details tell. */
interface RunsView {
  readonly isVisible: boolean;
  readonly onDidShow: Event<void>;
}

/**
 * Stores the details of the active account's runs and, while the Runs view is open, reads those that its rows need.
 */
export function keepActiveDetails(
  sessions: Sessions,
  state: StateStore,
  view: RunsView,
  log: Pick<Log, 'warn'>,
): Disposable {
  const follow = (session: Session): Disposable[] => {
    const stored = new StoredDetails(session.runs, state, session.account.id, (error) =>
      log.warn(String(error)),
    );
    let isOpen = false;
    const isWanted = () => isOpen && view.isVisible && session.state === 'ready';
    const reader = new DetailReader(session.runs, isWanted, session.budget);
    // What the disk knows is not asked for.
    void stored.open().then(() => {
      isOpen = true;
      reader.wake();
    });
    return [
      stored,
      reader,
      view.onDidShow(() => reader.wake()),
      session.onDidChangeState(() => reader.wake()),
    ];
  };
  return followActive(sessions, (session) => (session === undefined ? [] : follow(session)));
}
