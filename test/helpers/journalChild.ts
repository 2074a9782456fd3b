// Another window: a process with its own leases and journal, controlled by its parent.
import { mkdir, rm } from 'node:fs/promises';
import { setImmediate as turn } from 'node:timers/promises';
import type { Intent, Receipt } from '../../src/core/submission/intent.ts';
import { Journal } from '../../src/core/submission/journal.ts';
import { Lease } from '../../src/core/storage/lease.ts';
import { Rpc } from './rpc.ts';

let lease: Lease | undefined;
let journal: Journal;

/** Takes and releases a lease `times` times. Returns how often it was not alone: only one process can create the marker folder. */
async function churn(file: string, times: number): Promise<number> {
  let notAlone = 0;
  for (let done = 0; done < times;) {
    const taken = await Lease.take(file, 1);
    await turn();
    if (taken === undefined) continue;
    done++;
    const mark = `${file}.mark`;
    await mkdir(mark).catch(() => notAlone++);
    await turn();
    if (!taken.isHeld()) notAlone++;
    await rm(mark, { recursive: true, force: true });
    taken.release();
  }
  return notAlone;
}

const methods = {
  take: async (file: string) => (lease = await Lease.take(file)) !== undefined,
  release: () => lease?.release(),
  churn,
  open: (directory: string) => (journal = new Journal(directory)).open(),
  create: async (intent: Intent) => {
    const created = await journal.create(intent);
    if ('existing' in created) return created.existing.id;
    lease = created.lease;
    return intent.id;
  },
  acquire: async (id: string) => {
    const owned = await journal.acquire(id);
    if (owned === undefined) return undefined;
    ({ lease } = owned);
    return owned.intent;
  },
  write: (intent: Intent) => journal.write(lease!, intent),
  close: (intent: Intent) => journal.close(lease!, intent),
  settle: (receipt: Receipt) => journal.settle(lease!, receipt),
};
export type ChildMethods = typeof methods;

const rpc = new Rpc(
  (message) => process.send!(message),
  () => methods,
);
process.on('message', (message) => void rpc.hear(message));
process.once('disconnect', () => process.exit());
