import assert from 'node:assert/strict';
import { gridOf } from '../../../../src/core/adapters/adapterGrid.ts';
import type {
  LoraPair,
  Measurements,
  PairMeasure,
  WeightsReport,
} from '../../../../src/core/adapters/report.ts';

/** @param path layer and module */
const pair = (path: string, changes: Partial<LoraPair> = {}): LoraPair => {
  const [layer, ...module] = path.split(' ');
  return {
    path,
    ...(layer === '-' ? {} : { layer: Number(layer) }),
    module: module.join(' '),
    rank: 8,
    parameters: 100,
    isHalf: false,
    hasMagnitude: false,
    ...changes,
  };
};
const gridOfPairs = (pairs: LoraPair[], measures?: Partial<PairMeasure>[]) => {
  const layers = [...new Set(pairs.map(({ layer }) => layer))].filter((layer) => layer !== undefined);
  const measured = measures?.map((measure, index) => ({
    path: pairs[index]!.path,
    isZero: false,
    nonFinite: 0,
    ...measure,
  }));
  return gridOf(
    { pairs, layers } as unknown as WeightsReport,
    measured && ({ pairs: measured } as unknown as Measurements),
  );
};

describe('gridOf', () => {
  it('arranges pairs by layer and module, with empty layers between them and the rest at the end', () => {
    const grid = gridOfPairs([pair('1 q'), pair('3 q'), pair('3 v'), pair('- lm_head')]);
    assert.deepEqual(grid.columns, [0, 1, 2, 3, undefined]);
    assert.deepEqual(
      grid.rows.map(({ module, cells }) => [module, cells.map((cell) => cell?.pairs ?? 0).join('')]),
      [
        ['q', '01010'],
        ['v', '00010'],
        ['lm_head', '00001'],
      ],
    );
    assert.deepEqual(gridOfPairs([pair('7 q'), pair('90000 q')]).columns, [7, 90000]);
    assert.equal(gridOfPairs([pair('500 q'), pair('502 q')]).columns.join(), '500,501,502');
  });

  it('puts experts of one kind together', () => {
    const experts = [0, 1, 2].map((expert) =>
      pair(`0 experts.${expert}.up_proj`, { rank: 4 + expert, isHalf: expert === 0 }),
    );
    const [row] = gridOfPairs([...experts, pair('0 block.experts.1.w')]).rows;
    assert.equal(row?.module, 'experts.*.up_proj');
    assert.deepEqual(row.cells[0], { pairs: 3, halves: 1, minRank: 4, maxRank: 6, parameters: 300 });
  });

  it('adds norms of a cell as squares, and counts what is zero or broken', () => {
    const experts = [0, 1].map((expert) => pair(`0 experts.${expert}.w`));
    const grid = gridOfPairs(
      [...experts, pair('0 q'), pair('0 v')],
      [{ norm: 3 }, { norm: 4, isZero: true }, { nonFinite: 2 }, { norm: 0, isZero: true }],
    );
    assert.deepEqual(
      grid.rows.map(({ cells }) => cells[0]?.measured),
      [
        { norm: 5, zeros: 1, nonFinite: 0 },
        { zeros: 0, nonFinite: 2 },
        { norm: 0, zeros: 1, nonFinite: 0 },
      ],
    );
    assert.equal(grid.largestNorm, 5);
  });

  it('is never larger than a page can show', () => {
    const pairs = Array.from({ length: 300 }, (_, layer) => pair(`${layer} q`));
    const many = Array.from({ length: 100 }, (_, index) => pair(`0 m${index}`));
    const grid = gridOfPairs([...pairs, ...many]);
    assert.deepEqual([grid.columns.length, grid.hiddenColumns], [200, 100]);
    assert.deepEqual([grid.rows.length, grid.hiddenRows], [60, 41]);
    // More than a call may have arguments.
    const experts = Array.from({ length: 150_000 }, () => pair('0 experts.0.up_proj'));
    assert.equal(gridOfPairs(experts).rows[0]?.cells[0]?.pairs, 150_000);
  });
});
