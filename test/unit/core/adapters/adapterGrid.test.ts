import assert from 'node:assert/strict';
import { gridOf } from '../../../../src/core/adapters/adapterGrid.ts';
import type {
  LoraPair,
  Measurements,
  PairMeasure,
  WeightsReport,
} from '../../../../src/core/adapters/report.ts';

const pair = (path: string, changes: Partial<LoraPair> = {}): LoraPair => {
  const [layer, ...module] = path.split(' ');
  return {
    path,
    ...(layer === '-' ? {} : { layer: Number(layer) }),
    module: module.join(' '),
    rank: 8,
    dtype: 'F32',
    parameters: 100,
    hasA: true,
    hasB: true,
    isEmbedding: false,
    hasMagnitude: false,
    ...changes,
  };
};
const weightsOf = (...pairs: LoraPair[]) =>
  ({
    pairs,
    layers: [...new Set(pairs.map(({ layer }) => layer))].filter((layer) => layer !== undefined),
  }) as unknown as WeightsReport;
const matrix = (norm: number, nans = 0) => ({ norm, nans, infinities: 0, isZero: norm === 0 });
const measure = (path: string, changes: Partial<PairMeasure> = {}): PairMeasure => ({
  path,
  module: '',
  a: matrix(1),
  b: matrix(1),
  ...changes,
});
const measured = (...pairs: PairMeasure[]) => ({ pairs }) as unknown as Measurements;

describe('the picture of an adapter', () => {
  it('stands by layer and module, with layers that nothing adapts between them, and what is outside at the end', () => {
    const grid = gridOf(weightsOf(pair('1 q'), pair('3 q'), pair('3 v'), pair('- lm_head')), undefined);
    assert.deepEqual(grid.columns, [0, 1, 2, 3, undefined]);
    assert.deepEqual(
      grid.rows.map(({ module, cells }) => [module, cells.map((cell) => cell?.pairs ?? 0).join('')]),
      [
        ['q', '01010'],
        ['v', '00010'],
        ['lm_head', '00001'],
      ],
    );
    assert.equal(grid.totals, undefined);
  });

  it('keeps numbers of layers that are far apart as they are', () => {
    assert.deepEqual(gridOf(weightsOf(pair('7 q'), pair('90000 q')), undefined).columns, [7, 90000]);
    assert.equal(gridOf(weightsOf(pair('500 q'), pair('502 q')), undefined).columns.join(), '500,501,502');
  });

  it('puts experts of one kind together', () => {
    const experts = [0, 1, 2].map((expert) =>
      pair(`0 experts.${expert}.up_proj`, { rank: 4 + expert, hasB: expert > 0 }),
    );
    const [row] = gridOf(weightsOf(...experts, pair('0 block.experts.1.w')), undefined).rows;
    assert.equal(row?.module, 'experts.*.up_proj');
    assert.deepEqual(row.cells[0], { pairs: 3, halves: 1, minRank: 4, maxRank: 6, parameters: 300 });
  });

  it('adds norms as squares, and says which are bounds, zero or broken', () => {
    const weights = weightsOf(pair('0 q'), pair('0 v'), pair('1 q'), pair('1 v'), pair('2 q'));
    const grid = gridOf(
      weights,
      measured(
        measure('0 q', { update: 3 }),
        measure('0 v', { update: 4 }),
        measure('1 q', { updateBound: 12 }),
        measure('1 v', { b: matrix(0), update: 0 }),
        measure('2 q', { a: matrix(NaN, 2) }),
      ),
    );
    assert.deepEqual(grid.totals?.[0], { norm: 5, isBound: false, zeros: 0, nonFinite: 0 });
    assert.deepEqual(grid.totals[1], { norm: 12, isBound: true, zeros: 1, nonFinite: 0 });
    assert.deepEqual(grid.totals[2], { isBound: false, zeros: 0, nonFinite: 2 });
    assert.deepEqual(grid.rows[0]?.total?.norm, Math.sqrt(9 + 144));
    assert.equal(grid.largestNorm, 12);
  });

  it('is never larger than a page can show', () => {
    const pairs = Array.from({ length: 300 }, (_, layer) => pair(`${layer} q`));
    const many = Array.from({ length: 100 }, (_, index) => pair(`0 m${index}`));
    const grid = gridOf(weightsOf(...pairs, ...many), undefined);
    assert.deepEqual([grid.columns.length, grid.hiddenColumns], [200, 100]);
    assert.deepEqual([grid.rows.length, grid.hiddenRows], [60, 41]);
  });
});
