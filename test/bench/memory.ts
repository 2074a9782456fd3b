// Measures how much memory of the extension host 10,000 runs hold, in a real window that shows them.
import path from 'node:path';
import { cell, median, say, table, writeSection } from './measure.ts';
import type { Memory } from './memoryTests.ts';
import { inHost, prepareHost } from './startup.ts';

const HOSTS = 3;
const MAX_GROWTH_MB = 60;

/** Takes about two minutes. */
export async function memory(folder: string): Promise<void> {
  const tests = await prepareHost(folder, 'memoryTests.ts');
  const storage = 'user-data/data/User/globalStorage/fine-tuning-tools.fine-tuning';
  const env = { BENCH_SANDBOX: path.join(folder, storage, 'sandbox') };
  await writeSection('Memory of 10,000 runs', async () => {
    const rounds: Memory[] = [];
    for (let host = 1; host <= HOSTS; host++) {
      const one = await inHost<Memory>(folder, tests, env);
      say(`memory, host ${host} of ${HOSTS}: ${JSON.stringify(one)}`);
      rounds.push(one);
    }
    const growthMb = median(rounds.map(({ beforeMb, afterMb }) => afterMb - beforeMb));
    return [
      `The heap of the extension host, the sandbox included, after a forced collection: with the first 100 runs, and after **Load All
Runs**, in the open Runs view. The median of ${HOSTS} hosts.`,
      table(
        ['Load All Runs', ''],
        [
          ['Heap before, MB', cell(median(rounds.map(({ beforeMb }) => beforeMb)), 1)],
          ['Heap after, MB', cell(median(rounds.map(({ afterMb }) => afterMb)), 1)],
          ['Growth, MB', cell(growthMb, 1, MAX_GROWTH_MB)],
          ['Time, s', cell(median(rounds.map(({ ms }) => ms)) / 1000, 1)],
        ],
      ),
    ].join('\n\n');
  });
}
