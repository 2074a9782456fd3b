import assert from 'node:assert/strict';
import * as lifecycle from '../../../src/sandbox/lifecycle.ts';
import { DAY, MINUTE, SECOND, START } from './support.ts';

describe('sandbox lifecycle', () => {
  it('plans 60 s of queue, then 300 s and 1 s for each MB', () => {
    const plan = lifecycle.planRun(START, 2_000_000, false, 1);
    assert.equal(plan.starts_at, START + MINUTE);
    assert.equal(plan.completes_at, START + MINUTE + 302 * SECOND);
  });

  it('lets priority pass the queue in 10 s, and the speed divide everything', () => {
    const plan = lifecycle.planRun(START, 0, true, 10);
    assert.equal(plan.starts_at, START + SECOND);
    assert.equal(plan.completes_at, START + 31 * SECOND);
  });

  const run = { created_at: START, starts_at: START + 10, completes_at: START + 20 };
  const statuses = (course: lifecycle.Course) =>
    [0, 5, 10, 15, 20].map((after) => lifecycle.statusInList({ ...run, course }, START + after));

  it('spells the end `complete` in lists and `completed` in details', () => {
    assert.deepEqual(statuses('plain'), ['queued', 'queued', 'running', 'running', 'complete']);
    const plain = { ...run, course: 'plain' } as const;
    assert.equal(lifecycle.statusInDetail(plain, START + 20), 'completed');
    assert.equal(lifecycle.statusInDetail(plain, START + 19), 'running');
  });

  it('passes through unknown statuses, from `queued` to `complete`, when told to', () => {
    assert.deepEqual(statuses('unknown-statuses'), [
      'queued',
      'warming_up',
      'calibrating',
      'evaluating',
      'complete',
    ]);
  });

  it('ends a failed run without artifacts', () => {
    assert.deepEqual(statuses('failed-run'), ['queued', 'queued', 'running', 'running', 'failed']);
    const failed = { ...run, course: 'failed-run' } as const;
    assert.equal(lifecycle.isCompleted(failed, START + 20), false);
    assert.equal(lifecycle.artifactsAvailable(failed, START + 20), false);
    assert.equal(lifecycle.artifactsExpireAt(failed, START + 20), null);
  });

  it('keeps artifacts for 7 days from completion', () => {
    const plain = { ...run, course: 'plain' } as const;
    assert.equal(lifecycle.artifactsAvailable(plain, START + 19), false);
    assert.equal(lifecycle.artifactsExpireAt(plain, START + 19), null);
    assert.equal(lifecycle.artifactsAvailable(plain, START + 20), true);
    assert.equal(lifecycle.artifactsAvailable(plain, START + 19 + 7 * DAY), true);
    assert.equal(lifecycle.artifactsAvailable(plain, START + 20 + 7 * DAY), false);
    assert.equal(lifecycle.artifactsExpireAt(plain, START + 30 * DAY), START + 20 + 7 * DAY);
  });
});
