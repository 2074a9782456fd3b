import { kindByFirstRow } from '../../core/answers/answersFile.ts';
import type { DisposableStore } from '../../core/base/disposable.ts';
import { DatasetChecker } from '../../core/datasets/checker.ts';
import { readFacts, type Reading } from '../../core/datasets/readFacts.ts';
import { Reports } from '../../core/datasets/reports.ts';
import type { Log } from '../shared/log.ts';
import { checkAutomatically, readAutomatically } from './autoCheck.ts';
import { offerFixes } from './datasetFixes.ts';
import { showProblems } from './datasetProblems.ts';
import { DatasetRuns, type DatasetRunsParts } from './datasetRuns.ts';
import { DatasetStatus } from './datasetStatus.ts';

/**
 * Starts dataset checks and shows their results in the editor: Problems, language status, CodeLens, quick
 * fixes. Checks documents automatically when they are opened or saved.
 * @param files paths of the worker script and the scanner
 */
export function startChecks(
  disposables: DisposableStore,
  files: { worker: string; scanner: string },
  parts: DatasetRunsParts & { log: Log },
) {
  const checker = disposables.add(new DatasetChecker(files));
  // Has its own thread, so that no check waits for a comparison.
  const comparer = disposables.add(new DatasetChecker(files));
  const reports = disposables.add(
    new Reports({
      check: async (path, options) => {
        const report = await checker.check(path, options);
        return { ...report, kind: (await kindByFirstRow(path)) ?? report.kind };
      },
    }),
  );
  const readings = disposables.add(new Reports<Reading>({ check: readFacts }));
  const runs = disposables.add(new DatasetRuns(reports, parts));
  disposables.add(showProblems(reports));
  disposables.add(new DatasetStatus(reports, runs));
  disposables.add(offerFixes(reports));
  disposables.add(checkAutomatically(reports, parts.log));
  disposables.add(readAutomatically(reports, readings, parts.log));
  return { checker, comparer, reports, readings, runs };
}
