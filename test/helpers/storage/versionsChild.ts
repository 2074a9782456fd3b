// One of the windows of versionsStress.ts: `versionsChild.ts FOLDER VARIANT SEED`. Claims, sends, looks and ends as the
// protocol says, until it is killed. Logs each operation with the machine's monotonic time.
import { existsSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { link as linkFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { keyOf, OvertakenError, VersionStore, type Head } from '../../../src/core/storage/versions.ts';
import { Random } from '../random.ts';
import { ENTRY_CODEC, newEntry, type Entry } from './entry.ts';
import type { Operation } from './versionsHistory.ts';
import type { Variant } from './versionsStress.ts';

type Known = Head<Entry> & { record: Entry };

const [folder, variant, seed] = process.argv.slice(2) as [string, Variant, string];
/** How long all windows submit the same bytes. */
const BYTES_MS = 2000;
/** How long after its last bytes a run is listed at the latest. */
const PRICING_MS = 60;
const noLink = () => Promise.reject(Object.assign(new Error(), { code: 'EPERM' }));
const random = new Random(Number(seed));
const log = openSync(path.join(folder, 'log.jsonl'), 'a');
const note = (operation: Operation) => writeSync(log, `${JSON.stringify(operation)}\n`);
const nowUs = () => Number(process.hrtime.bigint() / 1000n);
const store = new VersionStore<Entry>(path.join(folder, 'store'), ENTRY_CODEC, {
  link: variant === 'no hard links' ? noLink : variant === 'replaced names' ? rename : linkFile,
  // This tests windows that stand still between two steps.
  at: async () => {
    if (random.chance(0.1)) await delay(random.below(4));
  },
});

/** Logs a write before it begins and after it ended. It takes effect in between, even if this window is killed. */
async function write(
  key: string,
  n: number,
  entry: Entry,
  work: () => Promise<Head<Entry>>,
  told?: number[],
) {
  const fromUs = nowUs();
  const { nonce, below } = entry;
  note({ kind: 'try', key, n, nonce, below, fromUs, ...(told && { told }) });
  try {
    const head = await work();
    note({ kind: 'acknowledged', key, n, nonce, below, fromUs, toUs: nowUs() });
    return { ...head, record: entry };
  } catch (error) {
    if (error instanceof OvertakenError) note({ kind: 'overtaken', key, n, fromUs, toUs: nowUs() });
    throw error;
  }
}

function append(head: Known, change: Partial<Entry> = {}): Promise<Known> {
  const entry = newEntry(head.record, change);
  return write(keyOf(head), head.n + 1, entry, () => store.append(head, entry));
}

/**
 * The service's data of this submission: when its run is listed. In a file, so that it survives a kill of this
 * process.
 */
const chargeOf = (head: Known) => path.join(folder, 'service', `${keyOf(head)}.${head.record.id}`);

async function charge(head: Known): Promise<void> {
  const key = keyOf(head);
  await store.appendAnyway(head, (found) => {
    if (found?.record?.id !== head.record.id || found.isOver) return undefined;
    const entry = newEntry(found.record, { isOver: true });
    note({ kind: 'try', key, n: found.n + 1, nonce: entry.nonce, below: entry.below, fromUs: nowUs() });
    return entry;
  });
}

/** Whether the run was found. */
async function look(head: Known): Promise<boolean> {
  const fromUs = nowUs();
  if (existsSync(chargeOf(head)) && Number(readFileSync(chargeOf(head), 'utf8')) < nowUs()) {
    await charge(head);
    return true;
  }
  note({ kind: 'look', key: keyOf(head), n: head.n, fromUs, toUs: nowUs() });
  return false;
}

async function send(from: Known): Promise<void> {
  let head = await append(from, { isSent: true });
  const fromUs = nowUs();
  await store.assertHighest(head);
  note({ kind: 'gate', key: keyOf(head), n: head.n, fromUs, toUs: nowUs() });
  try {
    writeFileSync(chargeOf(head), `${nowUs() + random.below(PRICING_MS * 1000)}`, { flag: 'wx' });
  } catch (error) {
    // The service keeps its promise: a repeat charges nothing.
    if (!existsSync(chargeOf(head))) throw error;
  }
  if (random.chance(0.5)) return;
  if (random.chance(0.5)) head = await append(head);
  await charge(head);
}

async function submit(bytes: string, heads: readonly Head<Entry>[]): Promise<void> {
  const told = heads.map(({ k }) => k);
  // The user reads the question.
  if (random.chance(0.5)) await delay(random.below(5));
  const list = variant === 'list read again' ? await store.headsOf(bytes) : heads;
  const key = keyOf({ bytes, k: (list.at(-1)?.k ?? 0) + 1 });
  const entry = newEntry();
  const head = await write(key, 1, entry, () => store.claim(bytes, list, entry), told);
  if (random.chance(0.8)) await send(head);
}

async function goOn(head: Known): Promise<void> {
  const claimed = await append(head);
  if (await look(claimed)) return;
  if (random.chance(0.7)) return send(claimed);
  await store.emptyBelow(await append(claimed, { isOver: true }));
}

async function round(bytes: string): Promise<void> {
  if (random.chance(0.1) && (await store.list()).length > 0) throw new Error('the listing has failed');
  const fromUs = nowUs();
  const heads = await store.headsOf(bytes);
  const toUs = nowUs();
  for (const { n, record, isOver, ...name } of heads) {
    note({ kind: 'read', key: keyOf(name), n, nonce: record?.nonce, fromUs, toUs });
    if (record === undefined && !isOver) note({ kind: 'unreadable', key: keyOf(name), n });
  }
  const open = heads.findLast(({ isOver }) => !isOver);
  // Another account may submit beside one that is open.
  await (open?.record === undefined || random.chance(0.1) ? submit(bytes, heads) : goOn(open as Known));
}

process.once('disconnect', () => process.exit());
process.send?.('started');
for (;;) {
  const bytes = `${Math.floor(nowUs() / 1000 / BYTES_MS)}`.padStart(32, '0');
  try {
    await round(bytes);
  } catch (error) {
    if (!(error instanceof OvertakenError)) note({ kind: 'failed', key: bytes, n: 0, nonce: String(error) });
  }
  note({ kind: 'round', key: bytes, n: 0 });
}
