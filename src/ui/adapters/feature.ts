import * as vscode from 'vscode';
import { lazy } from '../../core/base/lazy.ts';
import type { Services } from '../../services.ts';
import { COMMANDS, PANELS } from '../shared/ids.ts';

/** The page of an adapter: what is in it, and the commands that load it. */
export function activateAdapters(services: Services): void {
  const { context, disposables, dist, downloads, log, registerCommands, sessions } = services;
  const panels = lazy(async () => {
    const { AdapterPanels } = await import('./adapterPanel.ts');
    return disposables.add(new AdapterPanels(context.extensionUri, dist('measureWorker.cjs'), log));
  });
  disposables.add(
    vscode.window.registerWebviewPanelSerializer(PANELS.adapter, {
      deserializeWebviewPanel: async (panel, state) => (await panels()).restore(panel, state),
    }),
  );
  disposables.add(
    registerCommands('nothing', {
      [COMMANDS.inspectAdapter]: async (...args) => {
        const show = async (file: string) => (await panels()).show(file);
        await (await import('./inspectAdapter.ts')).inspectAdapter(sessions, downloads, show)(...args);
      },
    }),
  );
}
