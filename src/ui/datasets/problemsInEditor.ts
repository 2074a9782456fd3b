import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import type { Reports } from '../../core/datasets/reports.ts';
import type { Log } from '../shared/log.ts';
import { AutoCheck } from './autoCheck.ts';
import { DatasetFixes } from './datasetFixes.ts';
import { DatasetProblems } from './datasetProblems.ts';
import type { DatasetRuns } from './datasetRuns.ts';
import { DatasetStatus } from './datasetStatus.ts';

/** Shows what checks find: Problems, language status, CodeLens and quick fixes; checks documents that are opened or saved. */
export function showProblemsInEditor(reports: Reports, runs: DatasetRuns, log: Log): Disposable {
  const store = new DisposableStore();
  store.add(new DatasetProblems(reports));
  store.add(new DatasetStatus(reports, runs));
  store.add(new DatasetFixes(reports));
  store.add(new AutoCheck(reports, log));
  return store;
}
