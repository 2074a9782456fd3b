import assert from 'node:assert/strict';
import { isCanceledUpload, type Attempt } from '../../../../src/core/submission/submission.ts';
import { submissionOf } from '../../../helpers/submissions.ts';

const started = { localMs: 0 };
const OPEN: Attempt = { started, code: 'cancelled' };
const CANCELED: Attempt = { started, closed: started, code: 'cancelled' };
const FAILED: Attempt = { started, closed: started, code: 'network' };

it('an upload was canceled if it is the only one that may have been charged, and the last attempt', () => {
  for (const [attempts, expected] of [
    [[CANCELED], true],
    [[OPEN, CANCELED], true],
    [[FAILED], false],
    [[], false],
    // The first upload of a resend may be the one that was charged.
    [[FAILED, CANCELED], false],
    [[CANCELED, CANCELED], false],
    [[CANCELED, OPEN], false],
  ] as const)
    assert.equal(isCanceledUpload(submissionOf({ attempts: [...attempts] })), expected);
});
