// Another window: a process with leases and a journal of its own, which does what its parent says, one message at a time.
import { mkdir, rm } from 'node:fs/promises';
import { setImmediate as turn } from 'node:timers/promises';
import type { Intent, Receipt } from '../../src/core/submission/intent.ts';
import { Journal } from '../../src/core/submission/journal.ts';
import { Lease } from '../../src/core/storage/lease.ts';

export type ChildRequest =
  | { do: 'take'; file: string }
  | { do: 'release' }
  /** Takes and releases a lease again and again; says how often it was not alone. */
  | { do: 'churn'; file: string; times: number }
  | { do: 'open'; directory: string }
  | { do: 'create'; intent: Intent }
  | { do: 'acquire'; id: string }
  | { do: 'write'; intent: Intent }
  | { do: 'settle'; receipt: Receipt };

let lease: Lease | undefined;
let journal: Journal | undefined;

/** A folder can be made by one only: it says whether another is between taking and releasing. */
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

async function answer(request: ChildRequest): Promise<unknown> {
  switch (request.do) {
    case 'take':
      lease = await Lease.take(request.file);
      return lease !== undefined;
    case 'release':
      return lease?.release();
    case 'churn':
      return churn(request.file, request.times);
    case 'open':
      journal = new Journal(request.directory);
      return journal.open();
    case 'create': {
      const created = await journal!.create(request.intent);
      if ('existing' in created) return created.existing.id;
      lease = created.lease;
      return request.intent.id;
    }
    case 'acquire': {
      const acquired = await journal!.acquire(request.id);
      lease = acquired?.lease;
      return acquired?.intent;
    }
    case 'write':
      return journal!.write(lease!, request.intent);
    case 'settle':
      return journal!.settle(lease!, request.receipt);
  }
}

process.on('message', (request: ChildRequest) => {
  answer(request).then(
    (value) => process.send!({ value }),
    (error: unknown) => process.send!({ error: String(error) }),
  );
});
process.once('disconnect', () => process.exit());
