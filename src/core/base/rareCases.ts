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

/** Returns whether a rare case is met, and counts it then. What worker threads meet isn't counted. */
export function counted(rareCase: (typeof RARE_CASES)[number], isMet: boolean): boolean {
  if (isMet) channel(CHANNEL).publish(rareCase);
  return isMet;
}

/**
 * Counts in how many windows on this machine each rare case was met, until it is disposed. Each has a file with
 * a byte for each window, so that windows need no lock. What can't be written isn't counted.
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
