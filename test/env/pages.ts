// Builds the extension, and runs the files of test/pages/ in plain Chromium: all, or those whose paths contain an argument.
import { globSync } from 'node:fs';
import { chromium } from './chromium.ts';
import { mochaPart } from './parts.ts';
import { groupEnd, run, startGroup } from './processes.ts';
import { fail, root } from './project.ts';

async function main(): Promise<void> {
  await chromium();
  await run(process.execPath, ['esbuild.js'], { cwd: root, output: 'show' });
  const only = process.argv.slice(2);
  const files = globSync('test/pages/*.test.ts', { cwd: root }).filter(
    (file) => only.length === 0 || only.some((part) => file.includes(part)),
  );
  const options = ['--no-config', '--require', './test/helpers/memoryFolder.ts', '--timeout', '120000'];
  const { command, args } = mochaPart('pages', [...options, ...files.flatMap((file) => ['--spec', file])]);
  process.exitCode = (await groupEnd(startGroup(command, args, { cwd: root, stdio: 'inherit' }))) ?? 1;
}

main().catch(fail);
