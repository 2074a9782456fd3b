import assert from 'node:assert/strict';
import { canBeRefused } from '../../../../src/core/submission/pendingSubmission.ts';
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
