// Leaves the files of a process that was killed while it named its part, on a file system without hard links.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

/** Names a part in another process, which is killed when only the name is claimed. */
export async function killWhileNaming(part: string, target: string): Promise<void> {
  const child = spawn(process.execPath, [import.meta.filename, part, target], { stdio: 'inherit' });
  await once(child, 'close');
}

async function nameAndDie(part: string, target: string): Promise<void> {
  fs.rename = () => Promise.resolve(void process.kill(process.pid, 'SIGKILL'));
  syncBuiltinESMExports();
  const { nameExclusively } = await import('../../src/core/base/exclusiveName.ts');
  await nameExclusively(part, target, () => Promise.reject(new Error('no hard links')));
}

const [, , part, target] = process.argv;
if (import.meta.filename === process.argv[1] && part !== undefined && target !== undefined)
  void nameAndDie(part, target);
