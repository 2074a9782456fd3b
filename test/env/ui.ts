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
import { readReport } from './report.ts';
import PartReporter from './reporter.ts';
import { installExtension } from './serve.ts';
import { vscodeServer } from './vscode-server.ts';

const forReadme = process.argv.includes('--screenshots');
const only = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));
const reportFile = path.join(results, 'reports', forReadme ? 'screenshots.json' : 'ui.json');

async function main(): Promise<void> {
  await rm(reportFile, { force: true });
  await rm(path.join(results, 'ui'), { recursive: true, force: true });
  await chromium();
  const server = await vscodeServer('vscode');
  await run('npm', ['run', 'package', '--loglevel=error'], { cwd: root, timeoutMs: 120_000, output: 'hide' });
  await installExtension(server, vsix, path.join(results, 'ui/user-data/install'), extensionsFolder);
  if (forReadme) process.env.FINE_TUNING_SCREENSHOTS = path.join(root, 'media/screenshots');
  await runMocha();
  await closeAll();
  const report = await readReport(reportFile);
  if (!report || report.passed === 0) throw new SetUpError('No test of the user interface passed.');
  process.exit(report.failed > 0 ? 1 : 0);
}

async function runMocha(): Promise<void> {
  const mocha = new Mocha({
    timeout: 90_000,
    forbidOnly: process.env.CI !== undefined,
    reporter: PartReporter,
    reporterOptions: { output: reportFile },
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
  const pattern = forReadme ? 'test/ui/**/screenshots.ts' : 'test/ui/**/*.test.ts';
  const files = globSync(pattern, { cwd: root }).sort();
  for (const file of files) {
    if (only.length === 0 || only.some((part) => file.includes(part))) mocha.addFile(path.join(root, file));
  }
  await mocha.loadFilesAsync();
  await new Promise<void>((resolve) => mocha.run(() => resolve()));
}

main().catch(fail);
