import type { Services } from '../../services.ts';
import { COMMANDS } from '../shared/ids.ts';
import { AutoCheck } from './autoCheck.ts';
import { DatasetFixes } from './datasetFixes.ts';
import { DatasetPreviews } from './datasetPreviews.ts';
import { DatasetProblems } from './datasetProblems.ts';
import { DatasetStatus } from './datasetStatus.ts';

/** What is wrong with a dataset, and what is in it. */
export function activateDatasets(services: Services): void {
  const { context, disposables, log, registerCommands, reports } = services;
  const previews = disposables.add(new DatasetPreviews(context.extensionUri, reports, log));
  disposables.add(new DatasetProblems(reports));
  disposables.add(new DatasetStatus(reports));
  disposables.add(new DatasetFixes());
  disposables.add(new AutoCheck(reports, log));
  disposables.add(
    registerCommands('nothing', {
      [COMMANDS.checkDataset]: async (...args) =>
        (await import('./checkDataset.ts')).checkDataset(reports, log, ...args),
      [COMMANDS.showDatasetProblems]: async (...args) =>
        (await import('./checkDataset.ts')).showDatasetProblems(reports, ...args),
      [COMMANDS.writeArrayAsLines]: async (...args) =>
        (await import('./rewriteDataset.ts')).rewriteDatasetBeside('array-to-lines', ...args),
      [COMMANDS.copyWithoutByteOrderMark]: async (...args) =>
        (await import('./rewriteDataset.ts')).rewriteDatasetBeside('without-bom', ...args),
      [COMMANDS.previewDataset]: async (...args) => previews.preview(...args),
    }),
  );
}
