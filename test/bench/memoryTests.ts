// Runs in the extension host: loads 10,000 past runs of the sandbox, and reports how long that took and how much memory they hold.
import { writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as vscode from 'vscode';
import { addPastRuns } from '../helpers/sandbox/pastRuns.ts';

/** The megabytes of the heap after a forced collection, before and after loading, and the milliseconds of loading. */
export type Memory = Record<'beforeMb' | 'afterMb' | 'ms', number>;

/** How long VS Code takes to draw the rows. */
const DRAWN_MS = 15_000;
const CALM_MS = 500;

/** Called by VS Code once the window is ready. */
export async function run(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heapMb = async () => {
    for (let times = 0; times < 3; times++) {
      await sleep(CALM_MS);
      collect();
    }
    return process.memoryUsage().heapUsed / 1e6;
  };
  await vscode.commands.executeCommand('fineTuning.useSandbox');
  await vscode.commands.executeCommand('workbench.view.extension.fineTuning');
  addPastRuns(process.env.BENCH_SANDBOX ?? '', 10_000);
  await vscode.commands.executeCommand('fineTuning.refresh');
  const beforeMb = await heapMb();
  const startedMs = performance.now();
  await vscode.commands.executeCommand('fineTuning.loadAllRuns');
  const ms = performance.now() - startedMs;
  await sleep(DRAWN_MS);
  const report: Memory = { beforeMb, afterMb: await heapMb(), ms };
  await writeFile(process.env.BENCH_REPORT ?? '', JSON.stringify(report));
}
