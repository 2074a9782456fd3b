import path from 'node:path';
import * as vscode from 'vscode';
import { commandTable } from './commandTable.ts';
import { Client, type Connection } from './core/api/client.ts';
import { Transport } from './core/api/transport.ts';
import { verifyArchive } from './core/adapters/archive/verify.ts';
import { DisposableStore } from './core/base/disposable.ts';
import { DatasetChecker } from './core/datasets/checker.ts';
import { Reports } from './core/datasets/reports.ts';
import { accountAccess } from './ui/shared/accountAccess.ts';
import { ApiKeys } from './ui/accounts/apiKeys.ts';
import { registerCommands } from './ui/shared/commands.ts';
import { Log } from './ui/shared/log.ts';
import { ErrorReporter } from './ui/shared/reportError.ts';
import {
  downloadWhenCompleteSetting,
  notificationsSetting,
  onDidChangeProxySettings,
  proxySettings,
} from './ui/shared/settings.ts';
import { asStorageError } from './ui/shared/storageError.ts';
import { tellFoundRunsOnce } from './ui/submission/submissionOutcome.ts';
import { tellAccountsSetAside } from './ui/accounts/messages.ts';
import { tellDownloadsSetAside } from './ui/downloads/noticeMessages.ts';
import { tellJournalSetAside } from './ui/submission/noticeMessages.ts';
import { originOf, type Account } from './core/accounts/account.ts';
import { AccountStore } from './core/accounts/accountStore.ts';
import { accountFolder, removeForsakenFolders } from './core/accounts/accountFolder.ts';
import { Downloads } from './core/downloads/downloads.ts';
import { runLinkPath } from './core/runs/runLink.ts';
import { Journal } from './core/submission/journal.ts';
import { Sessions } from './core/runs/sessions.ts';
import { Submitter } from './core/submission/submitter.ts';
import { Told } from './core/runs/told.ts';
import { LazySandbox } from './ui/sandbox/lazySandbox.ts';
import { keepActiveDetails } from './ui/runs/activeDetails.ts';
import { ActiveWatch } from './ui/runs/activeWatch.ts';
import { AdapterPanels } from './ui/adapters/adapterPanels.ts';
import { AutoCheck } from './ui/datasets/autoCheck.ts';
import { AutoDownloads } from './ui/downloads/autoDownloads.ts';
import { BalanceStatus } from './ui/accounts/balanceStatus.ts';
import { DatasetFixes } from './ui/datasets/datasetFixes.ts';
import { DatasetProblems } from './ui/datasets/datasetProblems.ts';
import { DatasetStatus } from './ui/datasets/datasetStatus.ts';
import { DatasetPreviews } from './ui/datasets/datasetPreviews.ts';
import { InterruptedDownloads } from './ui/downloads/interruptedDownloads.ts';
import { showInterrupted } from './ui/submission/interruptedNotices.ts';
import { showKeyNotices } from './ui/accounts/keyNotice.ts';
import { ModelsTree } from './ui/runs/modelsTree.ts';
import { showReceiptLabels } from './ui/datasets/receiptLabels.ts';
import { dimOfflineRows } from './ui/runs/offlineRows.ts';
import { RunNotices } from './ui/runs/runNotices.ts';
import { RunsShown } from './ui/runs/runsShown.ts';
import { ReminderWatch } from './ui/downloads/reminderWatch.ts';
import { followRunLinks } from './ui/runs/runLinks.ts';
import { RunPanels } from './ui/runs/runPanels.ts';
import { RunsTree } from './ui/runs/runsTree.ts';
import { UnknownWatch } from './ui/submission/unknownWatch.ts';
import { keepWelcomeState } from './ui/accounts/welcomeState.ts';

/** The composition root: makes every room's objects and hands each what it needs. Read it as the table of contents. */
export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const disposables = new DisposableStore();
  context.subscriptions.push(disposables);
  const storage = context.globalStorageUri.fsPath;
  const dist = (file: string) => path.join(context.extensionPath, 'dist', file);
  const log = disposables.add(new Log());
  const reporter = new ErrorReporter(log);

  // The way to the service. A new transport when VS Code's proxy settings change; clients ask for it at each request.
  let transport = new Transport(proxySettings());
  disposables.add({ dispose: () => transport.dispose() });
  const digestWorker = dist('digestWorker.cjs');
  const createClient = (connection: Connection) => new Client(connection, () => transport, { digestWorker });

  // Accounts, their API keys, and one session for each.
  const apiKeys = disposables.add(new ApiKeys(context.secrets));
  const sandbox = disposables.add(new LazySandbox(storage, log));
  const accounts = disposables.add(new AccountStore(storage, tellAccountsSetAside));
  const openAccounts = async (): Promise<void> => {
    try {
      await accounts.open();
    } catch (error) {
      reporter.report(error, () => void openAccounts());
    }
  };
  await openAccounts();
  const connect = async (account: Account): Promise<Connection | undefined> => {
    if (account.kind === 'sandbox') return sandbox.start();
    const key = await apiKeys.read({ accountId: account.id, origin: originOf(account) });
    return key === undefined ? undefined : { baseUrl: account.baseUrl, ...key };
  };
  const sessions = disposables.add(new Sessions(accounts, connect, createClient));

  // What outlives this window: the journal of submissions, read once the views stand.
  const onSetAside = (file: string) => tellJournalSetAside(file);
  const journal = disposables.add(new Journal(path.join(storage, 'submissions'), { onSetAside }));
  let opening: Promise<void> | undefined;
  const openJournal = () =>
    (opening ??= journal.open().catch((error: unknown) => {
      // The next submission tries again.
      opening = undefined;
      throw error;
    }));
  const submitter = disposables.add(new Submitter(journal));

  // What all windows share of each account's runs.
  const runsFolder = path.join(storage, 'runs');
  const folderOf = (accountId: string) => accountFolder(runsFolder, accountId);
  void removeForsakenFolders(runsFolder, () => accounts.readKeptIds());
  const told = disposables.add(new Told((accountId) => folderOf(accountId).told));
  const downloads = disposables.add(
    new Downloads({
      runsFolder,
      transport: () => transport,
      sessionOf: (accountId) => sessions.find(accountId),
      verify: verifyArchive,
      onSetAside: tellDownloadsSetAside,
    }),
  );

  // What is wrong with datasets.
  const checker = disposables.add(
    new DatasetChecker({ worker: dist('datasetWorker.cjs'), scanner: dist('scanner.wasm') }),
  );
  const reports = disposables.add(new Reports(checker));

  // What a person sees.
  const runsShown = disposables.add(new RunsShown(sessions, context.globalState));
  disposables.add(dimOfflineRows());
  const runsTree = disposables.add(new RunsTree({ sessions, submitter, downloads, told, shown: runsShown }));
  const previews = disposables.add(new DatasetPreviews(context.extensionUri, reports, log));
  const adapterRoom = async () =>
    (await import('./core/adapters/adapterRoom.ts')).createAdapterRoom(dist('measureWorker.cjs'));
  const adapterPanels = disposables.add(new AdapterPanels(context.extensionUri, adapterRoom, log));
  disposables.add(new ModelsTree(sessions));
  disposables.add(new BalanceStatus(sessions));
  disposables.add(new DatasetProblems(reports));
  disposables.add(new DatasetStatus(reports));
  disposables.add(new DatasetFixes());
  disposables.add(keepWelcomeState(sessions, accounts));
  disposables.add(showKeyNotices(sessions));

  // What a person does.
  const beActive = accountAccess(accounts);
  const runPanels = disposables.add(
    new RunPanels(context.extensionUri, {
      accounts,
      sessions,
      downloads,
      receipts: async () => {
        await openJournal();
        return journal.receipts();
      },
      onDidChangeReceipts: journal.onDidChange,
      beActive,
      linkTo: (runId) => `${vscode.env.uriScheme}://${context.extension.id}${runLinkPath(runId)}`,
      log,
    }),
  );
  const tellFoundRun = tellFoundRunsOnce(beActive, (runId) => void journal.claimNotice(runId));
  const commands = commandTable({
    accounts,
    adapterPanels,
    apiKeys,
    createClient,
    digestWorker,
    downloads,
    journal,
    log,
    openJournal,
    previews,
    reports,
    runsShown,
    runPanels,
    runsTree,
    sandbox,
    sessions,
    submitter,
    beActive,
    tellFoundRun,
  });
  disposables.add(
    registerCommands(commands, (error, again) => {
      // The notice of a refused API key has told this one.
      if (!sessions.isToldByState(error)) reporter.report(error, again);
    }),
  );

  disposables.add(
    followRunLinks({
      accounts,
      sessions,
      show: (accountId, runId) => runPanels.show(accountId, runId),
      onError: (error, again) => {
        if (!sessions.isToldByState(error)) reporter.report(error, again);
      },
    }),
  );

  // What happens by itself.
  disposables.add(apiKeys.onDidChange((accountId) => sessions.reconnect(accountId)));
  disposables.add(
    onDidChangeProxySettings(() => {
      const old = transport;
      transport = new Transport(proxySettings());
      old.dispose();
      const { active } = sessions;
      if (active?.state === 'offline') sessions.reconnect(active.account.id);
    }),
  );
  disposables.add(new AutoCheck(reports, log));
  const isQuiet = () => notificationsSetting() === 'badge';
  const autoDownloads = disposables.add(
    new AutoDownloads({ sessions, downloads, told, log, beActive, isQuiet }),
  );
  disposables.add(new InterruptedDownloads({ sessions, downloads, told, beActive }));
  disposables.add(new ReminderWatch({ sessions, downloads, told, beActive }));
  const offersDownload = () => downloadWhenCompleteSetting() !== 'off' && !autoDownloads.takes;
  disposables.add(new RunNotices({ sessions, told, beActive, offersDownload }));
  disposables.add(new ActiveWatch(sessions, submitter, journal, log, runsFolder));
  disposables.add(keepActiveDetails(sessions, (accountId) => folderOf(accountId).details, runsTree, log));
  const showOpenSubmissions = async (): Promise<void> => {
    try {
      await openJournal();
      disposables.add(await showInterrupted(sessions, submitter, beActive));
      disposables.add(showReceiptLabels(sessions, journal, log));
    } catch (error) {
      reporter.report(asStorageError(error), () => void showOpenSubmissions());
    }
  };
  void showOpenSubmissions().finally(() =>
    disposables.add(new UnknownWatch(sessions, submitter, journal, beActive, tellFoundRun)),
  );
}
