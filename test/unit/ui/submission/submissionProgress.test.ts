import assert from 'node:assert/strict';
import type { ModuleHooks } from 'node:module';
import { Emitter } from '../../../../src/core/base/event.ts';
import type { PendingSubmission } from '../../../../src/core/submission/pendingSubmission.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';
import { intentOf, pendingOf } from '../../../helpers/submissions.ts';

describe('the progress of a submission', () => {
  let hooks: ModuleHooks;
  let standIn: typeof import('../../../helpers/vscodeStandIn.ts');
  let withSubmissionProgress: typeof import('../../../../src/ui/submission/submissionProgress.ts').withSubmissionProgress;

  before(async () => {
    hooks = standInForVscode();
    standIn = await import('../../../helpers/vscodeStandIn.ts');
    ({ withSubmissionProgress } = await import('../../../../src/ui/submission/submissionProgress.ts'));
  });
  after(() => hooks.deregister());
  beforeEach(() => standIn.forget());

  /** Shows a submission while the work lasts. */
  const show = (changed: Emitter<PendingSubmission>, work: () => Promise<void>) =>
    withSubmissionProgress('Submitting', () => ({
      id: 'id',
      onProgress: changed.event,
      result: Promise.resolve()
        .then(work)
        .then(() => ({ kind: 'elsewhere' })),
    }));

  it('tells each state of its own submission, and which attempt it is', async () => {
    const changed = new Emitter<PendingSubmission>();
    const intent = intentOf();
    const fire = (...[state, live]: [PendingSubmission['state'], Partial<PendingSubmission>?]) =>
      changed.fire(pendingOf(state, intent, live));
    const { id, result } = await show(changed, () => {
      fire('queued');
      fire('uploading', { attempt: 1 });
      fire('validating', { attempt: 1 });
      fire('waiting', { attempt: 1, retryAtMs: Date.now() + 12_000 });
      fire('uploading', { attempt: 2 });
      fire('uploading', { attempt: 2, sentBytes: intent.dataset.sizeBytes });
      fire('validating', { attempt: 2 });
      return Promise.resolve();
    });
    assert.deepEqual([id, result], ['id', { kind: 'elsewhere' }]);
    fire('unknown');
    assert.deepEqual(standIn.told.progress, [
      'Waiting for the upload before it',
      '0 bytes of 600.0 MB',
      'Uploaded; the service is validating',
      'Attempt 2 in 12 s',
      'Attempt 2: 0 bytes of 600.0 MB',
      'Attempt 2: 600.0 MB of 600.0 MB',
      'Attempt 2: uploaded; the service is validating',
    ]);
  });

  it('tells of many chunks a few, and always the last, also where no more come', async () => {
    const changed = new Emitter<PendingSubmission>();
    const intent = intentOf();
    await show(changed, async () => {
      for (let sentBytes = 0; sentBytes <= 100_000_000; sentBytes += 1_000_000)
        changed.fire(pendingOf('uploading', intent, { attempt: 1, sentBytes }));
      while (standIn.told.progress.length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
    });
    assert.deepEqual(
      [standIn.told.progress.at(0), standIn.told.progress.at(-1)],
      ['0 bytes of 600.0 MB', '100.0 MB of 600.0 MB'],
    );
    assert.ok(standIn.told.progress.length < 10);
  });

  it('counts down to the next attempt', async () => {
    const changed = new Emitter<PendingSubmission>();
    await show(changed, async () => {
      changed.fire(pendingOf('waiting', intentOf(), { attempt: 1, retryAtMs: Date.now() + 3_000 }));
      await new Promise((resolve) => setTimeout(resolve, 1_100));
    });
    assert.deepEqual(standIn.told.progress, ['Attempt 2 in 3 s', 'Attempt 2 in 2 s']);
  });
});
