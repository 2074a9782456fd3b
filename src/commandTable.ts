import type { Client, Connection } from './core/api/client.ts';
import { sha256OfFile } from './core/api/digestFile.ts';
import { cancelDownload } from './ui/downloads/cancelDownload.ts';
import { cancelSubmission } from './ui/submission/cancelSubmission.ts';
import { checkDataset, showDatasetProblems } from './ui/datasets/checkDataset.ts';
import { checkSubmission } from './ui/submission/checkSubmission.ts';
import { clearRunsFilter } from './ui/runs/clearRunsFilter.ts';
import { continueSubmission } from './ui/submission/continueSubmission.ts';
import { copyRunId } from './ui/runs/copyRunId.ts';
import { discardSubmission } from './ui/submission/discardSubmission.ts';
import { downloadAdapter } from './ui/downloads/downloadAdapter.ts';
import { filterRuns } from './ui/runs/filterRuns.ts';
import { groupRunsByDay } from './ui/runs/groupRunsByDay.ts';
import { inspectAdapter } from './ui/adapters/inspectAdapter.ts';
import { loadAllRuns } from './ui/runs/loadAllRuns.ts';
import { loadMoreRuns } from './ui/runs/loadMoreRuns.ts';
import { openModelLink } from './ui/runs/openModelLink.ts';
import { previewDataset } from './ui/datasets/previewDataset.ts';
import { refresh } from './ui/runs/refresh.ts';
import { refreshBalance } from './ui/accounts/refreshBalance.ts';
import { replaceKey } from './ui/accounts/replaceKey.ts';
import { resolveSubmission } from './ui/submission/resolveSubmission.ts';
import { rewriteDatasetBeside } from './ui/datasets/rewriteDataset.ts';
import { sandboxAddFunds } from './ui/sandbox/sandboxAddFunds.ts';
import { sandboxClockSpeed } from './ui/sandbox/sandboxClockSpeed.ts';
import { sandboxReset } from './ui/sandbox/sandboxReset.ts';
import { sandboxScenario } from './ui/sandbox/sandboxScenario.ts';
import { showRun } from './ui/runs/showRun.ts';
import { signIn } from './ui/accounts/signIn.ts';
import { signOut } from './ui/accounts/signOut.ts';
import { submitAgain } from './ui/submission/submitAgain.ts';
import { submitDataset } from './ui/submission/submitDataset.ts';
import { switchAccount } from './ui/accounts/switchAccount.ts';
import { ungroupRuns } from './ui/runs/ungroupRuns.ts';
import { useSandbox } from './ui/sandbox/useSandbox.ts';
import type { accountAccess } from './ui/shared/accountAccess.ts';
import type { ApiKeys } from './ui/accounts/apiKeys.ts';
import { COMMANDS, VIEWS, type CommandId } from './ui/shared/ids.ts';
import type { Log } from './ui/shared/log.ts';
import { sandboxControls } from './ui/sandbox/sandboxAccess.ts';
import { whenAccountsRead, whenSignedIn } from './ui/shared/signedIn.ts';
import type { tellFoundRunsOnce } from './ui/submission/submissionOutcome.ts';
import { tellSignedOut } from './ui/accounts/messages.ts';
import type { AccountStore } from './core/accounts/accountStore.ts';
import type { Downloads } from './core/downloads/downloads.ts';
import type { Journal } from './core/submission/journal.ts';
import { stakeOf } from './core/submission/pendingActions.ts';
import type { Sessions } from './core/runs/sessions.ts';
import type { Submitter } from './core/submission/submitter.ts';
import type { Reports } from './core/datasets/reports.ts';
import type { LazySandbox } from './ui/sandbox/lazySandbox.ts';
import type { AdapterPanels } from './ui/adapters/adapterPanels.ts';
import type { DatasetPreviews } from './ui/datasets/datasetPreviews.ts';
import type { RunPanels } from './ui/runs/runPanels.ts';
import type { RunsShown } from './ui/runs/runsShown.ts';
import type { RunsTree } from './ui/runs/runsTree.ts';

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
