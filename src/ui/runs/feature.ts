import * as vscode from 'vscode';
import { lazy } from '../../core/base/async.ts';
import { chargedReceiptsOf, isOver } from '../../core/submission/submission.ts';
import type { Services } from '../../services.ts';
import { COMMANDS, PANELS } from '../shared/ids.ts';
import { autoDownloadFolder, downloadWhenCompleteSetting } from '../shared/settings.ts';
import { keepActiveFresh } from './activeRuns.ts';
import { ModelsTree } from './modelsTree.ts';
import { RunNotices } from './runNotices.ts';
import { RunsTree } from './runsTree.ts';

/** Activates the Runs and Models views, the run page, and notifications about runs. */
export function activateRuns(services: Services): void {
  const { accounts, disposables, downloads, journal, notices, openJournal, sessions } = services;
  const { ensureActiveAccount, commands, reportError, sandboxFault, submissions } = services;
  const rowsAbove = services.rowsAboveRuns.get();

  const receiptsOf = async (accountId: string) => {
    const receipts = await openJournal().then(() => journal.receipts());
    return chargedReceiptsOf(receipts, accountId);
  };
  const knownReceipts = () => journal.latest.filter(isOver);
  const tree = disposables.add(
    new RunsTree({ sessions, submissions, rowsAbove, downloads, notices, knownReceipts, receiptsOf }),
  );
  disposables.add(new ModelsTree(sessions));
  disposables.add(keepActiveFresh({ ...services, receiptsOf }, tree));

  const load = () => import('./runCommands.ts');
  const panels = lazy(async () => disposables.add((await import('./runPage.ts')).runPanels(services)));
  const show = async (accountId: string, runId: string) => void (await panels()).show({ accountId, runId });
  disposables.add(
    vscode.window.registerWebviewPanelSerializer(PANELS.run, {
      deserializeWebviewPanel: async (panel, state) => (await panels()).deserializeWebviewPanel(panel, state),
    }),
  );
  disposables.add(
    vscode.window.registerUriHandler({
      handleUri: async (link) => {
        const { followRunLink } = await load();
        await followRunLink(link, { accounts, sessions, show, onError: reportError });
      },
    }),
  );
  const offersDownload = () => downloadWhenCompleteSetting() !== 'off' && autoDownloadFolder() === undefined;
  disposables.add(
    new RunNotices({
      sessions,
      notices,
      ensureActiveAccount,
      offersDownload,
      faultOf: sandboxFault.get(),
      receiptsOf,
    }),
  );

  commands.add('account', {
    [COMMANDS.refresh]: async () => (await load()).refresh(sessions),
    [COMMANDS.loadMoreRuns]: async () => (await load()).loadMoreRuns(sessions),
    [COMMANDS.loadAllRuns]: async () => (await load()).loadAllRuns(sessions),
    [COMMANDS.findRuns]: async () => (await load()).findRuns(),
    [COMMANDS.showRun]: async (run) => (await load()).showRun(sessions, show, run),
    [COMMANDS.copyRunId]: async (run) => (await load()).copyRunId(sessions, run),
    [COMMANDS.openModelTerms]: async (model) => (await load()).openModelLink(sessions, 'terms_url', model),
    [COMMANDS.openModelUsePolicy]: async (model) =>
      (await load()).openModelLink(sessions, 'use_policy_url', model),
  });
}
