import assert from 'node:assert/strict';
import { ProgressPace } from '../../../../src/ui/runs/progressPace.ts';

describe('ProgressPace', () => {
  it('draws the list where a row comes or goes, the row where its state changes', () => {
    const pace = new ProgressPace();
    const drawn = (['queued', 'uploading', 'validating', 'unknown'] as const).map((state) =>
      pace.next('a', state, true),
    );
    assert.deepEqual(drawn, ['list', 'row', 'row', 'row']);
    assert.equal(pace.next('a', 'unknown', false), 'list');
    assert.equal(pace.next('a', 'queued', true), 'list');
  });

  it('leaves progress to the clock, of each on its own', () => {
    const pace = new ProgressPace();
    const drawn = (id: string, state: 'uploading' | 'downloading') => pace.next(id, state, true);
    assert.deepEqual([drawn('a', 'uploading'), drawn('b', 'downloading')], ['list', 'list']);
    for (let count = 0; count < 10; count++)
      assert.deepEqual([drawn('a', 'uploading'), drawn('b', 'downloading')], [undefined, undefined]);
    assert.equal(pace.next('b', 'waiting', true), 'row');
  });

  it('draws at once whatever changes in another state than that of progress', () => {
    const pace = new ProgressPace();
    for (const state of ['unknown', 'waiting', 'not-charged', undefined] as const) {
      pace.next('a', state, true);
      assert.equal(pace.next('a', state, true), 'row', state);
    }
  });
});
