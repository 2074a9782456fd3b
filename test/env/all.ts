// `npm test`: runs every part in a separate process with a time limit, and prints the totals.
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { endGroup, groupEnd, startGroup } from './processes.ts';
import { fail, results, root } from './project.ts';
import { readReport, type Report } from './report.ts';

interface Part {
  name: string;
  command: string;
  args: string[];
  limitMs: number;
  /** The report that the part writes; without one, the part counts as one test, which passes with exit code 0. */
  report?: string;
  /** Prints the output only at the end, because the part runs beside others. */
  isQuiet?: boolean;
}

/** Time limit of all parts together. */
const totalLimitMs = 40 * 60_000;

const reportFile = (name: string): string => path.join(results, 'reports', `${name}.json`);
const script = (name: string): string => path.join(import.meta.dirname, name);
const node = process.execPath;
const mocha = path.join(root, 'node_modules/mocha/bin/mocha.js');
const unitReport = ['--reporter', script('reporter.ts'), '--reporter-option', `output=${reportFile('unit')}`];

const lint: Part = {
  name: 'lint',
  command: 'npm',
  args: ['run', 'lint', '--loglevel=error'],
  limitMs: 300_000,
  isQuiet: true,
};
const unit: Part = {
  name: 'unit',
  command: node,
  args: [mocha, '--parallel', '--jobs', '2', '--forbid-only', ...unitReport],
  limitMs: 600_000,
  report: reportFile('unit'),
};
const host: Part = {
  name: 'host',
  command: node,
  args: [script('host.ts')],
  limitMs: 480_000,
  report: reportFile('host'),
};
const floor: Part = {
  name: 'floor',
  command: node,
  args: [script('host.ts'), '--floor'],
  limitMs: 300_000,
  report: reportFile('floor'),
};
const ui: Part = {
  name: 'ui',
  command: node,
  args: [script('ui.ts')],
  limitMs: 1_500_000,
  report: reportFile('ui'),
};

async function main(): Promise<void> {
  checkNode();
  const startedMs = performance.now();
  const deadline = startedMs + totalLimitMs;
  const total: Report = { passed: 0, failed: 0, skipped: 0 };
  const lines: string[] = [];
  let said = '';
  const inOrder = async (...parts: readonly Part[]): Promise<void> => {
    for (const part of parts) {
      if (part.isQuiet !== true) process.stdout.write(`\n=== ${part.name}\n`);
      const beganMs = performance.now();
      const hear = (text: string): void => {
        said += text;
      };
      const outcome = await runPart(part, Math.min(part.limitMs, deadline - beganMs), hear);
      total.passed += outcome.passed;
      total.failed += outcome.failed;
      total.skipped += outcome.skipped;
      const why = outcome.why === undefined ? '' : ` (${outcome.why})`;
      for (const failure of outcome.failures ?? []) lines.push(`failed in ${part.name}: ${failure}`);
      lines.push(`${part.name}: ${counts(outcome)} in ${secondsSince(beganMs)} s${why}`);
    }
  };
  // The host tests mostly wait, which leaves a core for lint.
  await Promise.all([inOrder(lint), inOrder(host, floor)]);
  process.stdout.write(`\n=== ${lint.name}\n${said}`);
  await inOrder(unit, ui);
  process.stdout.write(
    `\n=== summary, after ${secondsSince(startedMs)} s\n${lines.join('\n')}\n${counts(total)}\n`,
  );
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

async function runPart(
  part: Part,
  limitMs: number,
  hear: (text: string) => void,
): Promise<Report & { why?: string }> {
  const died = (why: string): Report & { why: string } => ({ passed: 0, failed: 1, skipped: 0, why });
  if (limitMs <= 0) return died('no time was left');
  if (part.report !== undefined) await rm(part.report, { force: true });
  const mark = `FINE_TUNING_PART=${randomUUID()}`;
  const [name = '', value] = mark.split('=');
  const child = startGroup(part.command, part.args, {
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
  if (part.report === undefined) return code === 0 ? { passed: 1, failed: 0, skipped: 0 } : died('failed');
  const report = await readReport(part.report);
  const isLate = performance.now() - startedMs >= limitMs;
  const why = isLate
    ? `ended after its limit of ${Math.round(limitMs / 1000)} s`
    : `exit ${code ?? child.signalCode}`;
  if (report === undefined) return died(`no report; ${why}`);
  if (report.passed + report.failed + report.skipped === 0) return died('no test ran');
  if (code !== 0 && report.failed === 0) return { ...report, failed: 1, why };
  return report;
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

main().catch(fail);
