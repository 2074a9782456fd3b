// Packs the extension, installs it in a VS Code server, and runs test/ui/ as a person before it. With --screenshots it makes
// the pictures of the README instead.
import { globSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { closeAll, extensionsFolder, runningVSCodes } from '../ui/vscode.ts';
import type { Workbench } from '../ui/workbench.ts';
import { chromium } from './chromium.ts';
import { Mocha } from './mocha.ts';
import { run } from './processes.ts';
import { fail, results, root, SetUpError, vsix } from './project.ts';
import { readReport, writeReport, type Report } from './report.ts';
import { installExtension } from './serve.ts';
import { vscodeServer } from './vscode-server.ts';

const forReadme = process.argv.includes('--screenshots');
const only = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));
const secondAttempt = '--second-attempt';
const isSecondAttempt = process.argv.includes(secondAttempt);
const reportFile = reportOf(isSecondAttempt ? secondAttempt : forReadme ? 'screenshots' : 'ui');

/** The file in which the counts of a run are told. */
function reportOf(name: string): string {
  return path.join(results, 'reports', `${name.replace(/^-+/, '')}.json`);
}

/** What each test file came to. */
type Outcomes = Map<string, Report>;

/** A fault of the extension fails again; more files than these are not a stumble of the browser. */
const filesTriedAgain = 4;
/** For that many at their usual speed. */
const secondAttemptMs = 360_000;

async function main(): Promise<void> {
  await rm(reportFile, { force: true });
  if (!isSecondAttempt) await install();
  if (forReadme) process.env.FINE_TUNING_SCREENSHOTS = path.join(root, 'media/screenshots');
  const files = testFiles();
  const outcomes = await runMocha(files);
  await closeAll();
  const failed = files.filter((file) => (outcomes.get(file)?.failed ?? 0) > 0);
  if (!isSecondAttempt && failed.length > 0 && failed.length <= filesTriedAgain) {
    for (const file of failed) outcomes.delete(file);
    outcomes.set('second attempt', await runAgain(failed));
  }
  const count = (of: keyof Report): number =>
    [...outcomes.values()].reduce((sum, outcome) => sum + outcome[of], 0);
  const report: Report = { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
  writeReport(reportFile, report);
  if (report.passed === 0) throw new SetUpError('No test of the user interface passed.');
  process.exit(report.failed > 0 ? 1 : 0);
}

/** Packs the extension and installs it for every VS Code of the tests. */
async function install(): Promise<void> {
  await rm(path.join(results, 'ui'), { recursive: true, force: true });
  await chromium();
  const server = await vscodeServer('vscode');
  await run('npm', ['run', 'package', '--loglevel=error'], { cwd: root, timeoutMs: 120_000, output: 'hide' });
  await installExtension(server, vsix, path.join(results, 'ui/user-data/install'), extensionsFolder);
}

function testFiles(): string[] {
  const pattern = forReadme ? 'test/ui/**/screenshots.ts' : 'test/ui/**/*.test.ts';
  return globSync(pattern, { cwd: root })
    .sort()
    .filter((file) => only.length === 0 || only.some((part) => file.includes(part)))
    .map((file) => path.join(root, file));
}

/**
 * Runs files once more, whole and in a new browser: on a busy machine it loses a key now and then. In a process of its own, since a
 * module is evaluated only once.
 */
async function runAgain(files: readonly string[]): Promise<Report> {
  const names = files.map((file) => path.basename(file));
  process.stdout.write(`\n${names.join(', ')}: failed, and run a second time\n`);
  await run(process.execPath, [import.meta.filename, secondAttempt, ...names], {
    cwd: root,
    timeoutMs: secondAttemptMs,
    output: 'show',
  }).catch(() => undefined);
  return (await readReport(reportOf(secondAttempt))) ?? { passed: 0, failed: 1, skipped: 0 };
}

async function tell(window: Workbench, index: number, name: string): Promise<void> {
  await window.screenshot(`failed-${name}-${index}`);
  for (const words of await window.words()) console.log(`        ${index} ${words}`);
}

async function runMocha(files: readonly string[]): Promise<Outcomes> {
  const mocha = new Mocha({
    timeout: 120_000,
    forbidOnly: process.env.CI !== undefined,
    rootHooks: {
      async afterEach(this: Mocha.Context) {
        if (this.currentTest?.state !== 'failed') return;
        const name = this.currentTest
          .fullTitle()
          .replace(/[^\w]+/g, '-')
          .slice(0, 100);
        for (const vscode of runningVSCodes())
          for (const [index, window] of vscode.windows.entries())
            // A window that hangs or has gone is no reason to leave the other tests out.
            await Promise.race([
              sleep(20_000, undefined, { ref: false }),
              tell(window, index, name).catch(console.log),
            ]);
      },
    },
  });
  for (const file of files) mocha.addFile(file);
  await mocha.loadFilesAsync();
  const outcomes: Outcomes = new Map();
  await new Promise<void>((resolve) => {
    const runner = mocha.run(() => resolve());
    const note = (of: keyof Report) => (test: { file?: string | undefined }) => {
      const file = test.file ?? '';
      const outcome = outcomes.get(file) ?? { passed: 0, failed: 0, skipped: 0 };
      outcomes.set(file, { ...outcome, [of]: outcome[of] + 1 });
    };
    runner.on('pass', note('passed'));
    runner.on('fail', note('failed'));
    runner.on('pending', note('skipped'));
  });
  return outcomes;
}

main().catch(fail);
