// Runs parts of the tests, each in a process group of its own with a time limit, and prints the totals.
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { endGroup, groupEnd, startGroup } from './processes.ts';
import { results, root } from './project.ts';
import { readReport, slowestOf, type Report, type TimedTest } from './report.ts';

export interface Part {
  name: string;
  command: string;
  args: readonly string[];
  limitMs: number;
  /** The report that the part writes; without one, the part counts as one test, which passes with exit code 0. */
  report?: string;
  /** Prints the output only when the part has ended, because it runs beside others. */
  isQuiet?: boolean;
}

interface Outcome extends Report {
  why?: string;
  /** The processor time of the part and its children; undefined if the part was killed. */
  cpuSeconds: number | undefined;
}

/** Time limit of all parts together. */
const TOTAL_LIMIT_MS = 75 * 60_000;
/**
 * Runs a command. Writes the processor time of it and its children to the file in the first argument.
 * Processes that outlive their parent, such as a browser's, don't count. A signal for the group ends only the
 * command.
 */
const TIMED = 'trap : TERM INT HUP; file=$1; shift; "$@"; code=$?; times > "$file"; exit $code';

export const node = process.execPath;
const mocha = path.join(root, 'node_modules/mocha/bin/mocha.js');

export function reportFile(name: string): string {
  return path.join(results, 'reports', `${name}.json`);
}

/** The path of a script beside this one. */
export function script(name: string): string {
  return path.join(import.meta.dirname, name);
}

/** Types, rules and format of every file. */
export const lintPart: Part = {
  name: 'lint',
  command: 'npm',
  args: ['run', 'lint', '--loglevel=error'],
  limitMs: 300_000,
  isQuiet: true,
};

/** Mocha's tests without VS Code, in two processes. @param args mocha's own arguments */
export function mochaPart(name: string, args: readonly string[], limitMs = 2_400_000): Part {
  const output = ['--reporter', script('reporter.ts'), '--reporter-option', `output=${reportFile(name)}`];
  return {
    name,
    command: node,
    args: [mocha, '--parallel', '--jobs', '2', '--forbid-only', ...output, ...args],
    limitMs,
    report: reportFile(name),
  };
}

/** Parts that run one after another. */
export type Lane = readonly Part[];
/** Lanes that run side by side. */
export type Stage = readonly Lane[];

/**
 * Runs stages one after another. Ends with the slowest
 * tests, a line a part, and the totals as the last line; the exit code is 0 if nothing failed.
 */
export async function runStages(stages: readonly Stage[]): Promise<void> {
  checkNode();
  const startedMs = performance.now();
  const deadline = startedMs + TOTAL_LIMIT_MS;
  const total = { passed: 0, failed: 0, skipped: 0 };
  const failures: string[] = [];
  const lines: string[] = [];
  const slowest: TimedTest[] = [];
  const runInOrder = async (parts: readonly Part[]): Promise<void> => {
    for (const part of parts) {
      if (part.isQuiet !== true) process.stdout.write(`\n=== ${part.name}\n`);
      const beganMs = performance.now();
      let said = '';
      const outcome = await runPart(
        part,
        Math.min(part.limitMs, deadline - beganMs),
        (text) => (said += text),
      );
      if (part.isQuiet === true) process.stdout.write(`\n=== ${part.name}\n${said}`);
      total.passed += outcome.passed;
      total.failed += outcome.failed;
      total.skipped += outcome.skipped;
      for (const failure of outcome.failures ?? []) failures.push(`failed in ${part.name}: ${failure}`);
      for (const { title, ms } of outcome.slowest ?? [])
        slowest.push({ title: `${part.name}: ${title}`, ms });
      const why = outcome.why === undefined ? '' : ` (${outcome.why})`;
      const cpu =
        outcome.cpuSeconds === undefined ? '' : `, processor at least ${outcome.cpuSeconds.toFixed(0)} s`;
      lines.push(`${part.name}: ${counts(outcome)} in ${secondsSince(beganMs)} s${cpu}${why}`);
    }
  };
  for (const lanes of stages) await Promise.all(lanes.map(runInOrder));
  if (slowest.length > 0) process.stdout.write('\n=== slowest tests\n');
  for (const { title, ms } of slowestOf(slowest))
    process.stdout.write(`${(ms / 1000).toFixed(1).padStart(6)} s  ${title}\n`);
  process.stdout.write(`\n=== summary, after ${secondsSince(startedMs)} s\n`);
  process.stdout.write([...failures, ...lines, counts(total), ''].join('\n'));
  process.exitCode = total.failed === 0 ? 0 : 1;
}

function secondsSince(beganMs: number): number {
  return Math.round((performance.now() - beganMs) / 1000);
}

/** Fails unless this is the project's own Node, which npm puts first on PATH. */
function checkNode(): void {
  const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {
    optionalDependencies: Record<string, string>;
  };
  const brought = manifest.optionalDependencies[`node-${process.platform}-${process.arch}`];
  if (brought === undefined || process.version === `v${brought}`) return;
  process.stdout.write(
    `This is Node ${process.version}, not ${brought}: run "npm ci", then "npm test".\n0 passed, 1 failed, 0 skipped\n`,
  );
  process.exit(1);
}

async function runPart(part: Part, limitMs: number, hear: (text: string) => void): Promise<Outcome> {
  const timesFile = path.join(results, 'reports', `${part.name}.times`);
  await mkdir(path.dirname(timesFile), { recursive: true });
  await rm(timesFile, { force: true });
  if (part.report !== undefined) await rm(part.report, { force: true });
  if (limitMs <= 0) return { ...failedPart('no time was left'), cpuSeconds: undefined };
  const mark = `FINE_TUNING_PART=${randomUUID()}`;
  const [name = '', value] = mark.split('=');
  const child = startGroup('sh', ['-c', TIMED, 'sh', timesFile, part.command, ...part.args], {
    cwd: root,
    env: { ...process.env, [name]: value },
    stdio: part.isQuiet === true ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit'],
  });
  for (const output of [child.stdout, child.stderr]) output?.setEncoding('utf8').on('data', hear);
  const startedMs = performance.now();
  const timer = setTimeout(() => void endGroup(child, 10_000), limitMs);
  const code = await groupEnd(child);
  clearTimeout(timer);
  killMarked(mark);
  const isLate = performance.now() - startedMs >= limitMs;
  const why = isLate
    ? `ended after its limit of ${Math.round(limitMs / 1000)} s`
    : `exit ${code ?? child.signalCode}`;
  return { ...(await reportOf(part, code, why)), cpuSeconds: await readTimes(timesFile) };
}

async function reportOf(part: Part, code: number | null, why: string): Promise<Report & { why?: string }> {
  if (part.report === undefined)
    return code === 0 ? { passed: 1, failed: 0, skipped: 0 } : failedPart(`failed, ${why}`);
  const report = await readReport(part.report);
  if (report === undefined) return failedPart(`no report; ${why}`);
  if (report.passed + report.failed + report.skipped === 0) return failedPart('no test ran');
  if (code !== 0 && report.failed === 0) return { ...report, failed: 1, why };
  return report;
}

/** A part that has no results of its own. */
function failedPart(why: string): Report & { why: string } {
  return { passed: 0, failed: 1, skipped: 0, why };
}

/** Seconds of processor time in the output of the shell's `times`, whose second line is that of its children. */
async function readTimes(file: string): Promise<number | undefined> {
  const [, children] = (await readFile(file, 'utf8').catch(() => '')).split('\n');
  const times = [...(children ?? '').matchAll(/(\d+)m([\d.]+)s/g)];
  if (times.length !== 2) return undefined;
  return times.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0);
}

/** Kills a part's remaining processes, even those in other process groups (Linux only). */
function killMarked(mark: string): void {
  if (process.platform !== 'linux') return;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(mark))
        process.kill(Number(pid), 'SIGKILL');
    } catch {
      // The process has ended, or belongs to another user.
    }
  }
}

function counts({ passed, failed, skipped }: Report): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}
