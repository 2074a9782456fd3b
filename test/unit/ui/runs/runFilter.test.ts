import assert from 'node:assert/strict';
import type { RunSummary } from '../../../../src/core/api/types.ts';
import { phaseOf } from '../../../../src/core/runs/run.ts';
import { matchingRuns, isEmptyFilter, type RunFilter } from '../../../../src/ui/runs/runFilter.ts';
import { row } from '../../../helpers/runs/support.ts';

const ids = (rows: readonly RunSummary[]) => rows.map(({ run_id }) => run_id).join('');
const ALL: RunFilter = { text: '', modelIds: [], phases: [] };

describe('matchingRuns', () => {
  const rows = [
    { ...row('a', 5), model_id: 'm1' },
    { ...row('b', 4, 'running'), model_id: 'm1' },
    { ...row('c', 3, 'complete'), model_id: 'm2' },
    { ...row('d', 2, 'complete'), model_id: 'm3' },
  ];
  const labels: Record<string, string> = { a: 'Mäths ft-7k3m9qpx', b: 'maths two', c: 'History' };
  const filtered = (filter: Partial<RunFilter>) =>
    ids(
      matchingRuns(
        rows,
        { ...ALL, ...filter },
        {
          label: (runId) => labels[runId],
          phase: phaseOf,
          modelName: (modelId) => (modelId === 'm3' ? 'Llama 3.1' : modelId),
        },
      ),
    );

  it('finds words within label, marker, or model, ignoring case, width, and accent composition', () => {
    for (const [text, found] of [
      ['maths', 'b'],
      ['MÄTHS', 'a'],
      ['ma\u0308ths', 'a'],
      ['７ｋ３ｍ', 'a'],
      ['llama', 'd'],
      ['m1', 'ab'],
      [' two \t maths ', 'b'],
      ['maths history', ''],
      ['.*', ''],
      ['Historym2', ''],
    ] as const)
      assert.equal(filtered({ text }), found, text);
  });

  it('finds an ID by its prefix, but not by two digits that any UUID may contain', () => {
    const uuid = '3fa85f64-5777-4562-b3fc-2c963f66afa6';
    const found = (text: string) =>
      matchingRuns(
        [
          { ...row(uuid, 1), model_id: 'm1' },
          { ...row('run-77', 1), model_id: 'm1' },
        ],
        { ...ALL, text },
        { label: (runId) => (runId === uuid ? 'run 1' : 'run 77'), phase: phaseOf, modelName: (id) => id },
      ).map(({ run_id }) => run_id);
    assert.deepEqual(found('run 77'), ['run-77']);
    for (const text of [uuid, uuid.toUpperCase(), '3fa8', '3fa85f64']) assert.deepEqual(found(text), [uuid]);
    for (const text of ['3f', '5777', 'afa6']) assert.deepEqual(found(text), []);
    assert.deepEqual(found('run-77'), ['run-77']);
  });

  it('combines models and phases', () => {
    for (const [filter, found] of [
      [{ modelIds: ['m1', 'm3'] }, 'abd'],
      [{ phases: ['finished'] }, 'cd'],
      [{ phases: ['waiting', 'active'] }, 'ab'],
      [{ modelIds: ['m1', 'm2'], phases: ['finished', 'active'] }, 'bc'],
      [{ modelIds: ['m1'], phases: ['finished'] }, ''],
      [{ text: 'h', modelIds: ['m2'], phases: ['finished'] }, 'c'],
    ] as const)
      assert.equal(filtered(filter), found);
  });

  it('returns all runs without a filter', () => {
    assert.equal(matchingRuns(rows, { ...ALL, text: ' \n' }, undefined as never), rows);
    assert.deepEqual([isEmptyFilter(ALL), isEmptyFilter({ ...ALL, phases: ['active'] })], [true, false]);
  });
});
