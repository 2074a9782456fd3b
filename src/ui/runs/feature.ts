import * as vscode from 'vscode';
import type { Services } from '../../services.ts';
import { lazy } from '../../core/base/lazy.ts';
import { runLinkPath } from '../../core/runs/runLink.ts';
import { autoDownloadFolder, downloadWhenCompleteSetting } from '../shared/settings.ts';
import { COMMANDS, PANELS, VIEWS } from '../shared/ids.ts';
import { ActiveWatch } from './activeWatch.ts';
import { ModelsTree } from './modelsTree.ts';
import { dimOfflineRows } from './runRows.ts';
import { showReceiptLabels } from './receiptLabels.ts';
import { followRunLinks } from './runLinks.ts';
import { RunNotices } from './runNotices.ts';
import { RunsShown } from './runsShown.ts';
import { RunsTree } from './runsTree.ts';

/** The views of runs and models, the page of a run, and what is notified about them. */
export function activateRuns(services: Services): void {
  const { accounts, context, disposables, downloads, journal, log, openJournal } = services;
  const { registerCommands, reportError, runsFolder, sessions, state, submitted, submitter, ledger } =
    services;
  const { ensureActiveAccount, submissionRows: submissions } = services;

  const shown = disposables.add(new RunsShown(sessions, context.globalState));
  disposables.add(dimOfflineRows());
  const tree = disposables.add(new RunsTree({ sessions, submitter, submissions, downloads, ledger, shown }));
  disposables.add(submitted.event(({ runId }) => void tree.reveal(runId).catch(() => undefined)));
  disposables.add(new ModelsTree(sessions));
  disposables.add(new ActiveWatch(sessions, submitter, journal, log, runsFolder, state, tree));
  disposables.add(showReceiptLabels(sessions, openJournal, journal, log));

  const receipts = async () => {
    await openJournal();
    return journal.receipts();
  };
  const linkTo = (runId: string) => `${vscode.env.uriScheme}://${context.extension.id}${runLinkPath(runId)}`;
  const onDidChangeReceipts = journal.onDidChange;
  const { extensionUri } = context;
  const panels = lazy(async () => {
    const { runPanels } = await import('./runPage.ts');
    return disposables.add(
      runPanels({ extensionUri, accounts, sessions, downloads, receipts, onDidChangeReceipts, linkTo, log }),
    );
  });
  disposables.add(
    vscode.window.registerWebviewPanelSerializer(PANELS.run, {
      deserializeWebviewPanel: async (panel, state) => (await panels()).deserializeWebviewPanel(panel, state),
    }),
  );
  const show = async (accountId: string, runId: string) => void (await panels()).show({ accountId, runId });
  disposables.add(followRunLinks({ accounts, sessions, show, onError: reportError }));
  const offersDownload = () => downloadWhenCompleteSetting() !== 'off' && autoDownloadFolder() === undefined;
  disposables.add(new RunNotices({ sessions, ledger, ensureActiveAccount, offersDownload }));

  const load = () => import('./runCommands.ts');
  disposables.add(
    registerCommands('account', {
      [COMMANDS.refresh]: async () => (await load()).refresh(sessions, VIEWS.runs),
      [COMMANDS.refreshModels]: async () => (await load()).refresh(sessions, VIEWS.models),
      [COMMANDS.loadMoreRuns]: async () => (await load()).loadMoreRuns(sessions),
      [COMMANDS.loadAllRuns]: async () => (await load()).loadAllRuns(sessions),
      [COMMANDS.showRun]: async (run) => (await load()).showRun(sessions, show, run),
      [COMMANDS.copyRunId]: async (run) => (await load()).copyRunId(sessions, run),
      [COMMANDS.openModelTerms]: async (model) => (await load()).openModelLink(sessions, 'terms_url', model),
      [COMMANDS.openModelUsePolicy]: async (model) =>
        (await load()).openModelLink(sessions, 'use_policy_url', model),
      [COMMANDS.filterRuns]: async (filter) =>
        (await import('./filterRuns.ts')).filterRuns(sessions, shown, filter),
    }),
  );
  disposables.add(
    registerCommands('nothing', {
      [COMMANDS.clearRunsFilter]: () => shown.clearFilter(),
      [COMMANDS.toggleRunGrouping]: () => shown.toggleGrouping(),
    }),
  );
}
