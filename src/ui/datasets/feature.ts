import * as vscode from 'vscode';
import { lazy } from '../../core/base/async.ts';
import type { Services } from '../../services.ts';
import { COMMANDS, EDITORS } from '../shared/ids.ts';
import { inBackground } from '../shared/log.ts';
import { onDidChangeSettings } from '../shared/settings.ts';
import type { PreviewDocument } from './previewDocument.ts';

/** Registers the dataset commands and the preview, and loads the checks. */
export function activateDatasets(services: Services): void {
  const { context, checked, commands, disposables, dist, journal, log } = services;
  /** Dataset checks, their evaluation against earlier runs, and the display of problems in the editor. */
  const datasets = lazy(async () => {
    const { startChecks } = await import('./checks.ts');
    const files = { worker: dist('datasetWorker.cjs'), scanner: dist('scanner.wasm') };
    const loaded = startChecks(disposables, files, services);
    loaded.reports.onDidCheck(() => checked.fire());
    return loaded;
  });
  const reports = async () => (await datasets()).reports;
  services.datasetReports.provide(reports);
  services.datasetReadings.provide(async () => (await datasets()).readings);
  services.datasetChecker.provide(async () => (await datasets()).checker);
  services.rowComparer.provide(async () => (await datasets()).comparer);
  const previews = lazy(async () => {
    const { DatasetPreviews } = await import('./datasetPreviews.ts');
    return disposables.add(new DatasetPreviews(context.extensionUri, await datasets(), log));
  });
  const provider: vscode.CustomReadonlyEditorProvider<PreviewDocument> = {
    openCustomDocument: async (uri) => (await previews()).openCustomDocument(uri),
    resolveCustomEditor: async (document, panel) => (await previews()).resolveCustomEditor(document, panel),
  };
  disposables.add(
    vscode.window.registerCustomEditorProvider(EDITORS.datasetPreview, provider, {
      supportsMultipleEditorsPerDocument: true,
    }),
  );
  // The journal changes when it is opened, and at each charge.
  const rows = lazy(async () => (await import('./rememberRows.ts')).rowsKeeper(services));
  const update = async () => (await rows())();
  disposables.add(journal.onDidChange(() => inBackground(log, update())));
  disposables.add(onDidChangeSettings(['rememberRows'], () => inBackground(log, update())));
  // Load the checks when the first JSONL document opens.
  const load = ({ languageId }: vscode.TextDocument): void => {
    if (languageId === 'jsonl') reports().catch((error: unknown) => log.error('datasets', error));
  };
  disposables.add(vscode.workspace.onDidOpenTextDocument(load));
  vscode.workspace.textDocuments.forEach(load);
  commands.add('nothing', {
    [COMMANDS.checkDataset]: async (...args) =>
      (await import('./checkDataset.ts')).checkDataset(await reports(), log, ...args),
    [COMMANDS.showDatasetProblems]: async (...args) =>
      (await import('./checkDataset.ts')).showDatasetProblems(await reports(), ...args),
    [COMMANDS.convertToJsonl]: async (...args) => {
      const parts = { worker: dist('convertWorker.cjs'), log, memory: context.globalState };
      const { convertToJsonl } = await import('./convertToJsonl.ts');
      return convertToJsonl({ ...parts, reports: await reports() }, ...args);
    },
    [COMMANDS.prepareDataset]: async (...args) => {
      const { checker, readings, reports: known } = await datasets();
      const { prepareDatasetCopy } = await import('./prepareCopy.ts');
      const { fingerprints } = services;
      return prepareDatasetCopy({ checker, fingerprints, readings, reports: known, log }, ...args);
    },
    [COMMANDS.previewDataset]: async (...args) => (await previews()).preview(...args),
  });
}
