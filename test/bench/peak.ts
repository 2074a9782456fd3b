import { readFileSync } from 'node:fs';

/**
 * The most memory that this process ever had resident; undefined where the system does not tell. Not `maxRSS`, which begins with
 * that of the process which started this one.
 */
export function peakBytes(): number | undefined {
  if (process.platform !== 'linux') return undefined;
  const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kib) * 1024;
}
