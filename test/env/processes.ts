// Child processes that never outlive this one: each has a separate process group, which is killed when this process exits.
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
    // The next signal ends this process at once.
    void Promise.all([...groups].map((child) => endGroup(child))).finally(() => process.exit(code));
  });
}

/** Starts a command in a separate process group, which is killed at the latest when this process exits. */
export function startGroup(
  command: string,
  args: readonly string[],
  options: SpawnOptions = {},
): ChildProcess {
  // On Windows, a group would be a console window.
  const child = spawn(command, args, { ...options, detached: process.platform !== 'win32' });
  groups.add(child);
  // Without a listener, a missing command would be an uncaught exception; `groupEnd` returns null for it.
  child.on('error', () => groups.delete(child));
  return child;
}

/**
 * Waits until a child of `startGroup` ends. The rest of its group is killed after 2 more seconds.
 * @returns the exit code, or null after a signal or if the command never started
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

/** Terminates a group, and kills it after `graceMs`. */
export async function endGroup(child: ChildProcess, graceMs = 5000): Promise<void> {
  signalGroup(child, 'SIGTERM');
  const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), graceMs);
  await groupEnd(child);
  clearTimeout(timer);
}

/** Kills a group. Waits only for the child, because other processes may remain as zombies until they are reaped. */
export async function killGroup(child: ChildProcess): Promise<void> {
  const isOver = child.exitCode !== null || child.signalCode !== null;
  const exit = isOver || child.pid === undefined ? undefined : once(child, 'exit');
  signalGroup(child, 'SIGKILL');
  await exit;
  groups.delete(child);
}

/** Sends a signal, or only checks for the group with 0. @returns false if the group has ended */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  // The ID of an ended group may have been reused.
  if (child.pid === undefined || !groups.has(child)) return false;
  // Windows has no groups.
  if (process.platform === 'win32') return child.kill(signal);
  try {
    return process.kill(-child.pid, signal);
  } catch {
    return false;
  }
}

/** Only for what hangs: on a busy machine everything takes many times as long. */
const DEFAULT_TIMEOUT_MS = 10 * 60_000;

export interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  timeoutMs?: number;
  /** `show` prints the output; `hide` only adds it to the error message. */
  output: 'show' | 'hide';
}

/**
 * Runs a command to its end.
 * @returns the standard output if it is hidden
 * @throws SetUpError with the end of the output if the command fails, is missing, or takes too long
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
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), timeoutMs);
  const code = await groupEnd(child);
  clearTimeout(timer);
  if (code === 0) return stdout;
  const what = `${command} ${args.join(' ')}`;
  const how =
    child.signalCode === 'SIGKILL' && performance.now() - startedMs >= timeoutMs
      ? `took more than ${timeoutMs / 1000} s`
      : child.pid === undefined
        ? 'was not found'
        : `failed (${code ?? child.signalCode})`;
  throw new SetUpError(`${what} ${how}${all ? `:\n${all.trim().split('\n').slice(-20).join('\n')}` : ''}`);
}

/** This process's environment without variables that make VS Code attach to another instance. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  const foreign = /^(VSCODE_|CODE_SERVER|ELECTRON_|PORT$|PASSWORD$|HASHED_PASSWORD$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
}
