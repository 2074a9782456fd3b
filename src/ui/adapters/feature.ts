import * as vscode from 'vscode';
import { lazy } from '../../core/base/async.ts';
import type { Services } from '../../services.ts';
import { COMMANDS, PANELS } from '../shared/ids.ts';

/** Registers the adapter page and the command that opens it. */
export function activateAdapters(services: Services): void {
  const { context, disposables, dist, downloads, log, commands, sessions } = services;
  const panels = lazy(async () => {
    const { adapterPanels } = await import('./adapterPage.ts');
    const { extensionUri } = context;
    return disposables.add(adapterPanels({ extensionUri, worker: dist('adapterWorker.cjs'), log }));
  });
  disposables.add(
    vscode.window.registerWebviewPanelSerializer(PANELS.adapter, {
      deserializeWebviewPanel: async (panel, state) => (await panels()).deserializeWebviewPanel(panel, state),
    }),
  );
  commands.add('nothing', {
    [COMMANDS.inspectAdapter]: async (...args) => {
      const { inspectAdapter } = await import('./inspectAdapter.ts');
      const show = async (file: string) => void (await panels()).show({ file }).check();
      await inspectAdapter(sessions, downloads, show)(...args);
    },
  });
}
