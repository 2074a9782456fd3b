import { serviceNowMs, type Session } from '../../core/runs/session.ts';
import { canBeRefused, canDiscard, type PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import type { Services } from '../../services.ts';
import { COMMANDS } from '../shared/ids.ts';
import { inBackground } from '../shared/log.ts';
import { showBalance } from './balanceItem.ts';
import { updateWelcomeContext } from './welcomeContext.ts';

/** Signing in and out, switching accounts, API keys, and the balance in the status bar. */
export function activateAccounts(services: Services): void {
  const { accounts, apiKeys, createClient, disposables, downloads, journal, log, openJournal } = services;
  const { commands, readSubmissions, sandboxFault, sessions, submissions } = services;
  const readSpent = async (session: Session) => {
    const { spentLines } = await import('./spentLines.ts');
    await openJournal();
    const { account, balance, runs } = session;
    const receipts = await journal.receipts();
    return spentLines({
      account,
      receipts,
      runs,
      balance: balance.current,
      nowMs: serviceNowMs(session),
    });
  };
  const notify = ({ account }: Session, state: 'key-missing' | 'key-rejected') =>
    inBackground(
      log,
      import('./enterApiKey.ts').then((m) => m.notifyKeyNeeded(account, state)),
    );
  /** By account: the last state of its submission when its key was rejected, which the result may report. */
  const sending = new Map<string, PendingSubmission>();
  disposables.add(showBalance(sessions, accounts, readSpent, sandboxFault.get()));
  disposables.add(updateWelcomeContext(sessions, accounts));
  disposables.add(
    sessions.onDidChangeState(({ session, state }) => {
      if (state !== 'key-missing' && state !== 'key-rejected') return;
      const { id } = session.account;
      const sent = submissions.pending.find((one) => one.accountId === id && canBeRefused(one));
      if (state === 'key-rejected' && sent !== undefined) sending.set(id, sent);
      else notify(session, state);
    }),
  );
  disposables.add(
    submissions.onDidChange(({ id, accountId }) => {
      const last = sending.get(accountId);
      if (last?.id !== id) return;
      const now = submissions.pending.find((one) => one.id === id);
      if (now !== undefined && !canDiscard(now)) {
        sending.set(accountId, now);
        return;
      }
      sending.delete(accountId);
      const session = sessions.find(accountId);
      // The result reports the key if the submission was waiting and stays unsent, or was refused for that
      // key.
      const isReported =
        now?.submission.stage === 'draft'
          ? last.state === 'waiting'
          : now?.submission.end?.code === 'invalid_api_key';
      if (session?.state === 'key-rejected' && !isReported) notify(session, 'key-rejected');
    }),
  );
  const unfinishedOf = (accountId: string) => ({
    hasSubmissions: submissions.pending.some((one) => one.accountId === accountId),
    hasDownloads: downloads.active.some((download) => download.accountId === accountId),
  });
  commands.add('accounts', {
    [COMMANDS.signIn]: async () =>
      (await import('./signIn.ts')).signIn(accounts, apiKeys, createClient, readSubmissions),
    [COMMANDS.switchAccount]: async () => (await import('./switchAccount.ts')).switchAccount(accounts),
    [COMMANDS.replaceKey]: async (account) =>
      (await import('./enterApiKey.ts')).replaceKey(accounts, apiKeys, createClient, account),
  });
  commands.add('account', {
    [COMMANDS.signOut]: async () =>
      (await import('./signOut.ts')).signOut(accounts, apiKeys, unfinishedOf, (id) =>
        downloads.discardAll(id),
      ),
    [COMMANDS.refreshBalance]: async () => {
      await sessions.active?.balance.refresh();
    },
    [COMMANDS.openWebsite]: async () =>
      (await import('../shared/open.ts')).websiteLink(accounts.active)?.open(),
  });
}
