import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Emitter } from '../../../../src/core/base/event.ts';
import { PendingList } from '../../../../src/core/submission/pendingList.ts';
import {
  afterCheck,
  canBeRefused,
  canCheck,
  canContinue,
  mayBecomeCharge,
  restingState,
  type SubmissionState,
} from '../../../../src/core/submission/pendingSubmission.ts';
import { isSent, type Submission } from '../../../../src/core/submission/submission.ts';
import { submissionOf, pendingOf, refusedWith, uploadedAttempt } from '../../../helpers/submissions.ts';

const [whole] = [uploadedAttempt(0)];
const cut = { started: whole.started };

describe('a pending submission', () => {
  it('can be refused in its current attempt unless an earlier one may have been charged', () => {
    for (const [state, attempts, expected] of [
      ['uploading', [cut], true],
      ['validating', [whole], true],
      ['validating', [cut, whole], true],
      ['validating', [whole, whole], false],
      ['uploading', [whole, cut], false],
      ['waiting', [cut], false],
      ['idle', [whole], false],
    ] as const)
      assert.equal(
        canBeRefused(pendingOf(state, submissionOf({ attempts: [...attempts] }))),
        expected,
        state,
      );
  });

  it('can be continued while it rests, the service doesn’t ask to wait, and its last bytes meet no obstacle', () => {
    const [soon, late] = [1, 23 * 3_600_000];
    const busy = { notBefore: { localMs: 2 } };
    for (const [state, changes, nowMs, longWaitUntilMs, expected] of [
      ['idle', {}, soon, undefined, true],
      ['unchecked', {}, soon, undefined, true],
      ['uploading', {}, soon, undefined, false],
      ['idle', {}, soon, 2, false],
      ['idle', { stage: 'cleared' }, soon, 2, false],
      ['idle', busy, soon, undefined, false],
      ['idle', busy, 2, undefined, true],
      // A new submission asks about the wait itself.
      ['idle', refusedWith('x'), soon, 2, true],
      // Without last bytes, a new submission begins.
      ['unchecked', { attempts: [cut] }, late, undefined, true],
      ['idle', { keyId: 'b' }, soon, undefined, false],
      ['idle', { attempts: [whole] }, soon, undefined, true],
      ['idle', { attempts: [whole] }, late, undefined, false],
      ['idle', { attempts: [whole], keyId: 'b' }, soon, undefined, false],
      ['idle', { stage: 'cleared', attempts: [whole] }, late, undefined, false],
    ] as [SubmissionState, Partial<Submission>, number, number | undefined, boolean][]) {
      const submission = submissionOf({ created: { localMs: 0 }, keyId: 'a', ...changes });
      const can = canContinue(pendingOf(state, submission), nowMs, { keyId: 'a', longWaitUntilMs });
      assert.equal(can, expected, JSON.stringify([state, changes, nowMs]));
    }
  });

  it('is not said to be not charged until a look was answered: then it can be checked, and may become a charge', () => {
    for (const [changes, unlooked] of [
      [{}, 'unchecked'],
      [{ attempts: [cut] }, 'unchecked'],
      [{ stage: 'cleared', attempts: [whole] }, 'unchecked'],
      [{ attempts: [whole] }, 'idle'],
      [refusedWith('x'), 'idle'],
    ] as [Partial<Submission>, 'unchecked' | 'idle'][]) {
      const submission = submissionOf(changes);
      assert.deepEqual([restingState(submission, false), restingState(submission, true)], [unlooked, 'idle']);
      assert.equal(afterCheck(pendingOf('checking', submission)).state, unlooked);
      for (const state of [unlooked, 'idle'] as const) {
        const one = pendingOf(state, submission);
        const is = [
          state === 'unchecked' || submission.stage === 'sent',
          state === 'unchecked' || isSent(submission),
        ];
        assert.deepEqual([mayBecomeCharge(one), canCheck(one)], is, JSON.stringify(changes));
      }
    }
  });
});

describe('PendingList', () => {
  const change = new Emitter<void>();
  const journalOf = (
    submissions: Submission[],
    isOwned: (id: string) => boolean,
    reload: () => void = () => undefined,
  ) => ({
    ...{ submissions, onDidChange: change.event, maySayNotCharged: () => true },
    isOwned: (id: string) => Promise.resolve(isOwned(id)),
    reload: () => {
      reload();
      return Promise.resolve();
    },
  });

  it('shows at once that a submission is free if it changed during a probe', async () => {
    const [owned, found] = [submissionOf(), submissionOf()];
    const submissions = [owned];
    const journal = journalOf(
      submissions,
      (id) => id === owned.id,
      () => {
        if (submissions.push(found) === 2) change.fire();
        else submissions.pop();
      },
    );
    const pending = new PendingList(journal, () => undefined);
    const states = () => pending.all.map(({ state }) => state);
    await pending.probe();
    assert.deepEqual(states(), ['elsewhere', 'elsewhere']);
    // Without the change, the next probe would be in 2.5 seconds or later.
    await delay(1_000);
    assert.deepEqual(states(), ['elsewhere', 'idle']);
    pending.dispose();
  });

  it('counts seconds by one clock while a submission waits or is validated', () => {
    mock.timers.enable({ apis: ['setTimeout', 'Date'] });
    const submission = submissionOf();
    const seen: unknown[] = [];
    const journal = journalOf([submission], () => true);
    const pending = new PendingList(journal, ({ state, tickMs }) => seen.push([state, tickMs]));
    for (const state of ['waiting', 'validating', 'uploading'] as const) {
      seen.length = 0;
      pending.show(submission.id, { state });
      for (let seconds = 0; seconds < 2; seconds++) mock.timers.tick(1_000);
      const nowMs = Date.now();
      const ticks = [nowMs - 2_000, nowMs - 1_000, nowMs].map((ms) => [state, ms]);
      assert.deepEqual(seen.slice(0, 3), state === 'uploading' ? [['uploading', nowMs - 2_000]] : ticks);
    }
    pending.dispose();
    mock.timers.reset();
  });
});
