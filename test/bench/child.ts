// What the processes that are timed have in common.
import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** What a process reports; each its own part of it. */
export interface Report {
  rows?: number;
  /** Of what it was started for, without its start and what it did to be warm. */
  workMs?: number;
  /** From the start of the process to the end of its first work. */
  firstMs?: number;
  /** Undefined where the system does not say. */
  peakBytes?: number;
  delayP99Ms?: number;
  delayMaxMs?: number;
}

/** The job of this process, from its arguments. */
export function argument(): unknown {
  return JSON.parse(process.argv[2] ?? '');
}

/** Does the work and prints a report with what it returns: the time and memory it took, and how long the event loop was delayed. */
export async function report(work: () => Promise<unknown>, first?: () => Promise<unknown>): Promise<void> {
  const all: Report = {};
  if (first !== undefined) {
    await first();
    // The clock of a process starts with it.
    all.firstMs = performance.now();
  }
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const startedMs = performance.now();
  const more = await work();
  all.workMs = performance.now() - startedMs;
  delay.disable();
  all.delayP99Ms = delay.percentile(99) / 1e6;
  all.delayMaxMs = delay.max / 1e6;
  process.stdout.write(JSON.stringify({ ...all, peakBytes: peakBytes(), ...(more as Report | undefined) }));
}

/** The most memory that this process ever had resident. Not `maxRSS`, which begins with that of the process that started it. */
function peakBytes(): number | undefined {
  if (process.platform !== 'linux') return undefined;
  const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kib) * 1024;
}
