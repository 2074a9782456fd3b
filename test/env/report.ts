// The result of a part of `npm test` is a file, because an exit code can be 0 although no test ran.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** The number of tests of one part. Skipped tests do not count as passed. */
export interface Report {
  passed: number;
  failed: number;
  skipped: number;
  /** The title and the message of each failed test, for the summary: the end of a log is often all that is kept. */
  failures?: readonly string[];
  /** The tests that took longest, longest first. */
  slowest?: readonly TimedTest[];
}

/** A test and its duration. */
export interface TimedTest {
  title: string;
  ms: number;
}

/** Of how many tests a report has the durations. */
const SLOWEST = 10;

/** The slowest of some tests, longest first. */
export function slowestOf(tests: readonly TimedTest[]): TimedTest[] {
  return tests.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST);
}

/** A failed test in a summary. @param error an object with a message; an error of a parallel process is no Error here */
export function failureOf(test: { fullTitle(): string }, error: unknown): string {
  const message = String((error as { message?: unknown }).message);
  return `${test.fullTitle()}: ${message.slice(0, 2000)}`;
}

/** Writes a report atomically. */
export function writeReport(file: string, report: Report): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(`${file}.part`, JSON.stringify(report));
  renameSync(`${file}.part`, file);
}

/** Reads a report; undefined if there is none or it is invalid. */
export async function readReport(file: string): Promise<Report | undefined> {
  try {
    const { passed, failed, skipped, failures, slowest } = JSON.parse(
      await readFile(file, 'utf8'),
    ) as Partial<Record<string, unknown>>;
    const isCount = (value: unknown): value is number => Number.isInteger(value);
    if (!isCount(passed) || !isCount(failed) || !isCount(skipped)) return undefined;
    return {
      ...{ passed, failed, skipped },
      failures: Array.isArray(failures) ? failures.map(String) : [],
      slowest: Array.isArray(slowest) ? (slowest as TimedTest[]) : [],
    };
  } catch {
    return undefined;
  }
}
