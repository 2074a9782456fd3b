// Compares the activation of the extension with that of an empty one, in a real extension host.
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { runTests } from '@vscode/test-electron';
import { build } from 'esbuild';
import { run } from '../env/processes.ts';
import { root } from '../env/project.ts';
import { quietSettings, writeSettings } from '../env/settings.ts';
import { cell, median, say, table, writeSection } from './measure.ts';
import type { Startup } from './startupTests.ts';

const HOSTS = 10;
const MAX_BEYOND_MS = 15;
const EXTENSIONS = ['empty', 'fine-tuning'] as const;

/** Takes about two minutes. */
export async function startup(folder: string): Promise<void> {
  const tests = await prepareHost(folder, 'startupTests.ts');
  await writeSection('Activation', async () => {
    const rounds: Startup[] = [];
    // From the second host on, there is a sandbox account with stored data.
    for (let host = 0; host <= HOSTS; host++) {
      const order = host % 2 === 0 ? EXTENSIONS : EXTENSIONS.toReversed();
      const one = await inHost<Startup>(folder, tests, { STARTUP_ORDER: order.join() });
      say(`activation, host ${host} of ${HOSTS}, ms: ${JSON.stringify(one)}`);
      if (host > 0) rounds.push(one);
    }
    const beyond = median(rounds.map((one) => one['fine-tuning'] - one.empty));
    return [
      `From the call of \`activate()\` to its end, the loading of its code included, of ${HOSTS} extension hosts each; which extension
comes first alternates.`,
      table(
        ['Activation', 'ms'],
        [
          ['An empty extension', cell(median(rounds.map((one) => one.empty)), 1)],
          ['Ours, signed in to the sandbox', cell(median(rounds.map((one) => one['fine-tuning'])), 1)],
          ['Ours beyond the empty one', cell(beyond, 1, MAX_BEYOND_MS)],
          ['Until all of its features have started', cell(median(rounds.map((one) => one.started)), 1)],
        ],
      ),
    ].join('\n\n');
  });
}

/** Packs the extension and bundles a test that runs in the extension host; returns the test's path. */
export async function prepareHost(folder: string, test: string): Promise<string> {
  await run(process.execPath, ['esbuild.js', '--minify'], { cwd: root, timeoutMs: 60_000, output: 'hide' });
  await writeExtensions(folder);
  const outfile = path.join(folder, 'tests.cjs');
  await build({
    entryPoints: [path.join(import.meta.dirname, test)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    external: ['vscode'],
    logLevel: 'warning',
  });
  return outfile;
}

/** Writes both extensions without activation events, so that only the measurement activates them. */
async function writeExtensions(folder: string): Promise<void> {
  const manifest = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as object;
  const ours = path.join(folder, 'fine-tuning');
  for (const each of ['dist', 'media', 'package.nls.json'])
    await cp(path.join(root, each), path.join(ours, each), { recursive: true });
  await writeFile(path.join(ours, 'package.json'), JSON.stringify({ ...manifest, activationEvents: [] }));
  const empty = path.join(folder, 'user-data/extensions/fine-tuning-tools.empty-1.0.0');
  await mkdir(empty, { recursive: true });
  await writeFile(path.join(empty, 'extension.js'), 'exports.activate = () => undefined;');
  await writeFile(
    path.join(empty, 'package.json'),
    JSON.stringify({
      name: 'empty',
      publisher: 'fine-tuning-tools',
      version: '1.0.0',
      main: './extension.js',
      engines: { vscode: '^1.105.0' },
      activationEvents: [],
      extensionKind: ['workspace'],
    }),
  );
}

/** Runs a test in a new extension host; returns what it wrote to the file BENCH_REPORT. */
export async function inHost<T>(folder: string, tests: string, env: Record<string, string> = {}): Promise<T> {
  const report = path.join(folder, 'report.json');
  const userData = path.join(folder, 'user-data');
  await mkdir(path.join(folder, 'workspace'), { recursive: true });
  await writeSettings(path.join(userData, 'data/User'), quietSettings);
  const code = await runTests({
    vscodeExecutablePath: path.join(import.meta.dirname, '../env/vscode-in-browser.ts'),
    extensionDevelopmentPath: path.join(folder, 'fine-tuning'),
    extensionTestsPath: tests,
    extensionTestsEnv: { BENCH_REPORT: report, ...env },
    launchArgs: [path.join(folder, 'workspace'), '--server=vscode', `--user-data-dir=${userData}`],
  });
  if (code !== 0) throw new Error(`the extension host ended with ${code}`);
  return JSON.parse(await readFile(report, 'utf8')) as T;
}
