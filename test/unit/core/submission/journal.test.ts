import assert from 'node:assert/strict';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { link } from 'node:fs/promises';
import path from 'node:path';
import { Lease } from '../../../../src/core/storage/lease.ts';
import {
  Journal,
  type JournalOptions,
  type KnownSubmissions,
} from '../../../../src/core/submission/journal.ts';
import { bytesKeyOf, ended, type Submission } from '../../../../src/core/submission/submission.ts';
import { useFolder } from '../../../helpers/folder.ts';
import {
  appendVersion,
  highestVersion,
  keepVersions,
  writeVersion,
} from '../../../helpers/journalVersions.ts';
import { chargedAt, refusedWith, sameDataset, sampleSubmission } from '../../../helpers/submissions.ts';

describe('Journal', () => {
  const folder = useFolder();
  let directory: string;
  let ends: (() => void)[];

  beforeEach(() => {
    directory = path.join(folder(), 'storage', 'journal');
    ends = [];
  });
  afterEach(() => ends.forEach((end) => end()));

  /** Opens the journal of a window. */
  async function opened(options: JournalOptions = {}): Promise<Journal> {
    const journal = new Journal(directory, { onUnreadable: (file) => assert.fail(file), ...options });
    ends.push(() => journal.dispose());
    await journal.open();
    return journal;
  }

  async function create(
    journal: Journal,
    submission: Submission,
    told: KnownSubmissions = [],
  ): Promise<Lease> {
    const created = await journal.create(submission, told);
    assert.ok('lease' in created);
    ends.push(() => created.lease.release());
    return created.lease;
  }

  /** A window's journal with a submission of its own. */
  async function owning(changes: Partial<Submission> = {}, options?: JournalOptions) {
    const journal = await opened(options);
    const submission = sampleSubmission(changes);
    return { journal, submission, lease: await create(journal, submission) };
  }

  const onDisk = ({ id }: Submission) => highestVersion(directory, id);
  const names = () => readdirSync(directory).filter((name) => name.endsWith('.json'));
  const lockFile = (id: string) => path.join(directory, 'leases', `${id}.lock`);
  const notOwner = { code: 'not-owner' };
  const idsOf = (records: readonly (Submission | undefined)[]) => records.map((record) => record?.id);
  const at = { localMs: 1 };
  const notCharged = (submission: Submission) => ended(submission, 'not-charged', { at });
  const discarded = (submission: Submission) => ended(submission, 'discarded', { at });
  const sent = (submission: Submission): Submission => ({
    ...submission,
    stage: 'sent',
    attempts: [{ started: at, closed: at }],
  });
  const chargeOf = (run_id: string) => ({ at, run: { run_id }, foundBy: 'found' as const });

  it('restores open submissions after a restart, oldest first, and refused ones until the same bytes are submitted again', async () => {
    const first = await opened();
    const given = [{}, refusedWith('insufficient_balance'), {}];
    const submissions = given.map((changes) => sampleSubmission({ attempts: [{ started: at }], ...changes }));
    const refused = submissions[1]!;
    for (const submission of submissions.toReversed()) {
      const lease = await create(first, { ...submission, stage: 'draft', attempts: [] });
      await first.write(lease, submission);
    }
    assert.deepEqual(first.submissions, submissions);
    const second = await opened();
    assert.deepEqual(second.submissions, submissions);
    const next = sameDataset(refused);
    await create(second, next, await second.knownOf(refused));
    assert.deepEqual(second.submissions, [submissions[0], submissions[2], next]);
    assert.deepEqual(onDisk(next).k, 2);
  });

  describe('claims bytes', () => {
    const earlier: Readonly<
      Record<string, [(submission: Submission) => Submission, next: 'existing' | number]>
    > = {
      'an open one': [(submission) => submission, 'existing'],
      'one that may be charged': [sent, 'existing'],
      'an open one of another account': [(submission) => ({ ...submission, accountId: 'b' }), 2],
      'a refused one': [(submission) => ({ ...submission, ...refusedWith('insufficient_balance') }), 2],
      'a discarded one': [discarded, 2],
      'a charged one': [(submission) => chargedAt(submission, 1), 2],
      'one of another service': [(submission) => ({ ...submission, origin: 'https://other.test' }), 1],
      'one with another model': [(submission) => ({ ...submission, model_id: 'b' }), 1],
    };
    for (const [what, [earlierOf, next]] of Object.entries(earlier))
      it(`after ${what}`, async () => {
        const journal = await opened();
        const submission = sampleSubmission();
        const below = earlierOf(sameDataset(submission));
        writeVersion(directory, 1, below);
        const told = await journal.knownOf(submission);
        assert.deepEqual(idsOf(told.map(({ record }) => record)), next === 1 ? [] : [below.id]);
        const created = await journal.create(submission, told);
        if ('existing' in created) assert.deepEqual([created.existing.id, next], [below.id, 'existing']);
        else assert.deepEqual([onDisk(submission).k, names().length], [next, 2]);
        if ('lease' in created) created.lease.release();
      });

    it('in the window that is first; the other one gets an error', async () => {
      const [one, other] = [await opened(), await opened()];
      const first = sampleSubmission();
      const second = sameDataset(first);
      const told = await other.knownOf(second);
      await create(one, first);
      await assert.rejects(other.create(second, told), { code: 'taken' });
      assert.deepEqual([one.isCreated(first.id), other.isCreated(second.id)], [true, false]);
      assert.equal(await Lease.isTaken(lockFile(second.id)), false);
      assert.deepEqual(await other.create(second, await other.knownOf(second)), { existing: first });
    });

    it('but not without a lease, nor for a record that could not be read back', async () => {
      const journal = await opened();
      const submission = sampleSubmission();
      const lease = await Lease.take(lockFile(submission.id));
      await assert.rejects(journal.create(submission, []), notOwner);
      lease?.release();
      for (const changes of [{ boundary: '' }, { label: 'x'.repeat(2 ** 20) }, { created: { localMs: NaN } }])
        await assert.rejects(journal.create({ ...submission, ...changes }, []));
      assert.deepEqual(names(), []);
      await create(journal, submission);
    });
  });

  describe('lets a window acquire a submission', () => {
    it('as it is on the disk, if it is open or was refused', async () => {
      const { journal, submission, lease } = await owning();
      const unaware = await opened();
      assert.equal(await unaware.isOwned(submission.id), true);
      assert.equal(await unaware.acquire(submission.id), undefined);
      const refused = { ...submission, ...refusedWith('insufficient_balance') };
      await journal.write(lease, refused);
      lease.release();
      assert.equal(await unaware.isOwned(submission.id), false);
      const taken = await unaware.acquire(submission.id);
      assert.deepEqual([taken?.submission, unaware.submissions], [refused, [refused]]);
      await unaware.settle(taken!.lease, notCharged(refused));
      assert.equal(await journal.acquire(submission.id), undefined, 'it is over');
    });

    it('but not by an unknown ID, or one whose name has another record since the storage was set back', async () => {
      const { journal, submission, lease } = await owning();
      lease.release();
      rmSync(path.join(directory, names()[0]!));
      writeVersion(directory, 1, sameDataset(submission));
      const notices = await Lease.take(lockFile('notices'));
      ends.push(() => notices?.release());
      for (const id of [submission.id, sampleSubmission().id, '../receipts/x', '', 'notices'])
        assert.equal(await journal.acquire(id), undefined);
      assert.equal(await journal.isOwned('notices'), false);
    });
  });

  describe('with a version that another window wrote', () => {
    const begun = { attempts: [{ started: at }] };
    /** Each action of the other window, and the record on the disk after it. */
    const others: Readonly<Record<string, (submission: Submission) => Submission>> = {
      'the next version': (submission) => {
        appendVersion(directory, submission.id, (record) => ({ ...record, keyId: 'theirs' }));
        return { ...submission, keyId: 'theirs' };
      },
      'the same version, after the storage was set back': (submission) => {
        const another = sameDataset(submission);
        rmSync(path.join(directory, names()[0]!));
        writeVersion(directory, 1, another);
        return another;
      },
    };
    for (const [what, write] of Object.entries(others))
      it(`${what}: the owner writes and sends nothing`, async () => {
        const { journal, submission, lease } = await owning(begun);
        const theirs = write(submission);
        for (const work of [
          // Not even a record equal to theirs.
          () => journal.write(lease, { ...submission, keyId: 'theirs' }),
          () => journal.close(lease, sent(submission)),
          () => journal.settle(lease, notCharged(submission)),
          () => journal.assertLatest(lease),
        ])
          await assert.rejects(work, notOwner);
        assert.deepEqual(journal.submissions, [theirs]);
        assert.deepEqual(onDisk(theirs).record, theirs);
      });

    it('on top of `sent`: the last bytes don’t leave', async () => {
      let theirs = (): unknown => undefined;
      const at = (point: string) => Promise.resolve(point === 'synced' && theirs()).then(() => undefined);
      const { journal, submission, lease } = await owning(begun, { at });
      theirs = () => appendVersion(directory, submission.id, (record) => record);
      await assert.rejects(journal.close(lease, sent(submission)), notOwner);
    });

    it('rejects the lease of another record', async () => {
      const { journal, submission } = await owning();
      const lease = await create(journal, sampleSubmission());
      await assert.rejects(journal.write(lease, { ...submission, keyId: 'x' }), notOwner);
      await assert.rejects(journal.assertLatest({} as Lease), notOwner);
      assert.equal(onDisk(submission).n, 1);
    });

    it('writes a charge on top of it, with the attempts of the later owner', async () => {
      const { journal, submission, lease } = await owning(begun);
      const attempts = [...submission.attempts, { started: at }];
      appendVersion(directory, submission.id, (record) => notCharged({ ...record, attempts }));
      await journal.settle(lease, chargedAt(sent(submission), 8));
      const { record, n } = onDisk(submission);
      assert.deepEqual([n, record.stage, record.attempts, record.end], [3, 'charged', attempts, undefined]);
    });

    for (const stage of ['sent', 'ended'])
      it(`writes a charge on top of a later format: ${stage}`, async () => {
        const { journal, submission, lease } = await owning(begun);
        appendVersion(directory, submission.id, (record) => ({ ...record, version: 2, stage }) as never);
        await journal.settle(lease, chargedAt(sent(submission), 8));
        const { record, n } = onDisk(submission);
        assert.deepEqual([n, record.stage, record.version], [3, 'charged', 1]);
      });

    it('writes a charge again after the storage was set back to before its submission', async () => {
      const { journal, submission, lease } = await owning(begun);
      rmSync(path.join(directory, names()[0]!));
      await journal.reload();
      await journal.settle(lease, chargedAt(submission, 8));
      assert.deepEqual((await journal.unreported())[0]?.id, submission.id);
    });

    it('doesn’t write a charge on top of another submission that got its name', async () => {
      const { journal, submission, lease } = await owning(begun);
      const another = others['the same version, after the storage was set back']!(submission);
      await journal.settle(lease, chargedAt(submission, 8));
      assert.deepEqual([names().length, onDisk(another).record], [1, another]);
    });
  });

  describe('settles', () => {
    it('by turning the submission into a receipt, ending its lease, and emptying lower versions', async () => {
      const { journal, submission, lease } = await owning();
      await journal.settle(lease, discarded(submission));
      assert.deepEqual([journal.submissions, lease.isHeld(), onDisk(submission).n], [[], false, 2]);
      assert.deepEqual(await (await opened()).receipts(), [discarded(submission)]);
      assert.equal(statSync(path.join(directory, `${bytesKeyOf(submission)}.1.1.json`)).size, 0);
    });

    it('and lists receipts newest first, without refused ones', async () => {
      const [journal, unaware] = [await opened(), await opened()];
      const times = [5, 30, 1, 20, 9];
      for (const atMs of times) {
        const submission = sampleSubmission();
        await journal.settle(await create(journal, submission), chargedAt(submission, atMs));
      }
      await create(journal, sampleSubmission(refusedWith('insufficient_balance')));
      const listed = (await unaware.receipts()).map(({ charge }) => charge?.at.localMs);
      assert.deepEqual(listed, [30, 20, 9, 5, 1]);
    });

    it('and adds a charge to a receipt without one, and a further run to a charge, once', async () => {
      const { journal, submission, lease } = await owning();
      await journal.settle(lease, discarded(submission));
      const open = sampleSubmission();
      await create(journal, open);
      for (const run of ['a', 'a', 'b', 'b', 'a']) await journal.addCharge(submission.id, chargeOf(run));
      const { charge } = (await journal.unreported())[0]!;
      assert.deepEqual(
        [charge.run.run_id, charge.furtherRuns, onDisk(submission).n],
        ['a', [{ run_id: 'b' }], 4],
      );
      for (const { id } of [open, sampleSubmission()])
        assert.equal(await journal.addCharge(id, chargeOf('a')), undefined);
    });
  });

  it('fires once for each change of another window, and forgets versions that were set back', async () => {
    const journal = await opened();
    let fired = 0;
    journal.onDidChange(() => fired++);
    const { journal: other, submission, lease } = await owning();
    const setBack = keepVersions(directory, submission.id);
    const seen: (string | undefined)[] = [];
    const changes: (() => unknown)[] = [
      () => undefined,
      () => undefined,
      () => other.write(lease, { ...submission, keyId: 'b' }),
      setBack,
      () => other.settle(lease, chargedAt(submission, 1)),
    ];
    for (const change of changes) {
      await Promise.resolve(change());
      await journal.reload();
      seen.push(journal.submissions[0]?.keyId);
    }
    assert.deepEqual([seen, fired], [['key-1', 'key-1', 'b', 'key-1', undefined], 4]);
  });

  describe('on a disk that fails', () => {
    const full = Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    let isFull: boolean;
    beforeEach(() => (isFull = false));
    /** @param isTooLate whether it fails after the file got its name, as when syncing the folder fails */
    const filling = (isTooLate: boolean): JournalOptions => ({
      link: async (from, to) => {
        if (!isFull || isTooLate) await link(from, to);
        if (isFull) throw full;
      },
    });

    for (const isTooLate of [false, true])
      it(`matches the disk ${isTooLate ? 'after' : 'before'} the file got its name, and can be retried`, async () => {
        const { journal, submission, lease } = await owning({}, filling(isTooLate));
        isFull = true;
        await assert.rejects(journal.create(sampleSubmission(), []), full);
        await assert.rejects(journal.write(lease, { ...submission, keyId: 'new' }), full);
        assert.equal(journal.submissions[0]?.keyId, isTooLate ? 'new' : 'key-1');
        await assert.rejects(journal.settle(lease, notCharged(submission)), full);
        assert.equal(lease.isHeld(), true);
        isFull = false;
        await journal.write(lease, notCharged(submission));
      });

    it('is overtaken if another window has written, although this one can’t write', async () => {
      const { journal, submission, lease } = await owning({}, filling(false));
      isFull = true;
      await assert.rejects(journal.write(lease, submission), full);
      appendVersion(directory, submission.id, (record) => ({ ...record, keyId: 'theirs' }));
      await assert.rejects(journal.write(lease, submission), notOwner);
      assert.equal(journal.submissions[0]?.keyId, 'theirs');
    });
  });
});
