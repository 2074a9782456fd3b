import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { ChildTask } from './apiChild.ts';

/** Runs a task in a Node process of its own and returns what it says. */
export async function runChild(
  task: ChildTask,
  env: Record<string, string> = {},
): Promise<Record<string, unknown>> {
  const child = fileURLToPath(new URL('apiChild.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [child, JSON.stringify(task)], {
    // Nothing of the machine's own proxies and certificates.
    env: { PATH: process.env['PATH'], ...env },
  });
  return JSON.parse(stdout) as Record<string, unknown>;
}
