import assert from 'node:assert/strict';
import { rmSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { writeFileDurably } from '../../../../src/core/storage/durableFile.ts';
import type { Session } from '../../../../src/core/runs/session.ts';
import type { Submitter } from '../../../../src/core/submission/submitter.ts';
import { created, error, type Post, Stage } from '../../../helpers/runs/stage.ts';
import { silent, until } from '../../../helpers/runs/support.ts';

describe('Submitter, among windows', () => {
  let stage: Stage;
  let submitter: Submitter;
  let session: Session;
  beforeEach(async () => {
    stage = await Stage.start();
    submitter = stage.submitter;
    session = stage.session();
  });
  afterEach(() => stage.end());

  const stateOf = (one = submitter) => one.pending.map(({ state }) => state);

  describe('two windows', () => {
    it('send the same bytes and model once', async () => {
      const other = await stage.otherWindow();
      const draft = await stage.marked();
      const outcomes = await Promise.all([
        submitter.submit(session, draft, silent()).result,
        other.submitter.submit(stage.session(), draft, silent()).result,
      ]);
      assert.deepEqual(outcomes.map(({ kind }) => kind).sort(), ['charged', 'open']);
      assert.equal(stage.posts.length, 1);
    });

    it('have one owner of each intent; the other one sees it, and may not touch it', async () => {
      const other = await stage.otherWindow();
      stage.answers = [() => undefined];
      const outcome = submitter.submit(session, await stage.marked(), silent()).result;
      await until(() => stage.posts.length === 1);
      await until(() => stateOf(other.submitter)[0] === 'elsewhere');
      const { id } = stage.intent;
      const mine = stage.session();
      assert.deepEqual(await other.submitter.resume(mine, id, silent()).result, { kind: 'elsewhere' });
      assert.equal(await other.submitter.check(mine, id), undefined);
      assert.deepEqual(
        [
          await other.submitter.adopt(mine, id, 'run-1'),
          await other.submitter.discard(id),
          other.submitter.cancel(id),
        ],
        [false, false, false],
      );
      assert.deepEqual(stateOf(), ['validating']);
      // The owner ends: whoever comes next takes over, at once, and finds what was charged.
      stage.charge(stage.posts[0] as Post);
      submitter.dispose();
      await outcome;
      assert.equal((await other.submitter.resume(mine, id, silent()).result).kind, 'charged');
      assert.deepEqual([stage.posts.length, stage.runs.length], [1, 1]);
    });

    it('resume at once: it is sent once more, by one', async () => {
      stage.answers = [error(409, 'idempotency_conflict'), created];
      await submitter.submit(session, await stage.marked(), silent()).result;
      const { id } = stage.intent;
      const other = await stage.otherWindow();
      const outcomes = await Promise.all([
        submitter.resume(session, id, silent()).result,
        other.submitter.resume(stage.session(), id, silent()).result,
        submitter.resume(session, id, silent()).result,
      ]);
      assert.deepEqual(outcomes.map(({ kind }) => kind).sort(), ['charged', 'elsewhere', 'elsewhere']);
      assert.deepEqual([stage.posts.length, stage.runs.length], [2, 1]);
    });
  });

  it('sends no byte more when another may own it: the lease is read again before the closing boundary', async () => {
    stage.onHead = () =>
      unlinkSync(path.join(stage.bench.journalFolder, 'leases', `${stage.intent.id}.lock`));
    const outcome = await submitter.submit(session, await stage.bench.draft(200_000), silent()).result;
    assert.deepEqual([outcome.kind, stage.posts.length], ['elsewhere', 0]);
  });

  it('nor when it was lost while that was written', async () => {
    const write: typeof writeFileDurably = async (file, text) => {
      await writeFileDurably(file, text);
      if (!text.includes('"closed"')) return;
      unlinkSync(path.join(stage.bench.journalFolder, 'leases', `${stage.intent.id}.lock`));
    };
    await stage.end();
    stage = await Stage.start({ write });
    const outcome = await stage.submitter.submit(stage.session(), await stage.marked(), silent()).result;
    assert.deepEqual([outcome.kind, stage.posts.length], ['elsewhere', 0]);
  });

  it('know of a charge that a killed window could not tell any more, and one of them tells it', async () => {
    const outcome = await stage.submitter.submit(stage.session(), await stage.marked(), silent()).result;
    assert.ok(outcome.kind === 'charged');
    const { run_id } = outcome.run;
    const { journal } = await stage.otherWindow();
    assert.deepEqual(
      (await journal.unreported()).map(({ settled }) => settled.kind === 'charged' && settled.run),
      [outcome.run],
    );
    const claims = [journal, stage.bench.journal].map((each) => each.claimNotice(run_id));
    assert.deepEqual((await Promise.all(claims)).sort(), [false, true]);
    assert.deepEqual(await journal.unreported(), []);
  });

  it('tell a charge once though the disk took no notice of it', async () => {
    rmSync(path.join(stage.bench.journalFolder, 'notices'), { recursive: true });
    const outcome = await stage.submitter.submit(stage.session(), await stage.marked(), silent()).result;
    assert.ok(outcome.kind === 'charged');
    const claim = () => stage.bench.journal.claimNotice(outcome.run.run_id);
    assert.deepEqual([await claim(), await claim()], [true, false]);
  });

  it('tell no charge again that was told', async () => {
    const outcome = await stage.submitter.submit(stage.session(), await stage.marked(), silent()).result;
    assert.ok(outcome.kind === 'charged');
    const { journal } = await stage.otherWindow();
    assert.equal((await journal.unreported()).length, 1);
    outcome.onReported?.();
    while ((await journal.unreported()).length > 0) await turn();
    assert.equal((await journal.receipts()).length, 1);
  });

  it('tells the charge though it cannot be written, and after a restart finds it again without sending', async () => {
    const write: typeof writeFileDurably = (file, text) =>
      path.basename(path.dirname(file)) === 'receipts'
        ? Promise.reject(new Error('no space left'))
        : writeFileDurably(file, text);
    await stage.end();
    stage = await Stage.start({ write });
    const outcome = await stage.submitter.submit(stage.session(), await stage.marked(), silent()).result;
    assert.deepEqual([outcome.kind, stage.submitter.pending], ['charged', []]);
    const other = await stage.otherWindow();
    await until(() => stateOf(other.submitter)[0] === 'unknown');
    const found = await other.submitter.check(stage.session(), stage.intent.id);
    assert.deepEqual([found?.verdict, stage.posts.length], ['charged', 1]);
  });
});
