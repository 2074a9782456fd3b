import assert from 'node:assert/strict';
import path from 'node:path';
import type { Session } from '../../../../src/core/runs/session.ts';
import { Journal } from '../../../../src/core/submission/journal.ts';
import type { Submission } from '../../../../src/core/submission/submission.ts';
import { Submissions } from '../../../../src/core/submission/submissions.ts';
import { made, RefreshBench } from '../../../helpers/runs/refreshBench.ts';
import { sampleSubmission } from '../../../helpers/submissions.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

describe('Automatic checks', () => {
  it('of 3 submissions among 20 runs in 3 windows send at most 120 requests an hour, polls included', async function () {
    const bench = await RefreshBench.start();
    const folder = path.join(bench.folder, 'submissions');
    bench.rows = Array.from({ length: 20 }, (_, index) => made(bench, `r${index}`, index * 10 * SECOND));
    const windows: { session: Session; journal: Journal; submissions: Submissions }[] = [];
    for (const name of ['a', 'b', 'c']) {
      const journal = new Journal(folder);
      await journal.open();
      const window = bench.window(name);
      window.areRowsShown = window.isAwaiting = true;
      const submissions = new Submissions(journal, { clock: bench.clock });
      windows.push({ session: window.session, journal, submissions });
      await bench.pass(SECOND);
    }
    const [{ journal }] = windows as [(typeof windows)[0]];
    try {
      for (const minutes of [0, 1, 2]) {
        const created = await journal.create(unansweredSince(bench, minutes * MINUTE), []);
        assert.ok('lease' in created);
        created.lease.release();
      }
      for (const { submissions } of windows) await submissions.probe();
      for (let ms = 0; ms < 60 * MINUTE; ms += 5 * SECOND) {
        await bench.pass(5 * SECOND);
        await Promise.all(windows.map(({ session, submissions }) => submissions.checkDue(session)));
      }
      await bench.settle();
      const count = (what: string) => bench.asked.filter((one) => one.endsWith(what)).length;
      const sent = bench.asked.length;
      assert.ok(sent <= 120, `${sent} requests`);
      const checks = journal.submissions.map(({ lastCheck }) => lastCheck?.at.localMs ?? 0);
      // One check of each every 5 minutes, a little later if a poll has just used up the quota.
      assert.ok(Math.min(...checks) > bench.clock.nowMs() - 8 * MINUTE);
      // The window that was opened first.
      const polling = bench.asked.filter((one) => one.includes('/runs')).map((one) => one[0]);
      assert.equal(new Set(polling).size, 1, polling.join(''));
      for (const { run_id } of bench.rows) assert.equal(count(`/runs/${run_id}`), 1);
    } finally {
      for (const one of windows) for (const part of [one.submissions, one.journal]) part.dispose();
      await bench.end();
    }
  });
});

/** Returns a submission whose response was lost. Its balance before is unknown, so that checks prove nothing. */
function unansweredSince({ clock }: RefreshBench, agoMs: number): Submission {
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
