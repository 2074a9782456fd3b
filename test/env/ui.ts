// Packs the extension, installs it in a VS Code server, and runs the files of test/ui/ in a browser. An argument chooses the
// files whose paths contain it. With --pictures, the tests save screenshots, which takes longer; with --screenshots, only the
// README's screenshots are taken.
import { fork, type ChildProcess } from 'node:child_process';
import { globSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { loadavg } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { builtInFolder, closeAll, extensionsFolder, runningVSCodes } from '../ui/vscode.ts';
import type { Workbench } from '../ui/workbench.ts';
import { chromium } from './chromium.ts';
import { Mocha } from './mocha.ts';
import { run } from './processes.ts';
import { fail, results, root, SetUpError, vsix } from './project.ts';
import { failureOf, slowestOf, writeReport, type Report, type TimedTest } from './report.ts';
import { installExtension } from './serve.ts';
import { copyBuiltInExtensions, vscodeServer } from './vscode-server.ts';

const forReadme = process.argv.includes('--screenshots');
const screenshots = path.join(results, 'screenshots');
const only = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));
// Who names a file wants all of it, also what is tested once a week.
if (only.length > 0) process.env.TESTS = 'full';

/** Number of parallel browsers: with two, a core waits for a third of the time; with four, each file takes twice as long. */
const BROWSERS = 3;

/** Above this average of busy processes, the last browser waits: it would only slow down the others. */
const BUSY_LOAD = 4;

/** The seconds of each file, as a whole run printed them, with its weekly tests. A file that is missing here is run first. */
const SECONDS: Readonly<Record<string, number>> = {
  translatable: 97,
  interrupted: 72,
  download: 66,
  pending: 61,
  runsTree: 60,
  windows: 54,
  runPage: 50,
  pages: 49,
  agent: 46,
  consents: 45,
  packed: 44,
  prepare: 42,
  answers: 39,
  places: 34,
  convert: 34,
  accounts: 30,
  paying: 29,
  datasetProblems: 29,
  rowsSince: 27,
  firstRun: 24,
  partlyTranslated: 23,
  hostile: 18,
};

/** A worker's message to the main process. */
type Message = 'ready' | { file: string; report: Report };

async function main(): Promise<void> {
  const reportFile = path.join(results, 'reports', `${forReadme ? 'screenshots' : 'ui'}.json`);
  await rm(reportFile, { force: true });
  await install();
  if (forReadme) process.env.FINE_TUNING_SCREENSHOTS = path.join(root, 'media/screenshots');
  else if (process.argv.includes('--pictures')) process.env.FINE_TUNING_SCREENSHOTS = screenshots;
  const outcomes = await runFiles(testFiles());
  const count = (of: 'passed' | 'failed' | 'skipped'): number =>
    [...outcomes.values()].reduce((sum, outcome) => sum + outcome[of], 0);
  const report: Report = {
    passed: count('passed'),
    failed: count('failed'),
    skipped: count('skipped'),
    failures: [...outcomes.values()].flatMap(({ failures }) => failures ?? []),
    slowest: slowestOf([...outcomes.values()].flatMap(({ slowest }) => slowest ?? [])),
  };
  writeReport(reportFile, report);
  if (report.passed === 0) throw new SetUpError('No test of the user interface passed.');
  process.exit(report.failed > 0 ? 1 : 0);
}

/** Packs the extension and installs it for all servers of the tests. */
async function install(): Promise<void> {
  await rm(path.join(results, 'ui'), { recursive: true, force: true });
  await chromium();
  const server = await vscodeServer('vscode');
  await run('npm', ['run', 'package', '--loglevel=error'], { cwd: root, output: 'hide' });
  await copyBuiltInExtensions(server, builtInFolder);
  await installExtension(server, vsix, path.join(results, 'ui/user-data/install'), extensionsFolder);
}

/** The longest files first, so that the browsers end at about the same time. */
function testFiles(): string[] {
  const pattern = forReadme ? 'test/ui/**/{screenshots,film}.ts' : 'test/ui/**/*.test.ts';
  return globSync(pattern, { cwd: root })
    .filter((file) => only.length === 0 || only.some((part) => file.includes(part)))
    .map((file) => path.join(root, file))
    .sort((a, b) => secondsOf(b) - secondsOf(a));
}

function secondsOf(file: string): number {
  return SECONDS[path.basename(file).split('.', 1)[0] ?? ''] ?? Number.MAX_VALUE;
}

/** Runs each file once, in parallel processes. If a process dies, its file fails. */
async function runFiles(files: readonly string[]): Promise<Map<string, Report>> {
  const outcomes = new Map<string, Report>();
  const queue = [...files];
  const work = async (_: unknown, index: number): Promise<void> => {
    while (index === BROWSERS - 1 && loadavg()[0]! > BUSY_LOAD && queue.length > 0) await sleep(5_000);
    while (queue.length > 0) await runInChild(queue, outcomes);
  };
  await Promise.all(Array.from({ length: Math.min(BROWSERS, files.length) }, work));
  return outcomes;
}

/** Sends files to a process until none is left or it dies. Prints the output of each file when it ends. */
async function runInChild(queue: string[], outcomes: Map<string, Report>): Promise<void> {
  const child = fork(import.meta.filename, ['--worker'], { cwd: root, silent: true });
  let file: string | undefined;
  let said = '';
  for (const output of [child.stdout, child.stderr])
    output?.setEncoding('utf8').on('data', (text: string) => (said += text));
  let startedMs = 0;
  const flush = (): void => {
    process.stdout.write(said);
    said = '';
  };
  child.on('message', (message: Message) => {
    if (message !== 'ready') {
      outcomes.set(message.file, message.report);
      const seconds = Math.round((performance.now() - startedMs) / 1000);
      said += `  ${path.basename(message.file)}: ${seconds} s\n`;
      flush();
    }
    startedMs = performance.now();
    file = queue.shift();
    if (file === undefined) child.disconnect();
    else child.send(file);
  });
  await new Promise<void>((resolve) => child.once('exit', () => resolve()));
  flush();
  if (startedMs === 0) throw new SetUpError('A process for browser tests ended before it began.');
  if (file !== undefined && !outcomes.has(file))
    outcomes.set(file, {
      passed: 0,
      failed: 1,
      skipped: 0,
      failures: [`${path.basename(file)}: its process ended`],
    });
}

/** Runs files in a worker process, which has its own browser for all its files. */
function work(parent: Pick<ChildProcess, 'send'> & NodeJS.Process): void {
  parent.on('message', (file: string) => {
    void runMocha(file).then((report) => parent.send({ file, report } satisfies Message));
  });
  parent.on('disconnect', () => void closeAll().then(() => process.exit(0)));
  parent.send('ready' satisfies Message);
}

async function printState(window: Workbench, index: number, name: string): Promise<void> {
  await window.screenshot(`failed-${name}-${index}`, screenshots);
  for (const words of await window.describeScreen()) console.log(`        ${index} ${words}`);
}

async function runMocha(file: string): Promise<Report> {
  const mocha = new Mocha({
    // Every wait has a limit of its own, which names what didn't come.
    timeout: 300_000,
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
            // A window that hangs or is closed must not stop the other tests.
            await Promise.race([
              sleep(20_000, undefined, { ref: false }),
              printState(window, index, name).catch(console.log),
            ]);
      },
    },
  });
  mocha.addFile(file);
  await mocha.loadFilesAsync();
  const report = { passed: 0, failed: 0, skipped: 0, failures: [] as string[], slowest: [] as TimedTest[] };
  await new Promise<void>((resolve) => {
    const runner = mocha.run(() => resolve());
    runner.on('pass', () => (report.passed += 1));
    runner.on('fail', (test, error) => {
      report.failed += 1;
      report.failures.push(failureOf(test, error));
    });
    runner.on('pending', () => (report.skipped += 1));
    runner.on('test end', (test) => report.slowest.push({ title: test.fullTitle(), ms: test.duration ?? 0 }));
  });
  mocha.dispose();
  return report;
}

if (process.argv.includes('--worker')) work(process as Parameters<typeof work>[0]);
else main().catch(fail);
