// Child processes that never outlive this one: each stands in a process group of its own, and the group is ended with it.
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { SetUpError } from './project.ts';

const groups = new Set<ChildProcess>();

process.on('exit', () => {
  for (const child of groups) signalGroup(child, 'SIGKILL');
});
for (const [signal, code] of [
  ['SIGHUP', 129],
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.once(signal, () => {
    // The next signal ends it at once.
    void Promise.all([...groups].map((child) => endGroup(child))).finally(() => process.exit(code));
  });
}

/** Starts a command in a process group of its own, which is killed at the latest when this process exits. */
export function startGroup(
  command: string,
  args: readonly string[],
  options: SpawnOptions = {},
): ChildProcess {
  const child = spawn(command, args, { ...options, detached: true });
  groups.add(child);
  // Without a listener a missing command would be an uncaught exception; who waits for the end sees it as code null.
  child.on('error', () => groups.delete(child));
  return child;
}

/**
 * Waits until a child of `startGroup` ends. What it started has 2 s more to end, too, and is then killed.
 * @returns its exit code; null after a signal, or if it never started.
 */
export async function groupEnd(child: ChildProcess): Promise<number | null> {
  if (child.pid === undefined) return null;
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  const giveUpAt = performance.now() + 2000;
  while (signalGroup(child, 0) && performance.now() < giveUpAt) await sleep(50);
  signalGroup(child, 'SIGKILL');
  groups.delete(child);
  return child.exitCode;
}

/** Asks a group to end, and kills it after `graceMs`. */
export async function endGroup(child: ChildProcess, graceMs = 5000): Promise<void> {
  signalGroup(child, 'SIGTERM');
  const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), graceMs);
  await groupEnd(child);
  clearTimeout(timer);
}

/** Ends a group at once. Its other processes may stay a moment as zombies, until somebody reaps them: they are not waited for. */
export async function killGroup(child: ChildProcess): Promise<void> {
  const isOver = child.exitCode !== null || child.signalCode !== null;
  const exit = isOver || child.pid === undefined ? undefined : once(child, 'exit');
  signalGroup(child, 'SIGKILL');
  await exit;
  groups.delete(child);
}

/** False where the group has ended; 0 only asks. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  // The number of a group that is no longer ours may have gone to another.
  if (child.pid === undefined || !groups.has(child)) return false;
  try {
    return process.kill(-child.pid, signal);
  } catch {
    return false;
  }
}

export interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** The command is killed after this time. */
  timeoutMs: number;
  /** `show` passes the output on; `hide` keeps it for the error message. */
  output: 'show' | 'hide';
}

/**
 * Runs a command to its end.
 * @returns the standard output when it is hidden.
 * @throws SetUpError with the end of the output if it fails, is missing or takes too long.
 */
export async function run(command: string, args: readonly string[], options: RunOptions): Promise<string> {
  const stdio = options.output === 'show' ? 'inherit' : 'pipe';
  const child = startGroup(command, args, {
    cwd: options.cwd,
    env: options.env,
    stdio: ['ignore', stdio, stdio],
  });
  let stdout = '';
  let all = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    all += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (all += text));
  const startedMs = performance.now();
  const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), options.timeoutMs);
  const code = await groupEnd(child);
  clearTimeout(timer);
  if (code === 0) return stdout;
  const what = `${command} ${args.join(' ')}`;
  const how =
    child.signalCode === 'SIGKILL' && performance.now() - startedMs >= options.timeoutMs
      ? `took more than ${options.timeoutMs / 1000} s`
      : child.pid === undefined
        ? 'was not found'
        : `failed (${code ?? child.signalCode})`;
  throw new SetUpError(`${what} ${how}${all ? `:\n${all.trim().split('\n').slice(-20).join('\n')}` : ''}`);
}

/** The environment of this process without what would make a started VS Code take itself for a part of another one. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const foreign = /^(VSCODE_|CODE_SERVER|ELECTRON_|PORT$|PASSWORD$|HASHED_PASSWORD$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
}
