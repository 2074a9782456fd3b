import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { Emitter } from '../../../../src/core/base/event.ts';
import type { Intent } from '../../../../src/core/submission/intent.ts';
import {
  canBeRefused,
  canContinue,
  PendingSubmissions,
} from '../../../../src/core/submission/pendingSubmission.ts';
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
});

describe('PendingSubmissions', () => {
  it('shows at once that an intent is free which changed while the owners were asked for', async () => {
    const change = new Emitter<void>();
    const [owned, found] = [intentOf(), intentOf()];
    let intents: Intent[] = [owned];
    const journal = {
      get intents() {
        return intents;
      },
      onDidChange: change.event,
      isOwned: (id: string) => Promise.resolve(id === owned.id),
      reload: () => {
        if (intents.length === 1) {
          intents = [owned, found];
          change.fire();
        }
        return Promise.resolve();
      },
    };
    const pending = new PendingSubmissions(journal, () => undefined);
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
});
