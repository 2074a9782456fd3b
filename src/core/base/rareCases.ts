import { channel, subscribe, unsubscribe } from 'node:diagnostics_channel';
import { appendFile, mkdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Disposable } from './disposable.ts';

const ANYWHERE = ['no-watcher', 'no-sync', 'file-in-use', 'future-wait', 'gateway'] as const;
const IN_RUNS = ['sleep', 'deep-run', 'odd-cursor', 'old-status', 'no-currency'] as const;
const IN_DOWNLOADS = ['resumed', 'named-part', 'damaged', 'missing-disk', 'unrecorded'] as const;
/** The counted rare cases of docs/decisions.md. */
const RARE_CASES = [...ANYWHERE, ...IN_RUNS, ...IN_DOWNLOADS] as const;

const CHANNEL = 'fine-tuning.rare-case';

/** Counts a rare case if it is met. @returns `isMet`. Doesn't count in worker threads. */
export function counted(rareCase: (typeof RARE_CASES)[number], isMet: boolean): boolean {
  if (isMet) channel(CHANNEL).publish(rareCase);
  return isMet;
}

/**
 * Counts the windows on this machine that met each rare case, until it is disposed. Each case has a file with
 * one byte per window, so windows need no lock. A failed write isn't counted.
 */
export function countRareCases(folder: string): Disposable & { line(): Promise<string> } {
  const left = new Set<unknown>(RARE_CASES);
  const count = (rareCase: unknown): void => {
    if (!left.delete(rareCase)) return;
    const file = path.join(folder, String(rareCase));
    const added = mkdir(folder, { recursive: true }).then(() => appendFile(file, '.'));
    added.catch(() => undefined);
  };
  subscribe(CHANNEL, count);
  const countOf = (rareCase: string) =>
    stat(path.join(folder, rareCase)).then(
      ({ size }) => `${size} ${rareCase}`,
      () => `0 ${rareCase}`,
    );
  return {
    line: async () => (await Promise.all(RARE_CASES.map(countOf))).join(', '),
    dispose: () => {
      unsubscribe(CHANNEL, count);
    },
  };
}
