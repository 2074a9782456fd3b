// What a part of the tests tells `npm test`: a small file, because an exit code alone can be green although nothing ran.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

/** The counts of one part. A skipped test has not passed. */
export interface Report {
  passed: number;
  failed: number;
  skipped: number;
}

/** Writes a report whole or not at all. */
export function writeReport(file: string, report: Report): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(`${file}.part`, JSON.stringify(report));
  renameSync(`${file}.part`, file);
}

/** The report in a file, undefined if there is none or it is not one. */
export async function readReport(file: string): Promise<Report | undefined> {
  try {
    const { passed, failed, skipped } = JSON.parse(await readFile(file, 'utf8')) as Partial<
      Record<string, unknown>
    >;
    const isCount = (value: unknown): value is number => Number.isInteger(value);
    return isCount(passed) && isCount(failed) && isCount(skipped) ? { passed, failed, skipped } : undefined;
  } catch {
    return undefined;
  }
}
