import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { ChildTask } from './apiChild.ts';

/** Runs a task in a separate Node process and returns its result. */
export async function runChild(
  task: ChildTask,
  env: Record<string, string> = {},
): Promise<Record<string, unknown>> {
  const child = fileURLToPath(new URL('apiChild.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [child, JSON.stringify(task)], {
    // Excludes the machine's proxies and certificates.
    env: { PATH: process.env['PATH'], ...env },
  });
  return JSON.parse(stdout) as Record<string, unknown>;
}
