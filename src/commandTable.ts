import type { Client, Connection } from './api/client.ts';
import { sha256OfFile } from './api/digestFile.ts';
import { cancelDownload } from './commands/cancelDownload.ts';
import { cancelSubmission } from './commands/cancelSubmission.ts';
import { checkDataset } from './commands/checkDataset.ts';
import { checkSubmission } from './commands/checkSubmission.ts';
import { clearRunsFilter } from './commands/clearRunsFilter.ts';
import { continueSubmission } from './commands/continueSubmission.ts';
import { copyRunId } from './commands/copyRunId.ts';
import { discardSubmission } from './commands/discardSubmission.ts';
import { downloadAdapter } from './commands/downloadAdapter.ts';
import { filterRuns } from './commands/filterRuns.ts';
import { groupRunsByDay } from './commands/groupRunsByDay.ts';
import { inspectAdapter } from './commands/inspectAdapter.ts';
import { loadAllRuns } from './commands/loadAllRuns.ts';
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
import { ungroupRuns } from './commands/ungroupRuns.ts';
import { useSandbox } from './commands/useSandbox.ts';
import type { accountAccess } from './host/accountAccess.ts';
import type { ApiKeys } from './host/apiKeys.ts';
import { COMMANDS, VIEWS, type CommandId } from './host/ids.ts';
import type { Log } from './host/log.ts';
import { sandboxControls } from './host/sandboxAccess.ts';
import { whenAccountsRead, whenSignedIn } from './host/signedIn.ts';
import type { tellFoundRunsOnce } from './host/submissionOutcome.ts';
import { tellSignedOut } from './host/wording/accounts.ts';
import type { AccountStore } from './runs/accountStore.ts';
import type { Downloads } from './runs/download/downloads.ts';
import type { Journal } from './runs/submission/journal.ts';
import { stakeOf } from './runs/submission/pendingActions.ts';
import type { Sessions } from './runs/sessions.ts';
import type { Submitter } from './runs/submission/submitter.ts';
import type { Reports } from './dataset/reports.ts';
import type { LazySandbox } from './lazySandbox.ts';
import type { AdapterPanels } from './views/adapter/adapterPanels.ts';
import type { DatasetPreviews } from './views/dataset/datasetPreviews.ts';
import type { RunPanels } from './views/runPage/runPanels.ts';
import type { RunsShown } from './views/runs/runsShown.ts';
import type { RunsTree } from './views/runs/runsTree.ts';

/** What the commands work with. */
export interface Parts {
  accounts: AccountStore;
  adapterPanels: AdapterPanels;
  apiKeys: ApiKeys;
  createClient: (connection: Connection) => Client;
  /** The script of the thread that hashes datasets. */
  digestWorker: string;
  downloads: Downloads;
  journal: Journal;
  log: Log;
  openJournal: () => Promise<void>;
  previews: DatasetPreviews;
  reports: Reports;
  runPanels: RunPanels;
  runsShown: RunsShown;
  runsTree: RunsTree;
  sandbox: LazySandbox;
  sessions: Sessions;
  submitter: Submitter;
  beActive: ReturnType<typeof accountAccess>;
  tellFoundRun: ReturnType<typeof tellFoundRunsOnce>;
}

/** Everything that a person does: each command by its id. */
export function commandTable(parts: Parts): Record<CommandId, (...args: unknown[]) => Promise<void> | void> {
  const { accounts, apiKeys, createClient, digestWorker, downloads, journal, log, openJournal } = parts;
  const {
    adapterPanels,
    previews,
    reports,
    runPanels,
    runsShown,
    runsTree,
    sandbox,
    sessions,
    submitter,
    beActive,
    tellFoundRun,
  } = parts;
  const enterSandbox = useSandbox(accounts, async () => (await sandbox.start()).accountId);
  const controls = sandboxControls(
    () => sessions.active?.account.kind === 'sandbox',
    enterSandbox,
    () => sandbox.controls(),
  );
  const withAccounts = whenAccountsRead(accounts);
  const whenActive = whenSignedIn(() => sessions.active !== undefined, tellSignedOut);
  const signedIn = (command: Parameters<typeof whenActive>[0]) => withAccounts(whenActive(command));
  const reveal = (runId: string) => runsTree.reveal(runId, false);
  return {
    [COMMANDS.signIn]: withAccounts(
      signIn(accounts, apiKeys, createClient, async () => {
        await openJournal();
        return [...journal.intents, ...(await journal.receipts())];
      }),
    ),
    [COMMANDS.signOut]: signedIn(
      signOut(
        accounts,
        apiKeys,
        (id) =>
          stakeOf(submitter.pending, id) ??
          (downloads.active.some(({ accountId }) => accountId === id) ? 'download' : undefined),
        (id) => downloads.discardAll(id),
      ),
    ),
    [COMMANDS.switchAccount]: withAccounts(switchAccount(accounts)),
    [COMMANDS.replaceKey]: withAccounts(replaceKey(accounts, apiKeys, createClient)),
    [COMMANDS.useSandbox]: withAccounts(enterSandbox),
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
    [COMMANDS.loadAllRuns]: signedIn(loadAllRuns(sessions)),
    [COMMANDS.filterRuns]: signedIn(filterRuns(sessions, runsShown)),
    [COMMANDS.clearRunsFilter]: clearRunsFilter(runsShown),
    [COMMANDS.groupRunsByDay]: groupRunsByDay(runsShown),
    [COMMANDS.ungroupRuns]: ungroupRuns(runsShown),
    [COMMANDS.showRun]: signedIn(showRun(sessions, (accountId, runId) => runPanels.show(accountId, runId))),
    [COMMANDS.copyRunId]: signedIn(copyRunId(sessions)),
    [COMMANDS.downloadAdapter]: signedIn(downloadAdapter(sessions, downloads)),
    [COMMANDS.cancelDownload]: cancelDownload(sessions, downloads),
    [COMMANDS.inspectAdapter]: inspectAdapter(sessions, downloads, (file) => adapterPanels.show(file)),
    [COMMANDS.cancelSubmission]: cancelSubmission(sessions, submitter),
    [COMMANDS.resolveSubmission]: withAccounts(
      resolveSubmission(sessions, submitter, reveal, tellFoundRun, log),
    ),
    [COMMANDS.continueSubmission]: signedIn(continueSubmission(sessions, submitter, beActive, reveal, log)),
    [COMMANDS.checkSubmission]: withAccounts(
      checkSubmission(sessions, submitter, beActive, reveal, tellFoundRun),
    ),
    [COMMANDS.discardSubmission]: withAccounts(discardSubmission(sessions, submitter)),
    [COMMANDS.refreshBalance]: signedIn(refreshBalance(sessions)),
    [COMMANDS.openModelTerms]: signedIn(openModelLink(sessions, 'terms_url')),
    [COMMANDS.openModelUsePolicy]: signedIn(openModelLink(sessions, 'use_policy_url')),
    [COMMANDS.showLog]: () => log.show(),
    [COMMANDS.sandboxScenario]: sandboxScenario(controls, sessions),
    [COMMANDS.sandboxReset]: sandboxReset(controls, sessions),
    [COMMANDS.sandboxAddFunds]: sandboxAddFunds(controls, sessions),
    [COMMANDS.sandboxClockSpeed]: sandboxClockSpeed(controls, sessions),
  };
}
