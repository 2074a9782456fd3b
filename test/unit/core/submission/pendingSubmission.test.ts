import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Emitter } from '../../../../src/core/base/event.ts';
import type { Intent } from '../../../../src/core/submission/intent.ts';
import {
  afterCheck,
  canBeRefused,
  canCheck,
  canContinue,
  mayBecomeCharge,
} from '../../../../src/core/submission/pendingSubmission.ts';
import { dueMs } from '../../../../src/core/submission/checkTimes.ts';
import { PendingList } from '../../../../src/core/submission/pendingList.ts';
import { intentOf, pendingOf, uploadedAttempt } from '../../../helpers/submissions.ts';

describe('canBeRefused', () => {
  it('is true for the current attempt unless an earlier one may have been charged', () => {
    const whole = uploadedAttempt(0);
    const cut = { started: whole.started };
    for (const [state, attempts, expected] of [
      ['uploading', [cut], true],
      ['validating', [whole], true],
      ['validating', [cut, whole], true],
      ['validating', [whole, whole], false],
      ['uploading', [whole, cut], false],
      ['waiting', [cut], false],
      ['unknown', [whole], false],
    ] as const)
      assert.equal(canBeRefused(pendingOf(state, intentOf({ attempts: [...attempts] }))), expected, state);
  });
});

describe('canContinue', () => {
  it('is false while the service asks this or every submission of the account to wait, unless it was refused', () => {
    const busy = intentOf({ notBefore: { localMs: 2 } });
    for (const [state, intent, longWaitUntilMs, expected] of [
      ['unsent', intentOf(), undefined, true],
      ['unsent', intentOf(), 2, false],
      ['unsent', busy, undefined, false],
      ['not-charged', intentOf(), 2, false],
      // A new submission asks by itself.
      ['refused', intentOf(), 2, true],
      ['uploading', intentOf(), undefined, false],
    ] as const)
      assert.equal(canContinue(pendingOf(state, intent), 1, { longWaitUntilMs }), expected, state);
    assert.equal(canContinue(pendingOf('unsent', busy), 2), true);
  });

  it('is false once it is too old or the API key was replaced, unless no closing boundary was sent: then it begins anew', () => {
    const [whole] = [uploadedAttempt(0)];
    const open = (attempts: Intent['attempts']) =>
      intentOf({ created: { localMs: 0 }, keyId: 'a', attempts });
    for (const [state, intent, expected] of [
      ['stopped', open([{ started: whole.started }]), true],
      ['unsent', open([]), true],
      ['unknown', open([whole]), false],
      ['not-charged', open([whole]), false],
    ] as const) {
      assert.equal(canContinue(pendingOf(state, intent), 1, { keyId: 'a' }), true, state);
      assert.equal(canContinue(pendingOf(state, intent), 23 * 3_600_000, { keyId: 'a' }), expected, state);
      assert.equal(canContinue(pendingOf(state, open(intent.attempts)), 1, { keyId: 'b' }), expected, state);
    }
  });
});

describe('an upload that stopped', () => {
  const stopped = pendingOf('stopped');
  it('can be checked, and may become a charge, until a look was answered', () => {
    assert.deepEqual([canCheck(stopped), mayBecomeCharge('stopped')], [true, true]);
    assert.deepEqual([canCheck(pendingOf('unsent')), mayBecomeCharge('unsent')], [false, false]);
  });

  it('is shown as that while it is checked', () => {
    assert.equal(afterCheck(pendingOf('checking', stopped.intent)).state, 'stopped');
  });
});

describe('PendingList', () => {
  it('shows at once that an intent is free which changed while the owners were asked for', async () => {
    const change = new Emitter<void>();
    const [owned, found] = [intentOf(), intentOf()];
    let intents: Intent[] = [owned];
    const journal = {
      get intents() {
        return intents;
      },
      onDidChange: change.event,
      hasLocks: true,
      isCreated: () => false,
      isLooked: () => true,
      isOwned: (id: string) => Promise.resolve(id === owned.id),
      reload: () => {
        if (intents.length === 1) {
          intents = [owned, found];
          change.fire();
        }
        return Promise.resolve();
      },
    };
    const pending = new PendingList(journal, () => undefined);
    await pending.probe();
    assert.deepEqual(
      pending.all.map(({ state }) => state),
      ['elsewhere', 'elsewhere'],
    );
    // The next probe because of the other window's intent alone would be in 2.5 seconds or later.
    await delay(1_000);
    assert.deepEqual(
      pending.all.map(({ state }) => state),
      ['elsewhere', 'unsent'],
    );
    pending.dispose();
  });

  it('counts the times of what is sent by one clock, each second, while it waits or is validated', () => {
    mock.timers.enable({ apis: ['setTimeout', 'Date'] });
    const intent = intentOf();
    const journal = {
      intents: [intent],
      onDidChange: new Emitter<void>().event,
      isLooked: () => true,
      isOwned: () => Promise.resolve(true),
      reload: () => Promise.resolve(),
    };
    const seen: unknown[] = [];
    const pending = new PendingList(journal, ({ state, tickMs }) => seen.push([state, tickMs]));
    for (const state of ['waiting', 'validating', 'uploading'] as const) {
      seen.length = 0;
      pending.show(intent.id, { state });
      for (let seconds = 0; seconds < 2; seconds++) mock.timers.tick(1_000);
      const nowMs = Date.now();
      const ticks = [nowMs - 2_000, nowMs - 1_000, nowMs].map((ms) => [state, ms]);
      assert.deepEqual(seen.slice(0, 3), state === 'uploading' ? [['uploading', nowMs - 2_000]] : ticks);
    }
    pending.dispose();
    mock.timers.reset();
  });

  it('says nothing of the money of what another process created until a look was answered', async () => {
    const change = new Emitter<void>();
    const [{ started, closed }] = [uploadedAttempt(0)];
    const time = (ms: number) => ({ localMs: ms, monotonicMs: ms, serviceMs: ms });
    const check = { complete: true, candidates: [], balance_cents: 1, currency: 'USD' };
    const cleared: Partial<Intent> = {
      marker: 'ft-12345678',
      balanceBefore: { balance_cents: 1, currency: 'USD' },
      attempts: [{ started: time(0), closed: time(0), ended: time(0) }],
      firstCleanCheck: { at: time(3_600_000), ...check },
      lastCheck: { at: time(7_200_000), ...check },
    };
    const intents = [
      intentOf(),
      intentOf({ attempts: [{ started }] }),
      intentOf({ attempts: [{ started, ...(closed && { closed }) }] }),
      intentOf(cleared),
      intentOf({ refused: { at: started, code: 'x' } }),
    ];
    let isLooked = false;
    const journal = {
      intents,
      hasLocks: true,
      isCreated: () => false,
      isLooked: () => isLooked,
      onDidChange: change.event,
      isOwned: () => Promise.resolve(false),
      reload: () => Promise.resolve(),
    };
    const pending = new PendingList(journal, () => undefined);
    const states = () => pending.all.map(({ state }) => state);
    const known = () => ({ isLooked, isCreated: false, hasLocks: true });
    const areDue = () => intents.map((intent) => dueMs(intent, 8_000_000, known()) < Infinity);
    await pending.probe();
    assert.deepEqual(states(), ['stopped', 'stopped', 'unknown', 'unknown', 'refused']);
    assert.deepEqual(areDue(), [true, true, true, true, false]);
    isLooked = true;
    change.fire();
    // The look writes the end of an attempt that has none.
    assert.deepEqual(states(), ['unsent', 'stopped', 'unknown', 'not-charged', 'refused']);
    assert.deepEqual(areDue(), [false, true, true, false, false]);
    pending.dispose();
  });
});
