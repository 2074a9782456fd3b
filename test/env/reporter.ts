import type { MochaOptions, Runner } from 'mocha';
import { Mocha } from './mocha.ts';
import { failureOf, slowestOf, writeReport, type TimedTest } from './report.ts';

/** Mocha's default output, and a report in the file named by the reporter option `output`. */
export default class PartReporter extends Mocha.reporters.Spec {
  constructor(runner: Runner, options: MochaOptions) {
    super(runner, options);
    const { output } = options.reporterOptions as { output: string };
    const failed: string[] = [];
    const timed: TimedTest[] = [];
    runner.on('fail', (test, error) => failed.push(failureOf(test, error)));
    runner.on('test end', (test) => timed.push({ title: test.fullTitle(), ms: test.duration ?? 0 }));
    runner.once('end', () => {
      const { passes, failures, pending } = this.stats;
      const counts = { passed: passes, failed: failures, skipped: pending };
      writeReport(output, { ...counts, failures: failed, slowest: slowestOf(timed) });
    });
  }
}
