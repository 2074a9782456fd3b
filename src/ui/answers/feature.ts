import path from 'node:path';
import * as vscode from 'vscode';
import { lazy } from '../../core/base/async.ts';
import type { Services } from '../../services.ts';
import { COMMANDS, PANELS } from '../shared/ids.ts';
import { inBackground } from '../shared/log.ts';

/** The page that compares the answers of base model and adapter, and the commands that open it. */
export function activateAnswers(services: Services): void {
  const { commands, context, disposables, fingerprints, journal, log, openJournal } = services;
  const sample = path.join(context.extensionPath, 'media/walkthrough/sample.answers.jsonl');
  const submitted = { fingerprints, journal, openJournal };
  const parts = { sample, submitted, log };
  const panels = lazy(async () => {
    const { answersPanels } = await import('./answersPage.ts');
    return disposables.add(answersPanels({ extensionUri: context.extensionUri, ...parts }));
  });
  services.answersVerdict.provide(async (runId, file, signal) =>
    (await import('./answersView.ts')).verdictFor(runId, file, parts, signal),
  );
  disposables.add(
    vscode.window.registerWebviewPanelSerializer(PANELS.answers, {
      deserializeWebviewPanel: async (panel, state) => (await panels()).deserializeWebviewPanel(panel, state),
    }),
  );
  const offers = lazy(async () =>
    disposables.add(new (await import('./offerComparison.ts')).ComparisonOffers(log)),
  );
  // Nothing is offered before the first JSONL document opens.
  const load = ({ languageId }: vscode.TextDocument): void => {
    if (languageId === 'jsonl') inBackground(log, offers());
  };
  disposables.add(vscode.workspace.onDidOpenTextDocument(load));
  vscode.workspace.textDocuments.forEach(load);
  const show = async (file: string, other?: string) => void (await panels()).show({ file, other });
  commands.add('nothing', {
    [COMMANDS.compareAnswers]: async (...args) =>
      (await import('./compareAnswers.ts')).compareAnswers(show, ...args),
    [COMMANDS.compareTwoAnswers]: async (...args) =>
      (await import('./compareAnswers.ts')).compareTwoAnswers(show, ...args),
    [COMMANDS.openSampleComparison]: async () => void (await panels()).show({ file: sample }),
  });
}
