import type { Disposable } from '../../core/base/disposable.ts';
import type { Log } from '../shared/log.ts';
import type { Journal } from '../../core/submission/journal.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import { followActive } from '../shared/activeSession.ts';

/** Gives the active account's runs the labels of its receipts: the service's list of runs has none. */
export function showReceiptLabels(
  sessions: Sessions,
  openJournal: () => Promise<void>,
  journal: Pick<Journal, 'receipts'>,
  log: Pick<Log, 'warn'>,
): Disposable {
  const learn = async ({ account, runs }: Session) => {
    await openJournal();
    const receipts = (await journal.receipts()).filter(({ accountId }) => accountId === account.id);
    runs.knowLabels(
      receipts.flatMap(({ settled, label }) =>
        settled.kind === 'charged' && label !== undefined ? [[settled.run.run_id, label] as const] : [],
      ),
    );
  };
  return followActive(sessions, (session) => {
    if (session !== undefined) learn(session).catch((error: unknown) => log.warn(String(error)));
    return [];
  });
}
