import assert from 'node:assert/strict';
import { appendFile, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import type { CheckOptions } from '../../../../src/core/datasets/checker.ts';
import { CheckError, type Report } from '../../../../src/core/datasets/report.ts';
import { Reports, type CheckState } from '../../../../src/core/datasets/reports.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { reportOf } from '../../../helpers/report.ts';

/** A check that runs until the test ends it. */
interface HeldCheck {
  options: CheckOptions;
  finish: () => Promise<void>;
  fail: (error: Error) => void;
}

describe('Reports', () => {
  const folder = useFolder();
  let file: string;
  let checks: HeldCheck[];
  let reports: Reports;
  let changes: CheckState[];

  beforeEach(async () => {
    file = path.join(folder(), 'rows.jsonl');
    await writeFile(file, '{}\n');
    checks = [];
    changes = [];
    reports = new Reports({
      check(path, options = {}) {
        const { promise, resolve, reject } = Promise.withResolvers<Report>();
        // Like the checker, reads the file when the check starts.
        const begun = stat(path, { bigint: true }).then(({ size, mtimeMs, ctimeMs }) => [
          size,
          mtimeMs,
          ctimeMs,
        ]);
        checks.push({
          options,
          finish: async () => {
            const [sizeBytes, mtimeMs, ctimeMs] = (await begun).map(Number);
            resolve(reportOf({ path, sizeBytes, mtimeMs, ctimeMs }));
            await promise;
          },
          fail: reject,
        });
        options.signal?.addEventListener('abort', () => reject(new CancelledError()));
        return promise;
      },
    });
    reports.onDidChange((state) => changes.push(state));
  });
  afterEach(() => {
    reports.dispose();
  });

  /** Waits until `count` checks have started, and returns the last one. */
  async function begun(count: number): Promise<HeldCheck> {
    const giveUpAt = Date.now() + 60_000;
    while (checks.length < count && Date.now() < giveUpAt) await turn();
    assert.equal(checks.length, count);
    return checks[count - 1]!;
  }

  /** Requests a report and finishes the check that this starts. */
  async function checked(ask: 'check' | 'currentReport' = 'check'): Promise<Report> {
    const report = reports[ask](file);
    await (await begun(checks.length + 1)).finish();
    return report;
  }

  it('fires when a check starts, progresses, and ends', async () => {
    const fractions: number[] = [];
    const waiting = reports.check(file, undefined, (fraction) => fractions.push(fraction));
    const check = await begun(1);
    check.options.onProgress?.(0.5);
    assert.equal(reports.get(file)?.progress, 0.5);
    await check.finish();
    const report = await waiting;
    assert.deepEqual(changes, [
      { path: file, progress: 0, report: undefined },
      { path: file, progress: 0.5, report: undefined },
      { path: file, progress: undefined, report },
    ]);
    assert.deepEqual(fractions, [0.5]);
    assert.deepEqual(reports.get(file), { path: file, progress: undefined, report });
  });

  it('returns the last report while the file’s size and both times are unchanged', async () => {
    const mtime = new Date('2026-05-01T12:00:00Z');
    await utimes(file, mtime, mtime);
    let report = await checked();
    assert.equal(await reports.currentReport(file), report);
    const later = new Date(mtime.getTime() + 1_000);
    for (const change of [
      () => appendFile(file, '{}\n'),
      () => utimes(file, mtime, later),
      async () => {
        // Rewritten with its old mtime: ctime differs once a millisecond has passed.
        const changedMs = async () => Math.floor((await stat(file)).ctimeMs);
        const beforeMs = await changedMs();
        do {
          await writeFile(file, '{}\n[]\n');
          await utimes(file, mtime, later);
        } while ((await changedMs()) === beforeMs);
      },
    ]) {
      await change();
      const again = await checked('currentReport');
      assert.notEqual(again, report);
      report = again;
    }
  });

  it('joins a running check', async () => {
    const first = reports.check(file);
    const check = await begun(1);
    const others = [reports.currentReport(file), reports.check(file)];
    await turn();
    await check.finish();
    assert.deepEqual(await Promise.all(others), [await first, await first]);
    assert.equal(checks.length, 1);
  });

  it('never returns a report of bytes that were replaced meanwhile', async () => {
    const first = reports.check(file);
    const check = await begun(1);
    const joined = reports.currentReport(file);
    await turn();
    await appendFile(file, '{}\n');
    await check.finish();
    await (await begun(2)).finish();
    assert.equal((await first).sizeBytes, 3);
    assert.equal((await joined).sizeBytes, 6);
  });

  it('checks again if the file changed during the joined check, and passes on other failures', async () => {
    for (const code of ['changing', 'worker-died'] as const) {
      const before = checks.length;
      const first = reports.check(file);
      const check = await begun(before + 1);
      const joined = reports.check(file);
      await turn();
      check.fail(new CheckError(code));
      await assert.rejects(first, { code });
      if (code === 'changing') {
        await (await begun(before + 2)).finish();
        await joined;
        await appendFile(file, ' ');
      } else await assert.rejects(joined, { code });
    }
  });

  it('rejects each caller that cancels at once, and cancels the check with the last one', async () => {
    const [one, two] = [new AbortController(), new AbortController()];
    const first = reports.check(file, one.signal);
    const check = await begun(1);
    const second = reports.currentReport(file, two.signal);
    await turn();
    one.abort();
    await assert.rejects(first, CancelledError);
    assert.equal(check.options.signal?.aborted, false);
    assert.notEqual(reports.get(file), undefined);
    two.abort();
    await assert.rejects(second, CancelledError);
    assert.equal(check.options.signal.aborted, true);
    assert.equal(reports.get(file), undefined);
  });

  it('keeps the last report when a check is canceled, and drops it when a check fails', async () => {
    const report = await checked();
    const stop = new AbortController();
    const cancelled = reports.check(file, stop.signal);
    await begun(2);
    assert.deepEqual(reports.get(file), { path: file, progress: 0, report });
    stop.abort();
    await assert.rejects(cancelled, CancelledError);
    assert.equal(reports.get(file)?.report, report);
    const failed = reports.check(file);
    (await begun(3)).fail(new CheckError('missing'));
    await assert.rejects(failed, { code: 'missing' });
    assert.equal(reports.get(file), undefined);
    assert.deepEqual(changes.at(-1), { path: file, progress: undefined, report: undefined });
  });

  it('fires for checks that the user asked for, and does not release their reports', async () => {
    let asked = 0;
    reports.onDidCheck(() => asked++);
    await checked('currentReport');
    assert.equal(reports.isAskedFor(file), false);
    assert.equal(asked, 0);
    reports.release(file);
    assert.equal(reports.get(file), undefined);
    await checked();
    assert.equal(asked, 1);
    reports.release(file);
    assert.ok(reports.get(file) !== undefined && reports.isAskedFor(file));
    reports.drop(file);
    assert.equal(reports.get(file), undefined);
    const count = changes.length;
    reports.drop(file);
    assert.equal(changes.length, count);
  });

  it('remembers that the user asked for a file until it is closed, even if it changes', async () => {
    await checked('currentReport');
    const count = changes.length;
    reports.markRequested(file);
    assert.deepEqual([changes.length, reports.isAskedFor(file)], [count + 1, true]);
    await appendFile(file, '{}\n');
    await checked('currentReport');
    assert.equal(reports.isAskedFor(file), true);
    reports.release(file);
    assert.equal(reports.isAskedFor(file), true);
    await appendFile(file, '{}\n');
    await checked('currentReport');
    assert.equal(reports.isAskedFor(file), false);
  });
});
