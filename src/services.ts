import path from 'node:path';
import * as vscode from 'vscode';
import { originOf, type Account } from './core/accounts/account.ts';
import { AccountStore } from './core/accounts/accountStore.ts';
import { Client, type Connection } from './core/api/client.ts';
import type { RateGate } from './core/api/rateGate.ts';
import { Transport } from './core/api/transport.ts';
import { DisposableStore } from './core/base/disposable.ts';
import { lazy } from './core/base/async.ts';
import { Downloads } from './core/downloads/downloads.ts';
import { Sessions } from './core/runs/sessions.ts';
import { NotificationLedger } from './core/runs/notificationLedger.ts';
import { StateStore } from './core/storage/state.ts';
import type { Intent } from './core/submission/intent.ts';
import { Journal } from './core/submission/journal.ts';
import { SubmissionHints } from './core/submission/submissionHints.ts';
import { Submitter } from './core/submission/submitter.ts';
import { ApiKeys } from './ui/accounts/apiKeys.ts';
import { LazySandbox } from './ui/sandbox/lazySandbox.ts';
import { Commands, ensureActiveAccount as ensureActive } from './ui/shared/commands.ts';
import { Log, reportError as report } from './ui/shared/log.ts';
import { onDidChangeSettings, proxySettings } from './ui/shared/settings.ts';
import { UnreadableFiles } from './ui/shared/unreadableFiles.ts';
import { SubmissionRows } from './ui/submission/submissionRows.ts';

/** The stores of core and VS Code's context, for every feature. All are disposed with the extension. */
export type Services = Awaited<ReturnType<typeof createServices>>;

export async function createServices(context: vscode.ExtensionContext) {
  const disposables = new DisposableStore();
  context.subscriptions.push(disposables);
  const storage = context.globalStorageUri.fsPath;
  const dist = (file: string) => path.join(context.extensionPath, 'dist', file);
  const log = disposables.add(new Log());
  const unreadable = new UnreadableFiles(log);
  // Everything that windows share, except for money. Created first, so that it is closed last.
  const state = disposables.add(new StateStore(storage, unreadable.of('state')));
  state.requireShared().catch((error: unknown) => log.warn(String(error)));

  // Clients get the transport for each request, because it is replaced when proxy settings change.
  let transport = new Transport(proxySettings());
  disposables.add({ dispose: () => transport.dispose() });
  const createClient = (connection: Connection, gate?: RateGate) =>
    new Client(connection, () => transport, { gate });

  // Accounts, their API keys, and one session for each.
  /** Reads the open submissions and the receipts of all accounts. */
  const readSubmissions = async (): Promise<readonly Intent[]> => {
    await openJournal();
    const receipts = await journal.receipts();
    return [...journal.intents, ...receipts];
  };
  const sandbox = disposables.add(new LazySandbox(storage, log));
  const accounts = disposables.add(new AccountStore(storage, unreadable.of('accounts')));
  const openAccounts = (): Promise<void> =>
    accounts.open().catch((error: unknown) => report(log, error, () => void openAccounts()));
  await openAccounts();
  const isBrowser = vscode.env.uiKind === vscode.UIKind.Web;
  const apiKeys = disposables.add(new ApiKeys(context.secrets, accounts, readSubmissions, isBrowser));
  const connect = async (account: Account): Promise<Connection | undefined> => {
    if (account.kind === 'sandbox') {
      const { baseUrl, apiKey } = await sandbox.start();
      // The sandbox is one account, whatever API key each start creates.
      return { baseUrl, apiKey, keyId: 'sandbox' };
    }
    const key = await apiKeys.read({ accountId: account.id, origin: originOf(account) });
    return key === undefined ? undefined : { baseUrl: account.baseUrl, ...key };
  };
  const sessions = disposables.add(new Sessions(accounts, connect, createClient));
  disposables.add(apiKeys.onDidChange((accountId) => sessions.reconnect(accountId)));
  disposables.add(
    onDidChangeSettings(['http'], () => {
      const old = transport;
      transport = new Transport(proxySettings());
      old.dispose();
      const { active } = sessions;
      if (active?.state === 'offline') sessions.reconnect(active.account.id);
    }),
  );

  // Submissions: the journal outlives this window.
  const folder = path.join(storage, 'submissions');
  const journal = disposables.add(
    new Journal(folder, {
      onUnreadable: unreadable.of('submission'),
      onDecided: (file) => log.info(`record-not-read: ${path.basename(file)}`),
      hints: new SubmissionHints(state),
    }),
  );
  const openJournal = lazy(() => journal.open());
  const submitter = disposables.add(new Submitter(journal));
  const submissionRows = new SubmissionRows(sessions, submitter, journal);

  // Data of each account's runs that all windows share.
  const runsFolder = path.join(storage, 'runs');
  const ledger = disposables.add(new NotificationLedger(state));
  const downloads = disposables.add(
    new Downloads({
      runsFolder,
      state,
      transport: () => transport,
      sessionOf: (accountId) => sessions.find(accountId),
      verify: async (file, options) =>
        (await import('./core/adapters/archive/openArchive.ts')).verifyArchive(file, options),
    }),
  );

  /** Fires when a dataset check that the user requested has ended. */
  const checked = disposables.add(new vscode.EventEmitter<void>());
  /** Dataset checks, their evaluation against earlier runs, and the display of problems in the editor. */
  const datasets = lazy(async () => {
    const { startChecks } = await import('./ui/datasets/checks.ts');
    const files = { worker: dist('datasetWorker.cjs'), scanner: dist('scanner.wasm') };
    const parts = { journal, log, openJournal, sessions };
    const { reports, runs } = startChecks(disposables, files, parts);
    reports.onDidCheck(() => checked.fire());
    return { reports, runs };
  });

  /** Reports an error that ended a user's action, unless the session's state already shows it. */
  const reportError = (error: unknown, retry: () => void): void => {
    if (!sessions.isReportedByState(error)) report(log, error, retry);
  };
  /** Fires when a run was charged, so that the Runs view shows it. */
  const submitted = disposables.add(new vscode.EventEmitter<{ runId: string }>());

  return {
    context,
    disposables,
    log,
    state,
    accounts,
    apiKeys,
    sandbox,
    sessions,
    connect,
    createClient,
    journal,
    openJournal,
    readSubmissions,
    submitter,
    submissionRows,
    submitted,
    runsFolder,
    ledger,
    downloads,
    datasets,
    checked,
    reports: async () => (await datasets()).reports,
    dist,
    ensureActiveAccount: (accountId: string) => ensureActive(accounts, accountId),
    reportError,
    commands: new Commands(accounts, reportError),
  };
}
