import * as vscode from 'vscode';
import { lazy } from '../../core/base/async.ts';
import type { Services } from '../../services.ts';
import { COMMANDS, PANELS } from '../shared/ids.ts';

/** Registers the adapter page and the commands that open it. */
export function activateAdapters(services: Services): void {
  const { accounts, context, disposables, dist, downloads, log, commands, sessions } = services;
  const runOf = async (file: string) => (await import('./adapterRun.ts')).adapterRun(services, file);
  const panels = lazy(async () => {
    const { adapterPanels } = await import('./adapterPage.ts');
    const { extensionUri } = context;
    return disposables.add(adapterPanels({ extensionUri, worker: dist('adapterWorker.cjs'), runOf, log }));
  });
  disposables.add(
    vscode.window.registerWebviewPanelSerializer(PANELS.adapter, {
      deserializeWebviewPanel: async (panel, state) => (await panels()).deserializeWebviewPanel(panel, state),
    }),
  );
  const showPage = async (file: string, block: string) => {
    const page = (await panels()).show({ file });
    void page.check();
    page.reveal(block);
  };
  commands.add('nothing', {
    [COMMANDS.inspectAdapter]: async (...args) =>
      (await import('./inspectAdapter.ts')).inspectAdapter(accounts, sessions, downloads, showPage)(...args),
  });
}
