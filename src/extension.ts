import path from 'node:path';
import * as vscode from 'vscode';
import { Client, type Connection } from './api/client.ts';
import { sha256OfFile } from './api/digestFile.ts';
import { Transport } from './api/transport.ts';
import { DisposableStore } from './base/disposable.ts';
import { DatasetChecker } from './dataset/checker.ts';
import { Reports } from './dataset/reports.ts';
import { cancelSubmission } from './commands/cancelSubmission.ts';
import { checkDataset } from './commands/checkDataset.ts';
import { checkSubmission } from './commands/checkSubmission.ts';
import { continueSubmission } from './commands/continueSubmission.ts';
import { copyRunId } from './commands/copyRunId.ts';
import { discardSubmission } from './commands/discardSubmission.ts';
import { downloadAdapter } from './commands/downloadAdapter.ts';
import { loadMoreRuns } from './commands/loadMoreRuns.ts';
import { openModelLink } from './commands/openModelLink.ts';
import { previewDataset } from './commands/previewDataset.ts';
import { refresh } from './commands/refresh.ts';
import { refreshBalance } from './commands/refreshBalance.ts';
import { replaceKey } from './commands/replaceKey.ts';
import { resolveSubmission } from './commands/resolveSubmission.ts';
import { rewriteDatasetBeside } from './commands/rewriteDataset.ts';
import { sandboxAddFunds } from './commands/sandboxAddFunds.ts';
import { sandboxClockSpeed } from './commands/sandboxClockSpeed.ts';
import { sandboxReset } from './commands/sandboxReset.ts';
import { sandboxScenario } from './commands/sandboxScenario.ts';
import { showDatasetProblems } from './commands/showDatasetProblems.ts';
import { showRun } from './commands/showRun.ts';
import { signIn } from './commands/signIn.ts';
import { signOut } from './commands/signOut.ts';
import { submitAgain } from './commands/submitAgain.ts';
import { submitDataset } from './commands/submitDataset.ts';
import { switchAccount } from './commands/switchAccount.ts';
import { useSandbox } from './commands/useSandbox.ts';
import { accountAccess } from './host/accountAccess.ts';
import { ApiKeys } from './host/apiKeys.ts';
import { registerCommands } from './host/commands.ts';
import { COMMANDS, VIEWS } from './host/ids.ts';
import { Log } from './host/log.ts';
import { ErrorReporter } from './host/reportError.ts';
import { sandboxControls } from './host/sandboxAccess.ts';
import { onDidChangeProxySettings, proxySettings } from './host/settings.ts';
import { whenSignedIn } from './host/signedIn.ts';
import { asStorageError } from './host/storageError.ts';
import { tellFoundRunsOnce } from './host/submissionOutcome.ts';
import { tellAccountsSetAside, tellSignedOut } from './host/wording/accounts.ts';
import { tellJournalSetAside } from './host/wording/pendingNotices.ts';
import { originOf, type Account } from './runs/account.ts';
import { AccountStore } from './runs/accountStore.ts';
import { Downloader } from './runs/downloader.ts';
import { Journal } from './runs/journal.ts';
import { stakeOf } from './runs/pendingActions.ts';
import { Sessions } from './runs/sessions.ts';
import { Submitter } from './runs/submitter.ts';
import { LazySandbox } from './lazySandbox.ts';
import { ActiveWatch } from './views/activeWatch.ts';
import { AutoCheck } from './views/autoCheck.ts';
import { BalanceStatus } from './views/balanceStatus.ts';
import { DatasetFixes } from './views/datasetFixes.ts';
import { DatasetLens } from './views/datasetLens.ts';
import { DatasetProblems } from './views/datasetProblems.ts';
import { DatasetStatus } from './views/datasetStatus.ts';
import { DatasetPreviews } from './views/datasetPreviews.ts';
import { showInterrupted } from './views/interruptedNotices.ts';
import { showKeyNotices } from './views/keyNotice.ts';
import { ModelsTree } from './views/modelsTree.ts';
import { showReceiptLabels } from './views/receiptLabels.ts';
import { RunsTree } from './views/runsTree.ts';
import { UnknownWatch } from './views/unknownWatch.ts';
import { keepWelcomeState } from './views/welcomeState.ts';

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
  await accounts.open();
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
  const downloader = new Downloader(() => transport);

  // What is wrong with datasets.
  const checker = disposables.add(
    new DatasetChecker({ worker: dist('datasetWorker.cjs'), scanner: dist('scanner.wasm') }),
  );
  const reports = disposables.add(new Reports(checker));

  // What a person sees.
  const runsTree = disposables.add(new RunsTree(sessions, submitter));
  const previews = disposables.add(new DatasetPreviews(context.extensionUri, reports, log));
  disposables.add(new ModelsTree(sessions));
  disposables.add(new BalanceStatus(sessions));
  disposables.add(new DatasetProblems(reports));
  disposables.add(new DatasetStatus(reports));
  disposables.add(new DatasetLens(reports));
  disposables.add(new DatasetFixes());
  disposables.add(keepWelcomeState(sessions));
  disposables.add(showKeyNotices(sessions));

  // What a person does.
  const enterSandbox = useSandbox(accounts, async () => (await sandbox.start()).accountId);
  const controls = sandboxControls(
    () => sessions.active?.account.kind === 'sandbox',
    enterSandbox,
    () => sandbox.controls(),
  );
  const signedIn = whenSignedIn(() => sessions.active !== undefined, tellSignedOut);
  const reveal = (runId: string) => runsTree.reveal(runId, false);
  const beActive = accountAccess(accounts);
  const tellFoundRun = tellFoundRunsOnce(beActive);
  disposables.add(
    registerCommands(
      {
        [COMMANDS.signIn]: signIn(accounts, apiKeys, createClient),
        [COMMANDS.signOut]: signedIn(
          signOut(accounts, apiKeys, (id) =>
            downloader.isBusy(id) ? 'charge' : stakeOf(submitter.pending, id),
          ),
        ),
        [COMMANDS.switchAccount]: switchAccount(accounts),
        [COMMANDS.replaceKey]: replaceKey(accounts, apiKeys, createClient),
        [COMMANDS.useSandbox]: enterSandbox,
        [COMMANDS.checkDataset]: checkDataset(reports, log),
        [COMMANDS.showDatasetProblems]: showDatasetProblems(reports),
        [COMMANDS.writeArrayAsLines]: rewriteDatasetBeside('array-to-lines'),
        [COMMANDS.copyWithoutByteOrderMark]: rewriteDatasetBeside('without-bom'),
        [COMMANDS.submitDataset]: submitDataset({
          sessions,
          submitter,
          journal,
          openJournal,
          reports,
          sha256Of: (file, signal, tell) =>
            sha256OfFile(file, {
              worker: digestWorker,
              signal,
              onProgress: (hashedBytes, totalBytes) => tell(hashedBytes / totalBytes),
            }),
          beActive,
          reveal,
          log,
        }),
        [COMMANDS.previewDataset]: previewDataset((uri, row) => previews.show(uri, row)),
        [COMMANDS.submitAgain]: signedIn(submitAgain(sessions)),
        [COMMANDS.refresh]: signedIn(refresh(sessions, VIEWS.runs)),
        [COMMANDS.refreshModels]: signedIn(refresh(sessions, VIEWS.models)),
        [COMMANDS.loadMoreRuns]: signedIn(loadMoreRuns(sessions)),
        [COMMANDS.showRun]: signedIn(showRun(sessions, (runId, expand) => runsTree.reveal(runId, expand))),
        [COMMANDS.copyRunId]: signedIn(copyRunId(sessions)),
        [COMMANDS.downloadAdapter]: signedIn(downloadAdapter(sessions, downloader)),
        [COMMANDS.cancelSubmission]: cancelSubmission(submitter),
        [COMMANDS.resolveSubmission]: signedIn(
          resolveSubmission(sessions, submitter, beActive, reveal, tellFoundRun, log),
        ),
        [COMMANDS.continueSubmission]: signedIn(
          continueSubmission(sessions, submitter, beActive, reveal, log),
        ),
        [COMMANDS.checkSubmission]: signedIn(
          checkSubmission(sessions, submitter, beActive, reveal, tellFoundRun),
        ),
        [COMMANDS.discardSubmission]: signedIn(discardSubmission(sessions, submitter, beActive)),
        [COMMANDS.refreshBalance]: signedIn(refreshBalance(sessions)),
        [COMMANDS.openModelTerms]: signedIn(openModelLink(sessions, 'terms_url')),
        [COMMANDS.openModelUsePolicy]: signedIn(openModelLink(sessions, 'use_policy_url')),
        [COMMANDS.showLog]: () => log.show(),
        [COMMANDS.sandboxScenario]: sandboxScenario(controls, sessions),
        [COMMANDS.sandboxReset]: sandboxReset(controls, sessions),
        [COMMANDS.sandboxAddFunds]: sandboxAddFunds(controls, sessions),
        [COMMANDS.sandboxClockSpeed]: sandboxClockSpeed(controls, sessions),
      },
      (error, again) => {
        // The notice of a refused API key has told this one.
        if (!sessions.isToldByState(error)) reporter.report(error, again);
      },
    ),
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
  disposables.add(new ActiveWatch(sessions, submitter, log));
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
