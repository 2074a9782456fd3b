import type { Disposable } from '../../core/base/disposable.ts';
import type { Event } from '../../core/base/event.ts';
import type { Log } from '../shared/log.ts';
import { DetailFile } from '../../core/runs/detailFile.ts';
import { DetailReader } from '../../core/runs/detailReader.ts';
import { KeptDetails } from '../../core/runs/keptDetails.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import { followActive } from '../shared/activeSession.ts';

/** The view whose rows show what the details tell. */
interface RunsView {
  readonly isVisible: boolean;
  readonly onDidShow: Event<void>;
}

/**
 * Has the details of the active account's runs kept on the disk and, while the Runs view is open, those read that the rows
 * want.
 * @param folderOf where an account's details are kept
 */
export function keepActiveDetails(
  sessions: Sessions,
  folderOf: (accountId: string) => string,
  view: RunsView,
  log: Pick<Log, 'warn'>,
): Disposable {
  const follow = (session: Session): Disposable[] => {
    const kept = new KeptDetails(session.runs, new DetailFile(folderOf(session.account.id)), (error) =>
      log.warn(String(error)),
    );
    let isOpen = false;
    const isWanted = () => isOpen && view.isVisible && session.state === 'ready';
    const reader = new DetailReader(session.runs, isWanted, session.budget);
    // What the disk knows is not asked for.
    void kept.open().then(() => {
      isOpen = true;
      reader.wake();
    });
    return [kept, reader, view.onDidShow(() => reader.wake()), session.onDidChangeState(() => reader.wake())];
  };
  return followActive(sessions, (session) => (session === undefined ? [] : follow(session)));
}
