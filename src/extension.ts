import * as vscode from 'vscode';
import { Client, type Connection } from './api/client.ts';
import { Transport } from './api/transport.ts';
import { DisposableStore } from './base/disposable.ts';
import { copyRunId } from './commands/copyRunId.ts';
import { dismissSubmission } from './commands/dismissSubmission.ts';
import { downloadAdapter } from './commands/downloadAdapter.ts';
import { loadMoreRuns } from './commands/loadMoreRuns.ts';
import { openModelLink } from './commands/openModelLink.ts';
import { refresh } from './commands/refresh.ts';
import { refreshBalance } from './commands/refreshBalance.ts';
import { replaceKey } from './commands/replaceKey.ts';
import { sandboxAddFunds } from './commands/sandboxAddFunds.ts';
import { sandboxClockSpeed } from './commands/sandboxClockSpeed.ts';
import { sandboxReset } from './commands/sandboxReset.ts';
import { sandboxScenario } from './commands/sandboxScenario.ts';
import { showRun } from './commands/showRun.ts';
import { signIn } from './commands/signIn.ts';
import { signOut } from './commands/signOut.ts';
import { submitAgain } from './commands/submitAgain.ts';
import { submitDataset } from './commands/submitDataset.ts';
import { switchAccount } from './commands/switchAccount.ts';
import { useSandbox } from './commands/useSandbox.ts';
import { ApiKeys } from './host/apiKeys.ts';
import { registerCommands } from './host/commands.ts';
import { COMMANDS } from './host/ids.ts';
import { Log } from './host/log.ts';
import { ErrorReporter } from './host/reportError.ts';
import { sandboxControls } from './host/sandboxAccess.ts';
import { onDidChangeProxySettings, proxySettings } from './host/settings.ts';
import { tellAccountsSetAside } from './host/wording/accounts.ts';
import { originOf, type Account } from './runs/account.ts';
import { AccountStore } from './runs/accountStore.ts';
import { Downloader } from './runs/downloader.ts';
import { Sessions } from './runs/sessions.ts';
import { Submitter } from './runs/submitter.ts';
import { LazySandbox } from './lazySandbox.ts';
import { ActiveWatch } from './views/activeWatch.ts';
import { BalanceStatus } from './views/balanceStatus.ts';
import { KeyNotice } from './views/keyNotice.ts';
import { ModelsTree } from './views/modelsTree.ts';
import { RunsTree } from './views/runsTree.ts';

import { WelcomeState } from './views/welcomeState.ts';

/** The composition root: makes every room's objects and hands each what it needs. Read it as the table of contents. */
export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const disposables = new DisposableStore();
  context.subscriptions.push(disposables);
  const storage = context.globalStorageUri.fsPath;
  const log = disposables.add(new Log());
  const reporter = new ErrorReporter(log);

  // The way to the service. A new transport when VS Code's proxy settings change; clients ask for it at each request.
  let transport = new Transport(proxySettings());
  disposables.add({ dispose: () => transport.dispose() });
  const createClient = (connection: Connection) => new Client(connection, () => transport);

  // Accounts, their API keys, and one session for each.
  const apiKeys = disposables.add(new ApiKeys(context.secrets));
  const sandbox = disposables.add(new LazySandbox(storage, log));
  const accounts = disposables.add(new AccountStore(storage, tellAccountsSetAside));
  await accounts.open();
  const connect = async (account: Account): Promise<Connection | undefined> => {
    if (account.kind === 'sandbox') return sandbox.start();
    const apiKey = await apiKeys.read({ accountId: account.id, origin: originOf(account) });
    return apiKey === undefined ? undefined : { baseUrl: account.baseUrl, apiKey };
  };
  const sessions = disposables.add(new Sessions(accounts, connect, createClient));
  const submitter = disposables.add(new Submitter());
  const downloader = new Downloader(() => transport);

  // What a person sees.
  const runsTree = disposables.add(new RunsTree(sessions, submitter));
  disposables.add(new ModelsTree(sessions));
  disposables.add(new BalanceStatus(sessions));
  disposables.add(new WelcomeState(sessions));
  disposables.add(new KeyNotice(sessions));

  // What a person does.
  const enterSandbox = useSandbox(accounts, async () => (await sandbox.start()).accountId);
  const controls = sandboxControls(
    () => sessions.active?.account.kind === 'sandbox',
    enterSandbox,
    () => sandbox.controls(),
  );
  const reveal = (runId: string) => runsTree.reveal(runId, false);
  disposables.add(
    registerCommands(
      {
        [COMMANDS.signIn]: signIn(accounts, apiKeys, createClient),
        [COMMANDS.signOut]: signOut(accounts, apiKeys, (id) => submitter.isBusy(id) || downloader.isBusy(id)),
        [COMMANDS.switchAccount]: switchAccount(accounts),
        [COMMANDS.replaceKey]: replaceKey(accounts, apiKeys, createClient),
        [COMMANDS.useSandbox]: enterSandbox,
        [COMMANDS.submitDataset]: submitDataset(sessions, submitter, reveal, log),
        [COMMANDS.submitAgain]: submitAgain(sessions),
        [COMMANDS.refresh]: refresh(sessions),
        [COMMANDS.loadMoreRuns]: loadMoreRuns(sessions),
        [COMMANDS.showRun]: showRun(sessions, (runId, expand) => runsTree.reveal(runId, expand)),
        [COMMANDS.copyRunId]: copyRunId(sessions),
        [COMMANDS.downloadAdapter]: downloadAdapter(sessions, downloader),
        [COMMANDS.dismissSubmission]: dismissSubmission(submitter),
        [COMMANDS.refreshBalance]: refreshBalance(sessions),
        [COMMANDS.openModelTerms]: openModelLink(sessions, 'terms_url'),
        [COMMANDS.openModelUsePolicy]: openModelLink(sessions, 'use_policy_url'),
        [COMMANDS.showLog]: () => log.show(),
        [COMMANDS.sandboxScenario]: sandboxScenario(controls, sessions),
        [COMMANDS.sandboxReset]: sandboxReset(controls, sessions),
        [COMMANDS.sandboxAddFunds]: sandboxAddFunds(controls, sessions),
        [COMMANDS.sandboxClockSpeed]: sandboxClockSpeed(controls, sessions),
      },
      (error) => {
        // The notice of a refused API key has told this one.
        if (sessions.active?.isToldByState(error) !== true) reporter.report(error);
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
  disposables.add(new ActiveWatch(sessions, submitter, log));
}
