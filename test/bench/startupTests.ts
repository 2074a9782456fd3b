// Runs in the extension host: activates the extensions named by STARTUP_ORDER, and reports how long each took.
import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import * as vscode from 'vscode';

/** Milliseconds from the call until each extension was activated, and until all features of ours had started. */
export type Startup = Record<'empty' | 'fine-tuning' | 'started', number>;

const CALM_MS = 3_000;

/** Called by VS Code once the window is ready. */
export async function run(): Promise<void> {
  const tookMs: Record<string, number> = {};
  // The window is busy at first.
  await sleep(CALM_MS);
  for (const name of process.env.STARTUP_ORDER?.split(',') ?? []) {
    const extension = vscode.extensions.getExtension(`fine-tuning-tools.${name}`);
    if (extension === undefined) throw new Error(`there is no ${name}`);
    if (extension.isActive) throw new Error(`${name} is active already`);
    const startedMs = performance.now();
    await extension.activate();
    tookMs[name] = performance.now() - startedMs;
    if (name === 'fine-tuning') {
      // Commands wait for the features; this one shows only the log.
      await vscode.commands.executeCommand('fineTuning.showLog');
      tookMs['started'] = performance.now() - startedMs;
    }
    await sleep(CALM_MS / 3);
  }
  // Gives the next host an account.
  await vscode.commands.executeCommand('fineTuning.useSandbox');
  await writeFile(process.env.BENCH_REPORT ?? '', JSON.stringify(tookMs));
}
