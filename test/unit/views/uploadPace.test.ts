import assert from 'node:assert/strict';
import type { PendingSubmission, SubmissionState } from '../../../src/runs/pendingSubmission.ts';
import { UploadPace } from '../../../src/views/uploadPace.ts';

describe('UploadPace', () => {
  const submission = (id: string, state: SubmissionState) => ({ id, state }) as PendingSubmission;

  it('draws the list where a row comes or goes, the row where its state changes', () => {
    const pace = new UploadPace();
    const drawn = (['queued', 'uploading', 'validating', 'unknown'] as const).map((state) =>
      pace.next(submission('a', state), true, 0),
    );
    assert.deepEqual(drawn, ['list', 'row', 'row', 'row']);
    assert.equal(pace.next(submission('a', 'unknown'), false, 0), 'list');
    assert.equal(pace.next(submission('a', 'queued'), true, 0), 'list');
  });

  it('draws progress a few times a second, each submission at its own pace', () => {
    const pace = new UploadPace();
    const drawn: string[] = [];
    for (let nowMs = 0; nowMs < 3_000; nowMs += 10)
      for (const id of ['a', 'b']) {
        const part = pace.next(submission(id, 'uploading'), true, nowMs);
        if (part !== undefined) drawn.push(`${part} ${id}`);
      }
    assert.deepEqual(drawn.slice(0, 4), ['list a', 'list b', 'row a', 'row b']);
    assert.equal(drawn.length, 20);
    assert.equal(drawn.filter((one) => one.startsWith('list')).length, 2);
  });

  it('draws at once whatever changes in another state than that of an upload', () => {
    const pace = new UploadPace();
    for (const state of ['unknown', 'waiting', 'not-charged'] as const) {
      pace.next(submission('a', state), true, 0);
      assert.equal(pace.next(submission('a', state), true, 1), 'row', state);
    }
  });
});
