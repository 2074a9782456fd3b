import * as vscode from 'vscode';
import { lazy } from '../../core/base/async.ts';
import type { Services } from '../../services.ts';
import { COMMANDS, PANELS } from '../shared/ids.ts';

/** An account's spending page and budget. */
export function activateMoney(services: Services): void {
  const { accounts, disposables, commands, sessions } = services;
  const panels = lazy(async () => disposables.add((await import('./spendPage.ts')).spendPanels(services)));
  disposables.add(
    vscode.window.registerWebviewPanelSerializer(PANELS.spend, {
      deserializeWebviewPanel: async (panel, state) => (await panels()).deserializeWebviewPanel(panel, state),
    }),
  );
  commands.add('account', {
    [COMMANDS.showSpend]: async () => {
      const { active } = accounts;
      if (active !== undefined) (await panels()).show({ accountId: active.id });
    },
    [COMMANDS.setBudget]: async () => (await import('./setBudget.ts')).setBudget(accounts, sessions),
  });
}
