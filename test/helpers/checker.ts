import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { DatasetChecker, type CheckerFiles, type CheckOptions } from '../../src/core/datasets/checker.ts';
import type { Problem } from '../../src/core/datasets/problems.ts';
import type { Report } from '../../src/core/datasets/report.ts';

const root = path.join(import.meta.dirname, '../..');
const scanner = path.join(root, 'test-results/scanner.wasm');
const compiler = path.join(root, 'node_modules/assemblyscript/bin/asc.js');

/** Returns the worker's source file and the scanner, recompiled if its source has changed. */
export async function checkerFiles(): Promise<CheckerFiles> {
  const sources = globSync('src/core/datasets/scanner/*', { cwd: root }).map((file) => path.join(root, file));
  const changedMs = await Promise.all(sources.map(async (file) => (await stat(file)).mtimeMs));
  const builtMs = await stat(scanner).then(
    ({ mtimeMs }) => mtimeMs,
    () => -Infinity,
  );
  if (builtMs < Math.max(...changedMs)) {
    await mkdir(path.dirname(scanner), { recursive: true });
    const temporary = `${scanner}.${process.pid}`;
    const config = path.join(root, 'src/core/datasets/scanner/asconfig.json');
    // In a separate process, because the compiler's types would replace those of built-in classes.
    await promisify(execFile)(process.execPath, [compiler, '--config', config, '--outFile', temporary]);
    await rename(temporary, scanner);
  }
  return { worker: path.join(root, 'src/core/datasets/worker.ts'), scanner };
}

/** Provides a checker and a folder for the tests of the `describe` that calls this. */
export function useChecker(): { check: Check; checker: () => DatasetChecker; folder: () => string } {
  let checker: DatasetChecker | undefined;
  let folder: string | undefined;
  let files = 0;

  before(async () => {
    checker = new DatasetChecker(await checkerFiles());
    folder = await mkdtemp(path.join(tmpdir(), 'dataset-test-'));
  });

  after(async () => {
    await checker?.dispose();
    if (folder !== undefined) await rm(folder, { recursive: true });
  });

  return {
    check: async (content, options) => {
      const file = path.join(folder!, `${++files}.jsonl`);
      await writeFile(file, content);
      return checker!.check(file, options);
    },
    checker: () => checker!,
    folder: () => folder!,
  };
}

export type Check = (content: string | Uint8Array, options?: CheckOptions) => Promise<Report>;

/** All located problems, in file order. */
export function problemsOf(report: Report): Problem[] {
  return report.problems.flatMap((group) => [...group]).sort((one, other) => one.offset - other.offset);
}

/** The codes of a row's problems, sorted by name. */
export function codesOf(report: Report, row: number): string[] {
  return problemsOf(report)
    .filter((problem) => problem.row === row)
    .map(({ code }) => code)
    .sort();
}
