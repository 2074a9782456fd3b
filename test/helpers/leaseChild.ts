// Another window: a process with its own leases, controlled by its parent.
import { mkdir, rm } from 'node:fs/promises';
import { setImmediate as turn } from 'node:timers/promises';
import { Lease } from '../../src/core/storage/lease.ts';
import { Rpc } from './rpc.ts';

let lease: Lease | undefined;

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
};
export type ChildMethods = typeof methods;

const rpc = new Rpc(
  (message) => process.send!(message),
  () => methods,
);
process.on('message', (message) => void rpc.hear(message));
process.once('disconnect', () => process.exit());
