// One of the windows of versionsStress.ts: `versionsChild.ts FOLDER LOG VARIANT SEED`. Reads a head, waits a little and appends,
// until it is killed. Logs each operation with the machine's monotonic time.
import { existsSync, openSync, writeSync } from 'node:fs';
import { link as linkFile, readdir, unlink } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { OvertakenError, VersionStore, type Head } from '../../../src/core/storage/versions.ts';
import { Random } from '../random.ts';
import { ENTRY_CODEC, IDS, newEntry, type Entry } from './entry.ts';
import type { Operation } from './versionsHistory.ts';
import type { Variant } from './versionsStress.ts';

const [folder, log, variant, seed] = process.argv.slice(2) as [string, string, Variant, string];
const freesNames = variant === 'freed names';
const random = new Random(Number(seed));
const file = openSync(log, 'a');
const note = (operation: Operation) => writeSync(file, `${JSON.stringify(operation)}\n`);
const nowUs = () => Number(process.hrtime.bigint() / 1000n);
const store = new VersionStore<Entry>(folder, ENTRY_CODEC, {
  link:
    variant === 'no hard links'
      ? () => Promise.reject(Object.assign(new Error(), { code: 'EPERM' }))
      : linkFile,
  // Windows that stand still between two steps are what this is about.
  at: async (point) => {
    if (random.chance(0.1)) await delay(random.below(4));
    if (freesNames && point === 'temporary' && random.chance(0.2)) await untilFreed();
  },
});
/** The version that this window is writing. */
let writing = { id: '', n: 0 };

/** Stands still until the others have gone on, and freed the name again. */
async function untilFreed(): Promise<void> {
  const { id, n } = writing;
  const isThere = (number: number) => existsSync(path.join(folder, `${id}.${number}.json`));
  for (let left = 100; left > 0 && (isThere(n - 1) || isThere(n)); left--) await delay(5);
}

async function readHead(id: string): Promise<Head<Entry> | undefined> {
  // Where names are freed, numbers have gaps.
  if (!freesNames && random.chance(0.8)) return store.read(id);
  const { failed } = await store.list();
  if (failed.has(id)) throw failed.get(id);
  return store.heads.get(id);
}

/** What clean-up must not do. */
async function freeNames({ id, n }: Head<Entry>): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, of, lower] = /^([0-9a-f-]{36})\.(\d+)\.json$/.exec(name) ?? [];
    if (of === id && Number(lower) < n) await unlink(path.join(folder, name)).catch(() => undefined);
  }
}

async function round(id: string): Promise<void> {
  let fromUs = nowUs();
  const head = await readHead(id);
  const n = head?.n ?? 0;
  note({ kind: 'read', id, n, nonce: head?.record?.nonce, fromUs, toUs: nowUs() });
  if (head !== undefined && head.state !== 'sound') note({ kind: head.state, id, n });
  if (random.chance(0.5)) await delay(random.below(3));
  const isSettled = random.chance(freesNames ? 0.5 : 0.1);
  const entry = newEntry(id, head?.record, isSettled);
  const { nonce, below } = entry;
  writing = { id, n: n + 1 };
  note({ kind: 'try', id, n: n + 1, nonce, below, fromUs: (fromUs = nowUs()) });
  try {
    const written = await (head === undefined ? store.create(id, entry) : store.append(head, entry));
    note({ kind: 'acknowledged', id, n: n + 1, nonce, below, fromUs, toUs: nowUs() });
    fromUs = nowUs();
    const isHighest = await store.isHighest(written);
    if (isHighest) note({ kind: 'highest', id, n: n + 1, fromUs, toUs: nowUs() });
    if (isSettled) await (freesNames ? freeNames(written) : store.empty(written));
  } catch (error) {
    if (!(error instanceof OvertakenError)) throw error;
    note({ kind: 'overtaken', id, n: n + 1, fromUs, toUs: nowUs() });
  }
}

process.once('disconnect', () => process.exit());
process.send?.('started');
for (;;) {
  const id = random.of(IDS);
  await round(id).catch((error: unknown) => note({ kind: 'failed', id, n: 0, nonce: String(error) }));
}
