// The entry point in the extension host: VS Code calls `run` once the window is ready.
import { globSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { format } from 'node:util';
import { Mocha, testLineMark } from '../env/mocha.ts';
import { readReport, writeReport } from '../env/report.ts';
import PartReporter from '../env/reporter.ts';

/** Runs every bundled test beside this file and writes the report. Rejects if a test failed. */
export async function run(): Promise<void> {
  const output = process.env.FINE_TUNING_TEST_REPORT;
  if (!output) throw new Error('FINE_TUNING_TEST_REPORT names no file');
  Mocha.reporters.Base.consoleLog = (...args: unknown[]) => console.info(testLineMark + format(...args));
  const stray = watchStrayErrors();
  const mocha = new Mocha({
    timeout: 180_000,
    forbidOnly: process.env.CI !== undefined,
    reporter: PartReporter,
    reporterOptions: { output: `${output}.tests` },
  });
  for (const file of globSync('**/*.test.cjs', { cwd: __dirname }).sort())
    mocha.addFile(path.join(__dirname, file));
  await new Promise<void>((resolve) => mocha.run(() => resolve()));
  // An unhandled rejection is reported only after the microtasks that could have handled it.
  await sleep(100);
  const report = await readReport(`${output}.tests`);
  if (!report) throw new Error('mocha wrote no report');
  const errors = stray();
  for (const error of errors)
    console.error('Not handled by anyone:', error instanceof Error ? error.stack : error);
  writeReport(output, { ...report, failed: report.failed + errors.length });
  if (report.failed + errors.length > 0)
    throw new Error(`${report.failed} tests failed, ${errors.length} stray errors`);
}

/** Collects uncaught errors of the tests and the extension. @returns a function that returns them */
function watchStrayErrors(): () => unknown[] {
  const exceptions: unknown[] = [];
  const rejections = new Map<Promise<unknown>, unknown>();
  process.on('uncaughtException', (error) => exceptions.push(error));
  process.on('unhandledRejection', (reason, promise) => {
    // VS Code's search lacks ripgrep here, because its package is installed without scripts.
    if (!/ripgrep.*ENOENT/.test(String(reason))) rejections.set(promise, reason);
  });
  process.on('rejectionHandled', (promise) => rejections.delete(promise));
  return () => [...exceptions, ...rejections.values()];
}
