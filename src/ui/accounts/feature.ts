import type { Services } from '../../services.ts';
import { canBeRefused, pendingWorkOf } from '../../core/submission/pendingSubmission.ts';
import { serviceNowMs, type Session } from '../../core/runs/session.ts';
import { COMMANDS } from '../shared/ids.ts';
import { inBackground } from '../shared/log.ts';
import { BalanceStatus } from './balanceStatus.ts';
import { keepWelcomeState } from './welcomeState.ts';

/** Accounts and their API keys: signing in and out, switching, the balance in the status bar. */
export function activateAccounts(services: Services): void {
  const { accounts, apiKeys, createClient, disposables, downloads, journal, log, openJournal } = services;
  const { registerCommands, sessions, submitter } = services;
  const readSpent = async (session: Session) => {
    const { spentLines } = await import('./spentMessages.ts');
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
  /** Whether the service refuses a submission just now: then that says so. */
  const isRefusedWith = (accountId: string) =>
    submitter.pending.some((one) => one.accountId === accountId && canBeRefused(one));
  disposables.add(new BalanceStatus(sessions, accounts, readSpent));
  disposables.add(keepWelcomeState(sessions, accounts));
  disposables.add(
    sessions.onDidChangeState(({ session, state }) => {
      if (state === 'key-missing' || (state === 'key-rejected' && !isRefusedWith(session.account.id)))
        inBackground(
          log,
          import('./messages.ts').then((m) => m.notifyKeyNeeded(session.account, state)),
        );
    }),
  );
  const submissions = async () => {
    await openJournal();
    return [...journal.intents, ...(await journal.receipts())];
  };
  const unfinishedOf = (accountId: string) => ({
    submissions: pendingWorkOf(submitter.pending, accountId),
    hasDownloads: downloads.active.some((download) => download.accountId === accountId),
  });
  disposables.add(
    registerCommands('accounts', {
      [COMMANDS.signIn]: async () =>
        (await import('./signIn.ts')).signIn(accounts, apiKeys, createClient, submissions),
      [COMMANDS.switchAccount]: async () => (await import('./switchAccount.ts')).switchAccount(accounts),
      [COMMANDS.replaceKey]: async (account) =>
        (await import('./signIn.ts')).replaceKey(accounts, apiKeys, createClient, account),
    }),
  );
  disposables.add(
    registerCommands('account', {
      [COMMANDS.signOut]: async () =>
        (await import('./signOut.ts')).signOut(accounts, apiKeys, unfinishedOf, (id) =>
          downloads.discardAll(id),
        ),
      [COMMANDS.refreshBalance]: () => sessions.active?.balance.refresh(),
      [COMMANDS.openWebsite]: async () =>
        (await import('../shared/accountMessages.ts')).websiteLink(accounts.active)?.open(),
    }),
  );
}
