#!/usr/bin/env node
// Takes the place of the desktop executable for @vscode/test-electron: the same arguments, but VS Code's server with a
// headless Chromium before it. Its exit code is that of the tests.
import { format, parseArgs } from 'node:util';
import { chromium as playwright } from 'playwright-core';
import { chromium, chromiumArguments } from './chromium.ts';
import { fail, SetUpError } from './project.ts';
import { serveForTests } from './serve.ts';
import { vscodeServer, type ServerName } from './vscode-server.ts';

/** How long the whole test run inside the extension host may take. */
const limitMs = 180_000;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    strict: false,
    allowPositionals: true,
    options: {
      server: { type: 'string' },
      'user-data-dir': { type: 'string' },
      extensionDevelopmentPath: { type: 'string' },
      extensionTestsPath: { type: 'string' },
    },
  });
  const server = await vscodeServer(values.server as ServerName);
  const running = await serveForTests(server, values['user-data-dir'] as string);
  const browser = await playwright.launch({ executablePath: await chromium(), args: chromiumArguments });
  try {
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    const exit = Promise.withResolvers<number>();
    await page.exposeFunction('codeAutomationExit', (code: number) => exit.resolve(code));
    await page.exposeFunction('codeAutomationLog', (_type: string, args: unknown[]) => {
      process.stdout.write(`${_type}: ${format(...args)}\n`);
    });
    page.on('crash', () => exit.reject(new SetUpError('The page of the VS Code window crashed.')));
    void running.ended.then(() => exit.reject(new SetUpError('The VS Code server ended during the tests.')));
    setTimeout(
      () => exit.reject(new SetUpError(`The tests in the extension host took more than ${limitMs / 1000} s.`)),
      limitMs,
    ).unref();
    const authority = new URL(running.origin).host;
    const remote = (file: unknown): string => `vscode-remote://${authority}${file as string}`;
    const payload = [
      ['extensionDevelopmentPath', remote(values.extensionDevelopmentPath)],
      ['extensionTestsPath', remote(values.extensionTestsPath)],
    ];
    const query = new URLSearchParams({ folder: positionals[0] ?? '', payload: JSON.stringify(payload) });
    await page.goto(`${running.origin}/?${query.toString()}`);
    return await exit.promise;
  } finally {
    await browser.close();
    await running.stop();
  }
}

main().then((code) => process.exit(code), fail);
