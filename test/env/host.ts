// Runs test/host/ in a real extension host: by default in the current VS Code server, with --floor in the
// oldest supported one. FINE_TUNING_VSCODE names a desktop executable; --desktop=1.105.0 or --desktop=stable
// downloads one.
import { globSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { downloadAndUnzipVSCode, runTests } from '@vscode/test-electron';
import { build } from 'esbuild';
import { chromium } from './chromium.ts';
import { run } from './processes.ts';
import { fail, results, root, say, SetUpError } from './project.ts';
import { readReport, writeReport } from './report.ts';
import { quietSettings, writeSettings } from './settings.ts';
import { vscodeServer, type ServerName } from './vscode-server.ts';

const isFloor = process.argv.includes('--floor');
const part = isFloor ? 'floor' : 'host';
const folder = path.join(results, part);
const reportFile = path.join(results, 'reports', `${part}.json`);

async function main(): Promise<void> {
  await rm(reportFile, { force: true });
  await rm(folder, { recursive: true, force: true });
  const serverName: ServerName = isFloor ? 'vscode-floor' : 'vscode';
  const [, version] = /^--desktop=(.+)$/.exec(process.argv.at(-1) ?? '') ?? [];
  const named = isFloor ? undefined : process.env.FINE_TUNING_VSCODE;
  const desktop = version === undefined ? named : await downloadAndUnzipVSCode(version);
  if (desktop === undefined && !(await isInstalled(serverName))) return;
  await run(process.execPath, ['esbuild.js'], { cwd: root, output: 'show' });
  await bundleTests();
  const userData = path.join(folder, 'user-data');
  const workspace = path.join(folder, 'workspace');
  await mkdir(workspace, { recursive: true });
  await writeSettings(path.join(userData, desktop ? 'User' : 'data/User'), quietSettings);
  const ended = await runTests({
    vscodeExecutablePath: desktop ?? path.join(import.meta.dirname, 'vscode-in-browser.ts'),
    extensionDevelopmentPath: root,
    extensionTestsPath: path.join(folder, 'tests/index.cjs'),
    extensionTestsEnv: { FINE_TUNING_TEST_REPORT: reportFile },
    launchArgs: [
      workspace,
      ...(desktop ? [] : [`--server=${serverName}`]),
      `--user-data-dir=${userData}`,
      `--extensions-dir=${path.join(folder, 'extensions')}`,
    ],
  }).catch((error: unknown) => error as Error);
  const report = await readReport(reportFile);
  if (!report)
    throw new SetUpError(
      `The extension host ended without a report${ended instanceof Error ? `: ${ended.message}` : ''}.`,
    );
  if (report.passed === 0) throw new SetUpError('No test passed in the extension host.');
  if (report.failed > 0 || ended !== 0) process.exitCode = 1;
}

/** If the oldest supported server cannot be installed, its tests count as one skipped test. */
async function isInstalled(name: ServerName): Promise<boolean> {
  await chromium();
  try {
    await vscodeServer(name);
    return true;
  } catch (error) {
    if (!isFloor || !(error instanceof SetUpError)) throw error;
    say(`vscode-floor: skipped, because it cannot be installed here. ${error.message}`);
    writeReport(reportFile, { passed: 0, failed: 0, skipped: 1 });
    return false;
  }
}

async function bundleTests(): Promise<void> {
  const tests = globSync('test/host/**/*.test.ts', { cwd: root });
  await build({
    absWorkingDir: root,
    entryPoints: ['test/host/index.ts', ...tests],
    outbase: 'test/host',
    outdir: path.join(folder, 'tests'),
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node22.19',
    external: ['vscode', 'mocha'],
    sourcemap: 'inline',
    logLevel: 'warning',
  });
}

main().catch(fail);
