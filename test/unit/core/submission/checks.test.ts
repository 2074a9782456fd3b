import assert from 'node:assert/strict';
import path from 'node:path';
import type { Submission } from '../../../../src/core/submission/submission.ts';
import { Journal } from '../../../../src/core/submission/journal.ts';
import { Submissions } from '../../../../src/core/submission/submissions.ts';
import { made, WatchBench } from '../../../helpers/runs/watchBench.ts';
import { sampleSubmission } from '../../../helpers/submissions.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

describe('Automatic checks', () => {
  it('of 3 submissions among 20 runs in 3 windows send at most 120 requests an hour, polls included', async function () {
    const bench = await WatchBench.start();
    const folder = path.join(bench.folder, 'submissions');
    bench.rows = Array.from({ length: 20 }, (_, index) => made(bench, `r${index}`, index * 10 * SECOND));
    const windows = ['a', 'b', 'c'].map((name) => {
      const journal = new Journal(folder);
      const submissions = new Submissions(journal, { clock: bench.clock });
      const window = bench.window(name);
      window.areRowsShown = window.isAwaiting = true;
      return { ...window, journal, submissions };
    });
    const [{ journal }] = windows as [(typeof windows)[0]];
    try {
      for (const one of windows) await one.journal.open();
      for (const minutes of [0, 1, 2]) {
        const created = await journal.create(unansweredSince(bench, minutes * MINUTE), []);
        assert.ok('lease' in created);
        created.lease.release();
      }
      for (const { watcher, submissions } of windows) {
        watcher.readAll();
        await submissions.probe();
      }
      // Each window reads models and balance when it is opened: reads of the user, which don't count. What the quota allows in an hour
      // (40 stored and 75 more) and these six were 121 together.
      await bench.until(() =>
        windows.every(({ session: { models, balance } }) => models.current && balance.current),
      );
      const opening = bench.asked.length;
      for (let ms = 0; ms < 60 * MINUTE; ms += 5 * SECOND) {
        await bench.pass(5 * SECOND);
        await Promise.all(windows.map(({ session, submissions }) => submissions.checkDue(session)));
      }
      await bench.settle();
      const count = (what: string) => bench.asked.filter((one) => one.endsWith(what)).length;
      const sent = bench.asked.length - opening;
      assert.ok(sent <= 120, `${sent} requests`);
      const checks = journal.submissions.map(({ lastCheck }) => lastCheck?.at.localMs ?? 0);
      // Each every 5 minutes, and a little later if a poll has just used up the quota.
      assert.ok(Math.min(...checks) > bench.clock.nowMs() - 8 * MINUTE);
      // Whichever has the lock: they are opened at once.
      const polling = bench.asked.filter((one) => one.includes('/runs')).map((one) => one[0]);
      assert.equal(new Set(polling).size, 1, polling.join(''));
      for (const { run_id } of bench.rows) assert.equal(count(`/runs/${run_id}`), 1);
    } finally {
      for (const one of windows) for (const part of [one.submissions, one.journal]) part.dispose();
      await bench.end();
    }
  });
});

/** Returns a submission whose answer was lost, and whose balance before is unknown, so that checks prove nothing. */
function unansweredSince({ clock }: WatchBench, agoMs: number): Submission {
  const at = {
    localMs: clock.nowMs() - agoMs,
    monotonicMs: clock.monotonicMs() - agoMs,
    serviceMs: clock.nowMs() - agoMs,
  };
  return sampleSubmission({
    accountId: 'account-1',
    keyId: 'key-1',
    marker: 'ft-7k3m9qpx',
    label: 'Läbel ft-7k3m9qpx',
    attempts: [{ started: at, closed: at, ended: at }],
  });
}
