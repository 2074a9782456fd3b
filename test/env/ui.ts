// Packs the extension, installs it in a VS Code server, and runs test/ui/ as a person before it. With --screenshots it makes
// the pictures of the README instead.
import { globSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { closeAll, extensionsFolder, runningVSCodes } from '../ui/vscode.ts';
import { chromium } from './chromium.ts';
import { Mocha } from './mocha.ts';
import { run } from './processes.ts';
import { fail, results, root, SetUpError, vsix } from './project.ts';
import { writeReport, type Report } from './report.ts';
import { installExtension } from './serve.ts';
import { vscodeServer } from './vscode-server.ts';

const forReadme = process.argv.includes('--screenshots');
const only = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));
const reportFile = path.join(results, 'reports', forReadme ? 'screenshots.json' : 'ui.json');

interface EsmOptions {
  esmDecorator: (file: string) => string;
}

/** What each test file came to. */
type Outcomes = Map<string, Report>;

/** A fault of the extension fails again; more files than these are not a stumble of the browser. */
const filesTriedAgain = 2;

async function main(): Promise<void> {
  await rm(reportFile, { force: true });
  await rm(path.join(results, 'ui'), { recursive: true, force: true });
  await chromium();
  const server = await vscodeServer('vscode');
  await run('npm', ['run', 'package', '--loglevel=error'], { cwd: root, timeoutMs: 120_000, output: 'hide' });
  await installExtension(server, vsix, path.join(results, 'ui/user-data/install'), extensionsFolder);
  if (forReadme) process.env.FINE_TUNING_SCREENSHOTS = path.join(root, 'media/screenshots');
  const outcomes = await runWithSecondAttempt(testFiles());
  const count = (of: keyof Report): number =>
    [...outcomes.values()].reduce((sum, outcome) => sum + outcome[of], 0);
  const report: Report = { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
  writeReport(reportFile, report);
  if (report.passed === 0) throw new SetUpError('No test of the user interface passed.');
  process.exit(report.failed > 0 ? 1 : 0);
}

function testFiles(): string[] {
  const pattern = forReadme ? 'test/ui/**/screenshots.ts' : 'test/ui/**/*.test.ts';
  return globSync(pattern, { cwd: root })
    .sort()
    .filter((file) => only.length === 0 || only.some((part) => file.includes(part)))
    .map((file) => path.join(root, file));
}

/** A browser on a busy machine loses a key now and then: a file that failed is run once more, whole and in a new window. */
async function runWithSecondAttempt(files: readonly string[]): Promise<Outcomes> {
  const outcomes = await runMocha(files, 1);
  const failed = files.filter((file) => (outcomes.get(file)?.failed ?? 0) > 0);
  if (failed.length === 0 || failed.length > filesTriedAgain) return outcomes;
  const names = failed.map((file) => path.basename(file)).join(', ');
  process.stdout.write(`\n${names}: failed, and run a second time\n`);
  const again = await runMocha(failed, 2);
  for (const file of failed) outcomes.set(file, again.get(file) ?? { passed: 0, failed: 1, skipped: 0 });
  return outcomes;
}

async function runMocha(files: readonly string[], attempt: number): Promise<Outcomes> {
  const mocha = new Mocha({
    timeout: 90_000,
    forbidOnly: process.env.CI !== undefined,
    rootHooks: {
      async afterEach(this: Mocha.Context) {
        if (this.currentTest?.state !== 'failed') return;
        const name = this.currentTest
          .fullTitle()
          .replace(/[^\w]+/g, '-')
          .slice(0, 100);
        for (const vscode of runningVSCodes()) {
          for (const [index, window] of vscode.windows.entries())
            await window.screenshot(`failed-${name}-${index}`);
        }
      },
    },
  });
  for (const file of files) mocha.addFile(file);
  // A module is evaluated once for each address. The published types lack the option.
  const load = mocha.loadFilesAsync.bind(mocha) as (options: EsmOptions) => Promise<void>;
  await load({ esmDecorator: (file) => `${file}?attempt=${attempt}` });
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
  await closeAll();
  return outcomes;
}

main().catch(fail);
