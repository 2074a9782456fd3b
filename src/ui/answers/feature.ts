import path from 'node:path';
import * as vscode from 'vscode';
import { lazy } from '../../core/base/async.ts';
import type { Services } from '../../services.ts';
import { COMMANDS, PANELS } from '../shared/ids.ts';
import { ComparisonOffers } from './offerComparison.ts';

/** The page that compares the answers of base model and adapter, and the commands that open it. */
export function activateAnswers(services: Services): void {
  const { commands, context, disposables, dist, log } = services;
  const sample = path.join(context.extensionPath, 'media/walkthrough/sample.answers.jsonl');
  const panels = lazy(async () => {
    const { answersPanels } = await import('./answersPage.ts');
    const { extensionUri } = context;
    return disposables.add(answersPanels({ extensionUri, worker: dist('answersWorker.cjs'), sample, log }));
  });
  disposables.add(
    vscode.window.registerWebviewPanelSerializer(PANELS.answers, {
      deserializeWebviewPanel: async (panel, state) => (await panels()).deserializeWebviewPanel(panel, state),
    }),
  );
  disposables.add(new ComparisonOffers(log));
  commands.add('nothing', {
    [COMMANDS.compareAnswers]: async (...args) =>
      (await import('./compareAnswers.ts')).compareAnswers(
        async (file) => void (await panels()).show({ file }),
        ...args,
      ),
    [COMMANDS.openSampleComparison]: async () => void (await panels()).show({ file: sample }),
  });
}
