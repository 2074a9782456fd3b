#!/usr/bin/env node
// Replaces the desktop executable for @vscode/test-electron: accepts the same arguments, but starts VS Code's server and a
// headless Chromium. The exit code is that of the tests.
import { EventEmitter, once } from 'node:events';
import { createWriteStream } from 'node:fs';
import path from 'node:path';
import { format, parseArgs } from 'node:util';
import { chromium as playwright } from 'playwright-core';
import { chromium, chromiumArguments } from './chromium.ts';
import { testLineMark } from './mocha.ts';
import { fail, SetUpError } from './project.ts';
import { serveForTests } from './serve.ts';
import { vscodeServer, type ServerName } from './vscode-server.ts';

/** Time limit of the complete test run in the extension host. */
const limitMs = 600_000;

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
  const userData = values['user-data-dir'] as string;
  const running = await serveForTests(server, userData);
  const browser = await playwright.launch({ executablePath: await chromium(), args: chromiumArguments });
  try {
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    const log = createWriteStream(path.join(userData, 'window.log'));
    await page.exposeFunction('codeAutomationLog', (type: string, args: unknown[]) => {
      const line = format(...args);
      log.write(`${type}: ${line}\n`);
      // The window prints as well; everything is in the log file.
      if (line.startsWith(testLineMark)) process.stdout.write(`${line.slice(testLineMark.length)}\n`);
      else if (type === 'error' && !line.startsWith('[Service Worker]')) process.stderr.write(`${line}\n`);
    });
    const end = new EventEmitter();
    // Errors after the end don't matter.
    end.on('error', () => undefined);
    const exit = once(end, 'code') as Promise<[number]>;
    const dead = (why: string): boolean => end.emit('error', new SetUpError(why));
    await page.exposeFunction('codeAutomationExit', (code: number) => end.emit('code', code));
    page.on('crash', () => dead('The page of the VS Code window crashed.'));
    void running.ended.then(() => dead('The VS Code server ended during the tests.'));
    setTimeout(dead, limitMs, `The tests in the extension host took more than ${limitMs / 1000} s.`).unref();
    const authority = new URL(running.origin).host;
    const remote = (file: unknown): string => `vscode-remote://${authority}${file as string}`;
    const payload = [
      ['extensionDevelopmentPath', remote(values.extensionDevelopmentPath)],
      ['extensionTestsPath', remote(values.extensionTestsPath)],
    ];
    const query = new URLSearchParams({ folder: positionals[0] ?? '', payload: JSON.stringify(payload) });
    await page.goto(`${running.origin}/?${query.toString()}`);
    return (await exit)[0];
  } finally {
    await browser.close();
    await running.stop();
  }
}

main().then((code) => process.exit(code), fail);
