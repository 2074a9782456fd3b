import * as vscode from 'vscode';
import { cacheFileOf } from '../../core/accounts/account.ts';
import { lazy } from '../../core/base/async.ts';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import type { Event } from '../../core/base/event.ts';
import type { RefreshOptions } from '../../core/runs/refresher.ts';
import type { Session } from '../../core/runs/session.ts';
import { followActive } from '../../core/runs/sessions.ts';
import { mayHaveBeenCharged } from '../../core/submission/pendingSubmission.ts';
import type { ChargedReceipt } from '../../core/submission/submission.ts';
import type { Services } from '../../services.ts';

/** The minimum time between polls that are caused by the window getting the focus. */
const FOCUS_PAUSE_MS = 10_000;

export interface ActiveRunsParts extends Pick<Services, 'log' | 'runsFolder' | 'sessions' | 'submissions'> {
  /** Returns the receipts of an account's charges. They have labels; the service's list of runs has none. */
  receiptsOf: (accountId: string) => Promise<readonly ChargedReceipt[]>;
}

/** The view whose rows show labels, which the list of runs doesn't have. */
interface RunsView {
  readonly isVisible: boolean;
  readonly onDidShow: Event<void>;
}

/** Keeps the runs, models and balance of the active account fresh, by free reads of the service and the shared file. Failures show as the session's state, with the reason in the log. */
export function keepActiveFresh(parts: ActiveRunsParts, view: RunsView): Disposable {
  const onError = (error: unknown) => parts.log.warn(String(error));
  return followActive(parts.sessions, (session) => {
    if (session === undefined) return [];
    showReceiptLabels(session, parts).catch(onError);
    const watching = new DisposableStore();
    const watched = lazy(() => watch(session, parts, view, watching, onError));
    // If the refresher cannot be loaded, the next event retries.
    const begin = () => void watched().catch(onError);
    begin();
    return [
      watching,
      view.onDidShow(begin),
      vscode.window.onDidChangeWindowState(begin),
      parts.submissions.onDidChange(begin),
    ];
  });
}

/** Keeps the account fresh. With the focus, reads what is old; then, and in view, reads what is missing. */
async function watch(
  session: Session,
  { receiptsOf, runsFolder, submissions }: ActiveRunsParts,
  view: RunsView,
  watching: DisposableStore,
  onError: RefreshOptions['onError'],
): Promise<void> {
  const { Refresher } = await import('../../core/runs/refresher.ts');
  if (watching.disposed) return;
  const { id } = session.account;
  const refresher = new Refresher({
    session,
    file: cacheFileOf(runsFolder, id),
    isFocused: () => vscode.window.state.focused,
    areRowsShown: () => view.isVisible,
    isAwaiting: () => submissions.hasUncertain(id),
    recallSubmitted: async () => recallSubmitted(session, await receiptsOf(id)),
    onError,
  });
  let readAtMs = performance.now();
  for (const one of [
    refresher,
    view.onDidShow(() => refresher.readMissing()),
    vscode.window.onDidChangeWindowState(({ focused }) => {
      if (!focused || performance.now() - readAtMs <= FOCUS_PAUSE_MS) return;
      readAtMs = performance.now();
      void refresher.poll();
      refresher.readMissing();
    }),
    submissions.onDidChange((submission) => {
      const { id: changed, accountId, state } = submission;
      const isEnded = !submissions.pending.some((pending) => pending.id === changed);
      // If another window settled it, the runs and the balance show the result.
      if (accountId === id && isEnded && (state === 'elsewhere' || mayHaveBeenCharged(submission)))
        void refresher.poll();
    }),
  ])
    watching.add(one);
}

async function showReceiptLabels({ account, runs }: Session, { receiptsOf }: ActiveRunsParts): Promise<void> {
  const receipts = await receiptsOf(account.id);
  runs.addLabels(
    receipts.flatMap(({ charge, label }) =>
      label === undefined ? [] : [[charge.run.run_id, label] as const],
    ),
  );
}

/** Adds runs that were submitted after the list was read: they must be watched and their end reported. */
function recallSubmitted({ runs }: Session, receipts: readonly ChargedReceipt[]): boolean {
  if (runs.rows === undefined) return false;
  const missed = receipts.filter(
    ({ charge }) => charge.at.localMs > runs.readAtMs && runs.get(charge.run.run_id) === undefined,
  );
  for (const { charge, model_id, label } of missed) runs.insertCreated(charge.run, model_id, label);
  return missed.length > 0;
}
