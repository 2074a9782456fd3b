import type { MochaOptions, Runner } from 'mocha';
import { Mocha } from './mocha.ts';
import { failureOf, writeReport } from './report.ts';

/** Mocha's default output, and a report in the file named by the reporter option `output`. */
export default class PartReporter extends Mocha.reporters.Spec {
  constructor(runner: Runner, options: MochaOptions) {
    super(runner, options);
    const { output } = options.reporterOptions as { output: string };
    const failed: string[] = [];
    runner.on('fail', (test, error) => failed.push(failureOf(test, error)));
    runner.once('end', () => {
      const { passes, failures, pending } = this.stats;
      writeReport(output, { passed: passes, failed: failures, skipped: pending, failures: failed });
    });
  }
}
