import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdir, rename, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { DatasetChecker, type CheckerFiles } from '../../src/dataset/checker.ts';

const root = path.join(import.meta.dirname, '../..');
const scanner = path.join(root, 'test-results/scanner.wasm');
const compiler = path.join(root, 'node_modules/assemblyscript/bin/asc.js');

/** The worker's source and the scanner compiled from its own, if it was changed since. */
export async function checkerFiles(): Promise<CheckerFiles> {
  const sources = globSync('src/dataset/scanner/*', { cwd: root }).map((file) => path.join(root, file));
  const changedMs = await Promise.all(sources.map(async (file) => (await stat(file)).mtimeMs));
  const builtMs = await stat(scanner).then(
    ({ mtimeMs }) => mtimeMs,
    () => -Infinity,
  );
  if (builtMs < Math.max(...changedMs)) {
    await mkdir(path.dirname(scanner), { recursive: true });
    const temporary = `${scanner}.${process.pid}`;
    const config = path.join(root, 'src/dataset/scanner/asconfig.json');
    // As a program: the compiler's types would replace those of JavaScript's own classes.
    await promisify(execFile)(process.execPath, [compiler, '--config', config, '--outFile', temporary]);
    await rename(temporary, scanner);
  }
  return { worker: path.join(root, 'src/dataset/worker.ts'), scanner };
}

/** A checker over the sources; the caller disposes it. */
export async function datasetChecker(): Promise<DatasetChecker> {
  return new DatasetChecker(await checkerFiles());
}
