import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { link } from 'node:fs/promises';
import path from 'node:path';
import { runsOf, type Intent, type Receipt } from '../../../../src/core/submission/intent.ts';
import { Journal, type JournalOptions } from '../../../../src/core/submission/journal.ts';
import { Lease } from '../../../../src/core/storage/lease.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { appendVersion } from '../../../helpers/journalVersions.ts';
import { OtherWindow } from '../../../helpers/runs/otherWindow.ts';
import { chargedAt, sameDataset, sampleIntent } from '../../../helpers/submissions.ts';
import { until } from '../../../helpers/runs/support.ts';

describe('Journal', () => {
  const folder = useFolder();
  let directory: string;
  let journals: Journal[];
  let leases: Lease[];
  let windows: OtherWindow[];

  beforeEach(() => {
    directory = path.join(folder(), 'storage', 'journal');
    journals = [];
    leases = [];
    windows = [];
  });
  afterEach(async () => {
    for (const journal of journals) journal.dispose();
    for (const lease of leases) lease.release();
    await Promise.all(windows.map((window) => window.kill()));
  });

  async function opened(options: JournalOptions = {}): Promise<Journal> {
    const journal = new Journal(directory, {
      onUnreadable: (file) => assert.fail(`unreadable: ${file}`),
      ...options,
    });
    journals.push(journal);
    await journal.open();
    return journal;
  }

  /** Starts the process of another window, and opens its journal. */
  async function otherWindow(): Promise<OtherWindow> {
    const window = new OtherWindow();
    windows.push(window);
    await window.ask('open', directory);
    return window;
  }

  async function create(journal: Journal, intent: Intent): Promise<Lease> {
    const created = await journal.create(intent);
    assert.ok('lease' in created);
    leases.push(created.lease);
    return created.lease;
  }

  const versionFile = (id: string, n: number) => path.join(directory, `${id}.${n}.json`);
  /** The number of versions of a record on the disk. */
  const versionsOf = (id: string) => readdirSync(directory).filter((name) => name.startsWith(id)).length;
  const highest = (id: string) => JSON.parse(readFileSync(versionFile(id, versionsOf(id)), 'utf8')) as Intent;
  /** Returns the IDs of the records on the disk that are open, or settled but not withdrawn. */
  const stored = (is: 'open' | 'settled') => {
    const ids = new Set(readdirSync(directory).flatMap((name) => /^(.*)\.\d+\.json$/.exec(name)?.[1] ?? []));
    return [...ids].filter((id) => {
      const { settled } = highest(id);
      return settled?.kind !== 'withdrawn' && (settled === undefined) === (is === 'open');
    });
  };
  const lockFile = (id: string) => path.join(directory, 'leases', `${id}.lock`);
  const idsOf = (intents: readonly Intent[]) => intents.map(({ id }) => id);

  it('starts empty, in folders that only their owner can access', async () => {
    const journal = await opened();
    assert.deepEqual([journal.intents, await journal.receipts()], [[], []]);
    assert.deepEqual(readdirSync(directory), []);
    (await create(journal, sampleIntent())).release();
    if (process.platform === 'win32') return;
    for (const part of ['', 'leases']) assert.equal(statSync(path.join(directory, part)).mode & 0o777, 0o700);
  });

  it('restores intents after a restart, oldest first, as last written', async () => {
    const first = await opened();
    const intents = [sampleIntent(), sampleIntent(), sampleIntent()];
    for (const intent of intents.toReversed()) {
      const lease = await create(first, intent);
      const started = { localMs: 1, serviceMs: 2 };
      await first.write(lease, { ...intent, attempts: [{ started }] });
      intent.attempts.push({ started, closed: { localMs: 3 } });
      await first.write(lease, intent);
      lease.release();
    }
    assert.deepEqual(first.intents, intents);
    assert.deepEqual((await opened()).intents, intents);
    assert.deepEqual(stored('open').sort(), idsOf(intents).sort());
    for (const { id } of intents)
      if (process.platform !== 'win32') assert.equal(statSync(versionFile(id, 1)).mode & 0o777, 0o600);
  });

  describe('for the same bytes and model', () => {
    it('allows one open intent', async () => {
      const journal = await opened();
      const intent = sampleIntent();
      await create(journal, intent);
      assert.deepEqual(await journal.create(sameDataset(intent)), { existing: intent });
      // Also in a window that doesn't know it yet.
      const unaware = new Journal(directory);
      journals.push(unaware);
      assert.deepEqual(await unaware.create(sameDataset(intent)), { existing: intent });
      assert.deepEqual(unaware.intents, [intent]);
      assert.deepEqual(stored('open'), [intent.id]);
    });

    it('allows another one for another service or model', async () => {
      const journal = await opened();
      const intent = sampleIntent();
      const elsewhere = sameDataset(intent, { origin: 'https://other.test' });
      for (const each of [intent, elsewhere, sameDataset(intent, { model_id: 'b' })])
        await create(journal, each);
      assert.equal(journal.intents.length, 3);
    });

    /** Creates `intent` while another window writes a version of a rival, at the moment before ours gets its name. */
    const beside = async (intent: Intent, ...rival: Intent[]) => {
      const slow = await opened({
        link: async (from, to) => {
          if (to === versionFile(intent.id, 1))
            for (const [index, version] of rival.entries())
              writeFileSync(versionFile(version.id, index + 1), JSON.stringify(version));
          await link(from, to);
        },
      });
      const created = await slow.create(intent);
      if ('lease' in created) created.lease.release();
      return 'lease' in created ? 'created' : created.existing.id;
    };

    it('withdraws for an earlier one, and for a later one that has begun', async () => {
      const [one, two] = [sampleIntent(), sampleIntent()];
      const earlier = sameDataset(one, { created: { localMs: 1 } });
      assert.equal(await beside(one, earlier), earlier.id);
      const later = sameDataset(two);
      const begun = { ...later, attempts: [{ started: { localMs: 1 } }] };
      assert.equal(await beside(two, later, begun), later.id);
      assert.deepEqual(
        [one, two].map(({ id }) => highest(id).settled?.kind),
        ['withdrawn', 'withdrawn'],
      );
      assert.deepEqual(stored('open').sort(), [earlier.id, later.id].sort());
    });

    it('withdraws a later one that has not begun, which no window can continue then', async () => {
      const intent = sampleIntent();
      const later = sameDataset(intent);
      assert.equal(await beside(intent, later), 'created');
      assert.deepEqual(stored('open'), [intent.id]);
      const journal = await opened();
      assert.equal(await journal.acquire(later.id), undefined);
      assert.deepEqual(await journal.receipts(), [], 'it is in no list');
      assert.equal((await journal.records()).length, 2, 'but its run would be recognized');
    });

    it('withdraws if a receipt appeared that the user had not seen', async () => {
      const journal = await opened();
      const charged = sampleIntent();
      await journal.settle(await create(journal, charged), chargedAt(charged, 1));
      await assert.rejects(journal.create(sameDataset(charged), { receipts: [] }), {
        code: 'submitted-meanwhile',
      });
      assert.deepEqual(stored('open'), []);
      const created = await journal.create(sameDataset(charged), { receipts: [charged.id] });
      assert.ok('lease' in created);
      created.lease.release();
    });

    it('allows one for another account of the service only if the user agreed to it', async () => {
      const journal = await opened();
      const intent = sampleIntent();
      await create(journal, intent);
      const theirs = () => sameDataset(intent, { accountId: 'b' });
      assert.deepEqual(await journal.create(theirs()), { existing: intent });
      assert.deepEqual(await journal.create(sameDataset(intent), { duplicates: [intent.id] }), {
        existing: intent,
      });
      assert.deepEqual(await journal.create(theirs(), { duplicates: ['another'] }), { existing: intent });
      const created = await journal.create(theirs(), { duplicates: [intent.id] });
      assert.ok('lease' in created);
      created.lease.release();
      assert.equal(journal.intents.length, 2);
    });

    it('ignores refused and settled intents', async () => {
      const journal = await opened();
      const refused = sampleIntent();
      const lease = await create(journal, refused);
      await journal.write(lease, {
        ...refused,
        refused: { at: { localMs: 1 }, code: 'insufficient_balance' },
      });
      const charged = sameDataset(refused);
      await journal.settle(await create(journal, charged), chargedAt(charged, 1));
      await create(journal, sameDataset(refused));
      assert.equal(journal.intents.length, 2);
    });

    it('creates one when windows race', async () => {
      const racers = await Promise.all([otherWindow(), otherWindow()]);
      for (let round = 0; round < 10; round++) {
        const intent = sampleIntent();
        const drafts = racers.map(() => sameDataset(intent));
        // One that lists the folder before the other one writes may be withdrawn by that one: before it returns, or afterwards.
        const ids = await Promise.all(
          racers.map((racer, at) =>
            racer.ask('create', drafts[at]!).catch((error: unknown) => {
              assert.match(String(error), /submitted meanwhile/);
            }),
          ),
        );
        assert.equal(stored('open').length, round + 1);
        // Then it can't begin.
        for (const [at, racer] of racers.entries())
          if (ids[at] === drafts[at]?.id && !stored('open').includes(drafts[at]!.id))
            await assert.rejects(racer.ask('write', { ...drafts[at]!, keyId: 'x' }));
      }
    });
  });

  describe('ownership of an intent', () => {
    it('allows only the owner to write, and to settle what was not charged', async () => {
      const journal = await opened();
      const intent = sampleIntent();
      const lease = await create(journal, intent);
      const otherLease = await create(journal, sampleIntent());
      const notOwner = { code: 'not-owner' };
      const settled: Receipt = { ...intent, settled: { kind: 'not-charged', at: { localMs: 1 } } };
      await assert.rejects(journal.settle(otherLease, settled), notOwner);
      await assert.rejects(journal.write(otherLease, { ...intent, keyId: 'x' }), notOwner);
      assert.equal(versionsOf(intent.id), 1);
      await journal.settle(lease, chargedAt(intent, 1));
      assert.deepEqual(stored('settled'), [intent.id]);
    });

    describe('that was lost without a trace', () => {
      const begun = (intent: Intent): Intent => ({ ...intent, attempts: [{ started: { localMs: 5 } }] });
      const closed = (intent: Intent): Intent => ({
        ...intent,
        attempts: [{ started: { localMs: 5 }, closed: { localMs: 6 } }],
      });
      const notCharged = (intent: Intent): Receipt => ({
        ...intent,
        settled: { kind: 'not-charged', at: { localMs: 7 } },
      });
      const notOwner = { code: 'not-owner' };
      let journal: Journal;
      let other: OtherWindow;
      let intent: Intent;
      let lease: Lease;
      /** Another window takes an intent whose owner doesn't know that its lock is gone. */
      beforeEach(async function () {
        if (process.platform === 'win32') this.skip();
        [journal, other, intent] = [await opened(), await otherWindow(), begun(sampleIntent())];
        lease = await create(journal, intent);
        // POSIX drops a process's locks on a file when any of its descriptors is closed.
        readFileSync(lockFile(intent.id));
        assert.deepEqual(await other.ask('acquire', intent.id), intent);
        assert.equal(lease.isHeld(), true);
      });

      it('stops the first owner once the second one has written', async () => {
        await other.ask('write', { ...intent, keyId: 'theirs' });
        for (const work of [
          journal.write(lease, { ...intent, keyId: 'ours' }),
          journal.close(lease, closed(intent)),
          journal.settle(lease, notCharged(intent)),
          journal.assertLatest(lease),
        ])
          await assert.rejects(work, notOwner);
        assert.equal(journal.intents[0]?.keyId, 'theirs');
      });

      it('lets only one of two owners mark the closing boundary', async () => {
        // It can't mark an attempt that is not its own, and its own one comes too late.
        await assert.rejects(other.ask('close', closed(intent)), /can't follow/);
        await journal.close(lease, closed(intent));
        await assert.rejects(other.ask('write', intent), /another process has written/);
        await assert.rejects(other.ask('settle', notCharged(intent)), /another process has written/);
        assert.equal(highest(intent.id).attempts[0]?.closed?.localMs, 6);
      });

      it('does not let the closing boundary out after the second owner ended it', async () => {
        await other.ask('settle', notCharged(intent));
        await assert.rejects(journal.close(lease, closed(intent)), notOwner);
        assert.deepEqual(stored('settled'), [intent.id]);
      });

      it('does not let the closing boundary out once the second owner wrote on top of its mark', async () => {
        let theirs = async () => {};
        const racing = await opened({ at: (point) => (point === 'synced' ? theirs() : Promise.resolve()) });
        const second = begun(sampleIntent());
        const ours = await create(racing, second);
        readFileSync(lockFile(second.id));
        theirs = async () => {
          theirs = async () => {};
          await other.ask('acquire', second.id);
          await other.ask('write', { ...closed(second), keyId: 'theirs' });
        };
        await assert.rejects(racing.close(ours, closed(second)), notOwner);
      });

      it('keeps the attempts of a later owner when the answer to an earlier one comes', async () => {
        const attempts = [{ started: { localMs: 5 }, ended: { localMs: 8 } }, { started: { localMs: 9 } }];
        await other.ask('write', { ...intent, attempts });
        await journal.settle(lease, chargedAt(closed(intent), 10));
        const [receipt] = await journal.receipts();
        assert.equal(receipt?.attempts.length, 2);
      });

      it('never loses a charge: it is written over any other end', async () => {
        await other.ask('settle', notCharged(intent));
        const reader = await opened();
        assert.deepEqual(
          (await reader.receipts()).map(({ settled }) => settled.kind),
          ['not-charged'],
        );
        await journal.settle(lease, chargedAt(closed(intent), 8));
        assert.deepEqual(
          (await reader.receipts()).map(({ settled }) => settled.kind),
          ['charged'],
        );
        assert.deepEqual(
          (await reader.unreported()).map(({ id }) => id),
          [intent.id],
        );
      });
    });

    describe('decides who may write what on top of a closing boundary', () => {
      const started = { localMs: 5 };
      const steps = (intent: Intent) => {
        const ended = { started, ended: { localMs: 7 } };
        return {
          begun: { ...intent, attempts: [{ started }] },
          closing: { ...intent, attempts: [{ started, closed: { localMs: 6 } }] },
          draft: { ...intent, attempts: [ended] },
          refused: { ...intent, attempts: [ended], refused: { at: started, code: 'insufficient_balance' } },
          'not-charged': { ...intent, settled: { kind: 'not-charged', at: started } } as Receipt,
        };
      };
      const ONLY_OWN = ['begun', 'draft', 'refused', 'not-charged'] as const;
      const closing = async () => {
        const journal = await opened();
        const intent = sampleIntent();
        const lease = await create(journal, intent);
        await journal.write(lease, steps(intent).begun);
        await journal.close(lease, steps(intent).closing);
        return { journal, intent, lease };
      };

      for (const step of ONLY_OWN) {
        it(`its own window: ${step}`, async () => {
          const { journal, intent, lease } = await closing();
          await journal.write(lease, steps(intent)[step]);
          assert.equal(versionsOf(intent.id), 4);
        });

        it(`not who only read it, in this process or another: ${step}`, async () => {
          const { journal, intent, lease } = await closing();
          lease.release();
          const expected = { name: 'RangeError', message: `${step} can't follow closing` };
          for (const reader of [journal, await opened()]) {
            const owned = await reader.acquire(intent.id);
            await assert.rejects(reader.write(owned!.lease, steps(intent)[step]), expected);
            owned!.lease.release();
          }
          assert.equal(versionsOf(intent.id), 3);
          assert.equal(journal.intents[0]?.attempts[0]?.closed?.localMs, 6);
        });
      }

      it('not its own window once it has read it again', async () => {
        const { journal, intent, lease } = await closing();
        lease.release();
        const owned = await journal.acquire(intent.id);
        const ended = { started, closed: { localMs: 6 }, ended: { localMs: 7 } };
        await journal.write(owned!.lease, { ...intent, attempts: [ended] });
        await assert.rejects(journal.write(owned!.lease, steps(intent).draft), RangeError);
        owned!.lease.release();
      });
    });

    it('adds a charge to a receipt that was none, and a further run to a charge, once', async () => {
      const journal = await opened();
      const intent = sampleIntent();
      const receipt: Receipt = { ...intent, settled: { kind: 'discarded', at: { localMs: 1 } } };
      await journal.settle(await create(journal, intent), receipt);
      const chargeOf = (run_id: string) =>
        ({ kind: 'charged', at: { localMs: 2 }, run: { run_id }, foundBy: 'found' }) as const;
      for (const run of ['a', 'a', 'b', 'b', 'a']) await journal.addCharge(intent.id, chargeOf(run));
      const [charged] = await journal.receipts();
      assert.ok(charged?.settled.kind === 'charged');
      assert.deepEqual(
        runsOf(charged.settled).map(({ run_id }) => run_id),
        ['a', 'b'],
      );
      assert.equal(await journal.addCharge(sampleIntent().id, chargeOf('a')), undefined);
    });

    it('reads the intent from disk when its ownership is taken', async () => {
      const [journal, unaware] = [await opened(), await opened()];
      const intent = sampleIntent();
      const lease = await create(journal, intent);
      await unaware.reload();
      await journal.write(lease, { ...intent, keyId: 'of another window' });
      assert.equal(unaware.intents[0]?.keyId, undefined);
      lease.release();
      const taken = await unaware.acquire(intent.id);
      assert.equal(taken?.intent.keyId, 'of another window');
      assert.equal(unaware.intents[0]?.keyId, 'of another window');
      assert.equal(taken.lease.isHeld(), true);
    });

    it('gives no ownership of a settled or missing intent, or an invalid ID', async () => {
      const journal = await opened();
      const intent = sampleIntent();
      await journal.settle(await create(journal, intent), chargedAt(intent, 1));
      for (const id of [intent.id, sampleIntent().id, '../receipts/x', '', 'notices']) {
        assert.equal(await journal.acquire(id), undefined);
        assert.equal(await journal.isOwned(id), false);
      }
      leases.push((await Lease.take(lockFile('notices')))!);
      assert.equal(await journal.isOwned('notices'), false);
    });

    it('gives no ownership while the owner is suspended, but at once when it is dead', async function () {
      if (process.platform === 'win32') this.skip();
      const owner = await otherWindow();
      const journal = await opened();
      const intent = sampleIntent();
      await owner.ask('create', intent);
      owner.suspend();
      assert.equal(await journal.acquire(intent.id), undefined);
      assert.equal(await journal.isOwned(intent.id), true);
      assert.deepEqual(await journal.create(sameDataset(intent)), { existing: intent });
      await owner.kill();
      assert.equal(await journal.isOwned(intent.id), false);
      assert.deepEqual((await journal.acquire(intent.id))?.intent, intent);
    });

    it('ends ownership when the folder is replaced', async () => {
      const journal = await opened();
      const intent = sampleIntent();
      const lease = await create(journal, intent);
      renameSync(directory, path.join(folder(), 'away'));
      assert.equal(lease.isHeld(), false);
      await assert.rejects(journal.write(lease, intent), { code: 'not-owner' });
      assert.equal(existsSync(directory), false);
      await journal.reload();
      assert.deepEqual(journal.intents, []);
      // A new folder works again, and is watched.
      const unaware = await opened();
      const next = sampleIntent();
      await create(journal, next);
      await until(() => unaware.intents.length === 1);
      const again = sampleIntent();
      await create(unaware, again);
      await until(() => journal.intents.length === 2);
    });
  });

  describe('settles', () => {
    it('by turning the intent into a receipt and ending its lease', async () => {
      const journal = await opened();
      const intent = sampleIntent();
      const lease = await create(journal, intent);
      await journal.settle(lease, chargedAt(intent, 7));
      assert.deepEqual(journal.intents, []);
      assert.equal(lease.isHeld(), false);
      assert.deepEqual([stored('open'), stored('settled')], [[], [intent.id]]);
      const { settled, ...rest } = chargedAt(intent, 7);
      const receipt = { ...rest, settled: { ...settled, unshown: true } };
      assert.deepEqual(await journal.receipts(), [receipt]);
      assert.deepEqual(await (await opened()).receipts(), [receipt]);
    });

    it('with a charge that no window has shown yet, until it was, unless a further run came meanwhile', async () => {
      const journal = await opened();
      const intent = sampleIntent();
      await journal.settle(await create(journal, intent), chargedAt(intent, 1));
      const unshown = async () => (await (await opened()).unreported()).length;
      const [first] = await journal.unreported();
      const more = {
        kind: 'charged',
        at: { localMs: 2 },
        run: { run_id: 'more' },
        foundBy: 'found',
      } as const;
      await journal.addCharge(intent.id, more);
      await journal.setShown(first!);
      assert.equal(await unshown(), 1);
      const [second] = await journal.unreported();
      await journal.setShown(second!);
      assert.equal(await unshown(), 0);
      assert.equal((await journal.receipts())[0]?.settled.kind, 'charged');
    });

    it('and empties the older versions, except a charge right below', async () => {
      const journal = await opened();
      const intent = sampleIntent();
      const lease = await create(journal, intent);
      await journal.write(lease, { ...intent, keyCheck: { salt: 's', hash: 'h' } });
      await journal.settle(lease, chargedAt(intent, 1));
      const sizes = () => [1, 2, 3].map((n) => statSync(versionFile(intent.id, n)).size > 0);
      await until(() => !sizes()[0] && !sizes()[1]);
      await journal.setShown((await journal.unreported())[0]!);
      assert.deepEqual(sizes(), [false, false, true]);
    });

    it('and lists receipts newest first in every window', async () => {
      const [journal, unaware] = [await opened(), await opened()];
      assert.deepEqual(await unaware.receipts(), []);
      const times = [5, 30, 1, 20, 9, 11, 2, 40, 3, 4];
      for (const atMs of times) {
        const intent = sampleIntent();
        await journal.settle(await create(journal, intent), chargedAt(intent, atMs));
      }
      const listed = async () => (await unaware.receipts()).map(({ settled }) => settled.at.localMs);
      const expected = times.toSorted((one, other) => other - one);
      assert.deepEqual(await listed(), expected);
      const [newest] = await unaware.receipts();
      for (let n = versionsOf(newest!.id); n > 0; n--) rmSync(versionFile(newest!.id, n));
      assert.deepEqual(await listed(), expected.slice(1));
    });
  });

  describe('follows other windows', () => {
    it('and fires once for each change', async () => {
      const journal = await opened();
      let fired = 0;
      journal.onDidChange(() => fired++);
      const other = await otherWindow();
      const intent = sampleIntent();
      await other.ask('create', intent);
      await until(() => fired === 1);
      assert.deepEqual(journal.intents, [intent]);
      await other.ask('write', { ...intent, keyId: 'b' });
      await until(() => fired === 2);
      assert.equal(journal.intents[0]?.keyId, 'b');
      await journal.reload();
      assert.equal(fired, 2, 'nothing has changed');
      await other.ask('settle', chargedAt(intent, 1));
      await until(() => fired === 3);
      assert.deepEqual(journal.intents, []);
    });

    it('without replacing its own change by older data', async () => {
      const journal = await opened();
      // Large, so that some are written while others are read.
      const intents = Array.from({ length: 12 }, () => sampleIntent({ label: 'x'.repeat(100_000) }));
      const owned: [Lease, Intent][] = [];
      for (const intent of intents) owned.push([await create(journal, intent), intent]);
      let written = 0;
      journal.onDidChange(() => {
        const now = journal.intents.filter(({ keyId }) => keyId === 'new').length;
        assert.ok(now >= written, `${now} of ${written}`);
        written = now;
      });
      const work = owned.flatMap(([lease, intent]) => [
        journal.reload(),
        journal.write(lease, { ...intent, keyId: 'new' }),
      ]);
      await Promise.all(work);
      assert.equal(written, intents.length);
    });
  });

  describe('on a disk that fails', () => {
    const full = Object.assign(new Error('no space left'), { code: 'ENOSPC' });

    let isFull: boolean;
    /** @param isTooLate whether it fails after the file got its name, as when syncing the folder fails */
    const filling = (isTooLate: boolean) =>
      opened({
        link: async (from, to) => {
          if (!isFull || isTooLate) await link(from, to);
          if (isFull) throw full;
        },
      });

    it('is overtaken if another window has written, though nothing can be written', async () => {
      isFull = false;
      const journal = await filling(false);
      const intent = sampleIntent();
      const created = await journal.create(intent);
      assert.ok('lease' in created);
      isFull = true;
      await assert.rejects(journal.write(created.lease, intent), full);
      appendVersion(directory, intent.id, (mine) => ({ ...mine, keyId: 'other' }));
      await assert.rejects(journal.write(created.lease, intent), { code: 'not-owner' });
    });

    for (const isTooLate of [false, true]) {
      const when = isTooLate ? 'after' : 'before';
      it(`creates nothing, reports the error, and can be retried: ${when} the file got its name`, async () => {
        isFull = true;
        const journal = await filling(isTooLate);
        const intent = sampleIntent();
        await assert.rejects(journal.create(intent), full);
        assert.deepEqual(journal.intents, []);
        isFull = false;
        const next = sampleIntent();
        await journal.settle(await create(journal, next), chargedAt(next, 1));
      });

      it(`matches the intent on the disk: ${when} the file got its name`, async () => {
        isFull = false;
        const journal = await filling(isTooLate);
        const intent = sampleIntent();
        const lease = await create(journal, intent);
        isFull = true;
        await assert.rejects(journal.write(lease, { ...intent, keyId: 'new' }), full);
        assert.deepEqual([journal.intents[0]?.keyId, lease.isHeld()], [isTooLate ? 'new' : undefined, true]);
        isFull = false;
        await journal.settle(lease, chargedAt(intent, 1));
      });
    }

    it('settles nothing and can be retried', async () => {
      isFull = false;
      const journal = await filling(false);
      const intent = sampleIntent();
      const lease = await create(journal, intent);
      isFull = true;
      await assert.rejects(journal.settle(lease, chargedAt(intent, 1)), full);
      assert.deepEqual([journal.intents, lease.isHeld(), stored('settled')], [[intent], true, []]);
      isFull = false;
      await journal.settle(lease, chargedAt(intent, 1));
      assert.deepEqual(stored('open'), []);
    });

    it('writes nothing that it could not read back', async () => {
      const journal = await opened();
      const intent = sampleIntent();
      await assert.rejects(journal.create({ ...intent, boundary: '' }));
      await assert.rejects(journal.create({ ...intent, label: 'x'.repeat(2 ** 20) }), RangeError);
      await assert.rejects(journal.create({ ...intent, created: { localMs: NaN } }));
      assert.deepEqual(stored('open'), []);
    });
  });

  describe('after a crash', () => {
    it('ignores temporary files', async () => {
      const journal = await opened();
      const open = sampleIntent();
      (await create(journal, open)).release();
      for (const { id } of [open, sampleIntent()])
        writeFileSync(path.join(directory, `${id}.2.json.${sampleIntent().id}.tmp`), '{');
      assert.deepEqual((await opened()).intents, [open]);
    });
  });
});
