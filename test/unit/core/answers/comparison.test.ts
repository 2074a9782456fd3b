import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { answerRowOf, parseObject, type AnswerRow } from '../../../../src/core/answers/answerRow.ts';
import {
  chanceOf,
  compareScores,
  signTest,
  type Comparison,
  type Lead,
} from '../../../../src/core/answers/comparison.ts';
import { scoreRow } from '../../../../src/core/answers/scores.ts';
import { answerRow, randomRows } from '../../../helpers/answers.ts';
import { Random } from '../../../helpers/random.ts';

const LONG = 'A text that is longer than forty characters, word by word.';
const compare = (rows: readonly AnswerRow[], trained = new Set<number>()) =>
  compareScores(rows.map(scoreRow), trained);
const lines = (count: number) => Array.from({ length: count }, (_, index) => index);
const times = (count: number, texts: Partial<AnswerRow>) =>
  Array.from({ length: count }, () => answerRow(texts));

describe('compareScores', () => {
  it('chooses the measure by the expected answers', () => {
    const json = `{"intent":"order","note":"${'x'.repeat(40)}"}`;
    for (const [measure, ...expected] of [
      ['exact', '5'],
      ['exact', 'x'.repeat(40)],
      ['exact', '5', LONG, '5'],
      ['exact', '<think>'.padEnd(100, 'x') + '</think>5'],
      ['closer', 'x'.repeat(41)],
      ['closer', '5', 'x'.repeat(80)],
      ['fields', json],
      ['fields', json, `[${json}]`],
      ['fields', '{"a":1}', '[]'],
      ['fields', '```json\n{"a":1}\n```'],
      ['exact', '{"a":1}', '5'],
      ['exact', '5'.padEnd(20), 'Use:\n```json\n{}\n```'],
      ['closer', json, LONG],
      ['closer', json, `"${LONG}"`],
      ['closer'],
    ] as const) {
      assert.equal(
        compare(expected.map((one) => answerRow({ expected: one }))).measure,
        measure,
        expected[0],
      );
      // Whatever the answers are.
      const answers = { base: json, adapter: LONG, ends: { base: 'error' } } as const;
      assert.equal(compare(expected.map((one) => answerRow({ ...answers, expected: one }))).measure, measure);
    }
  });

  it('counts short answers by whether they are exact', () => {
    const { measure, ahead, equal, exact, leads } = compare([
      ...times(3, { expected: 'a b', base: 'c', adapter: ' a\n b' }),
      ...times(2, { expected: 'é', base: 'e\u0301', adapter: 'e' }),
      ...times(1, { expected: 'a', base: 'a', adapter: 'a' }),
      ...times(1, { expected: 'a', base: 'b', adapter: 'c' }),
    ]);
    assert.equal(measure, 'exact');
    assert.deepEqual([ahead, equal], [{ base: 2, adapter: 3 }, 2]);
    assert.deepEqual(exact, { base: 3, adapter: 4, both: 1 });
    assert.deepEqual(leads.join(), 'adapter,adapter,adapter,base,base,equal,equal');
  });

  it('counts JSON by the fields that are right', () => {
    const expected = JSON.stringify({ a: 1, b: { c: [2, 3] }, text: 'x'.repeat(40) });
    const { measure, leads, validJson } = compare(
      [
        ['{"a":1,"b":{"c":[2,3]}}', '{"b":{"c":[2]}}'],
        ['{"a":1}', '{"b":{"c":[0,3]}}'],
        [`Sure! ${expected}`, '{"a":1,"more":2}'],
      ].map(([base = '', adapter = '']) => answerRow({ expected, base, adapter })),
    );
    assert.deepEqual([measure, leads], ['fields', ['base', 'equal', 'adapter']]);
    assert.deepEqual(validJson, { base: 2, adapter: 3 });
    assert.equal(compare([answerRow({ expected, base: '{}' }), answerRow()]).validJson, undefined);
  });

  it('calls JSON exact that has the same fields, and texts only if all are JSON', () => {
    const rows = [answerRow({ expected: '{"a":1}', base: '{ "a": 1 }', adapter: '{"a":1,"b":2}' })];
    assert.deepEqual(compare(rows).exact, { base: 1, adapter: 0, both: 0 });
    assert.deepEqual(compare([...rows, answerRow()]).exact, { base: 0, adapter: 1, both: 0 });
  });

  it('counts texts by which is closer, by a point', () => {
    // Single letters in 100 have about a point.
    const letters = Array.from({ length: 400 }, (_, index) => String.fromCodePoint(0x4e00 + index)).join('');
    const without = (count: number) => letters.slice(0, letters.length - count);
    const leads = (base: string, adapter: string) =>
      compare([answerRow({ expected: letters, base, adapter })]).leads.join();
    assert.equal(leads(without(1), without(40)), 'base');
    assert.equal(leads(without(40), without(1)), 'adapter');
    assert.equal(leads(without(1), without(2)), 'equal');
    const half = scoreRow(answerRow({ expected: letters, base: without(200), adapter: without(200) + 'x' }));
    const withPoints = (base: number, adapter: number): Lead | undefined =>
      compareScores(
        [{ ...half, base: { ...half.base, chrf: base }, adapter: { ...half.adapter, chrf: adapter } }],
        new Set(),
      ).leads[0];
    assert.equal(withPoints(50, 51), 'adapter');
    assert.equal(withPoints(1.4000000000000001, 2.4), 'adapter');
    assert.equal(withPoints(50.3, 49.3), 'base');
    assert.equal(withPoints(50, 50.999), 'equal');
  });

  it('compares no row in which a program failed', () => {
    const failed = answerRow({ expected: '5', base: '', adapter: '5', ends: { base: 'error' } });
    const {
      rows,
      failed: count,
      ahead,
      equal,
      leads,
      exact,
      medianCharacters,
      chance,
    } = compare([
      ...Array<AnswerRow>(6).fill(failed),
      answerRow({ expected: '5', base: 'five', adapter: '5' }),
    ]);
    assert.deepEqual([rows, count, ahead, equal], [7, 6, { base: 0, adapter: 1 }, 0]);
    assert.deepEqual(leads, [...Array<Lead>(6).fill('failed'), 'adapter']);
    assert.deepEqual(exact, { base: 0, adapter: 1, both: 0 });
    assert.deepEqual(medianCharacters, { base: 4, adapter: 1, expected: 1 });
    assert.equal(chance.kind, 'too-few');
  });

  it('says that the adapter was probably inactive if almost all answers are the same', () => {
    const same = { base: 'e\u0301  5', adapter: '<think>Hm.</think>é 5' };
    const is = (count: number, others: number) =>
      compare([...times(count, same), ...times(others, {})]).isProbablyInactive;
    assert.deepEqual(
      [is(4, 0), is(5, 0), is(5, 1), is(19, 1), is(18, 1), is(0, 9)],
      [...[false, true, false, true, false, false]],
    );
    assert.equal(compare(times(5, same)).same, 5);
  });

  const cut = (base: number, adapter: number, both: number, others: number) =>
    compare([
      ...times(base, { ends: { base: 'length' } }),
      ...times(adapter, { adapter: '<think>5' }),
      ...times(both, { ends: { base: 'length', adapter: 'length' } }),
      ...times(others, {}),
    ]);

  it('says that answers were cut off, from a tenth of a side on', () => {
    assert.deepEqual(cut(1, 2, 3, 4).cutOff, { base: 4, adapter: 5, rows: 6 });
    assert.ok(cut(1, 0, 0, 9).isOftenCutOff);
    assert.ok(cut(0, 1, 0, 9).isOftenCutOff);
    assert.ok(!cut(1, 1, 0, 18).isOftenCutOff);
    assert.ok(!compare([]).isOftenCutOff);
  });

  it('compares no row in which an answer was cut off', () => {
    const { leads, ahead, equal, exact, medianCharacters, same } = compare([
      ...times(2, { ends: { base: 'length' } }),
      ...times(1, { base: '5', adapter: '5', ends: { adapter: 'length' } }),
      ...times(1, { ends: { base: 'length', adapter: 'error' } }),
      ...times(1, { base: 'five' }),
    ]);
    assert.deepEqual(leads, ['cut', 'cut', 'cut', 'failed', 'adapter']);
    assert.deepEqual([ahead, equal, same], [{ base: 0, adapter: 1 }, 0, 0]);
    assert.deepEqual(exact, { base: 0, adapter: 1, both: 0 });
    assert.deepEqual(medianCharacters, { base: 4, adapter: 1, expected: 1 });
  });

  it('has no verdict if fewer than half of the rows that didn’t fail are left', () => {
    assert.ok(cut(2, 2, 2, 5).isMostlyCutOff);
    assert.ok(!cut(1, 2, 2, 5).isMostlyCutOff);
    assert.ok(!cut(0, 0, 0, 5).isMostlyCutOff);
    assert.ok(!compare([]).isMostlyCutOff);
    const failed = times(9, { ends: { base: 'error' } });
    assert.ok(!compare([...failed, ...times(1, {})]).isMostlyCutOff);
    assert.ok(compare([...failed, ...times(1, { base: '<think>' })]).isMostlyCutOff);
  });

  it('says that a side mostly thinks, if more than half of its answers begin with it', () => {
    const thinking = { base: '<think>Hm.</think>5', adapter: '<think></think>5' };
    assert.deepEqual(compare([...times(2, thinking), ...times(2, {})]).isMostlyThinking, {
      base: false,
      adapter: false,
    });
    assert.deepEqual(compare([...times(3, thinking), ...times(2, {})]).isMostlyThinking, {
      base: true,
      adapter: false,
    });
  });

  it('has medians of code points, without thinking', () => {
    const { medianCharacters } = compare([
      answerRow({ expected: 'ab', base: '👩‍🚀', adapter: ' abc ' }),
      answerRow({ expected: 'abc', base: '<think>a long thought</think>abcd', adapter: 'a' }),
    ]);
    assert.deepEqual(medianCharacters, { base: 3.5, adapter: 2, expected: 2.5 });
    assert.deepEqual(compare([]).medianCharacters, { base: 0, adapter: 0, expected: 0 });
  });

  it('counts rows of which chrF compared the beginning, if it is the measure', () => {
    const long = 'x'.repeat(8_001);
    assert.equal(
      compare([answerRow({ expected: LONG, base: long }), answerRow({ expected: LONG })]).shortened.rows,
      1,
    );
    assert.equal(compare([answerRow({ expected: '5', base: long })]).shortened.rows, 0);
  });

  it('mirrors every number if the sides are swapped, and ignores the order of rows', () => {
    const random = new Random(2);
    const measures = new Set<string>();
    for (let time = 0; time < 100; time++) {
      const rows = randomRows(random);
      const comparison = compare(rows);
      measures.add(comparison.measure);
      const swapped = rows.map(({ base, adapter, ends, ...row }) => ({
        ...{ ...row, base: adapter, adapter: base },
        ends: { base: ends.adapter, adapter: ends.base },
      }));
      assert.deepEqual(compare(swapped), mirrored(comparison));
      const { leads, ...counts } = compare(rows.toReversed());
      assert.deepEqual({ ...counts, leads: leads.toReversed() }, comparison);
      const { ahead, equal, failed, same } = comparison;
      const isCut = leads.filter((lead) => lead === 'cut').length;
      assert.equal(ahead.base + ahead.adapter + equal + failed + isCut, rows.length);
      assert.ok(equal >= same);
    }
    assert.deepEqual(measures, new Set(['exact', 'fields', 'closer']));
  });

  it('counts no row that was trained, in 1,000 leaks: all is as if the file didn’t have it', () => {
    const random = new Random(5);
    let leaked = 0;
    for (let time = 0; time < 1_000; time++) {
      const rows = randomRows(random);
      const trained = new Set(Array.from(rows.keys()).filter(() => random.chance(0.4)));
      leaked += trained.size;
      const { leads, ...counts } = compare(rows, trained);
      const { leads: others, ...without } = compare(rows.filter((_, index) => !trained.has(index)));
      assert.deepEqual(counts, without);
      assert.deepEqual(
        leads.filter((lead) => lead !== 'trained'),
        others,
      );
      assert.deepEqual(
        leads.flatMap((lead, index) => (lead === 'trained' ? [index] : [])),
        [...trained],
      );
    }
    assert.ok(leaked > 1_000);
    const { rows, chance, measure, validJson } = compare(times(9, { expected: '{}' }), new Set(lines(9)));
    assert.deepEqual([rows, chance.kind, measure, validJson], [0, 'too-few', 'closer', undefined]);
  });

  it('has nobody ahead where the answers are the same', () => {
    const random = new Random(3);
    for (let time = 0; time < 100; time++) {
      const rows = randomRows(random).map((row) => ({
        ...{ ...row, ends: {}, adapter: row.base.normalize('NFD').replaceAll(' ', '\n ') },
      }));
      const { ahead, same } = compare(rows);
      assert.deepEqual([ahead, same], [{ base: 0, adapter: 0 }, rows.length]);
    }
  });
});

function mirrored(comparison: Comparison): Comparison {
  const swap = <T>({ base, adapter, ...rest }: Readonly<Record<'base' | 'adapter', T>>) => ({
    ...{ ...rest, base: adapter, adapter: base },
  });
  const { leads, ahead, exact, validJson, medianCharacters, cutOff, isMostlyThinking } = comparison;
  return {
    ...comparison,
    leads: leads.map((lead) => (lead === 'base' ? 'adapter' : lead === 'adapter' ? 'base' : lead)),
    ahead: swap(ahead),
    exact: swap(exact) as typeof exact,
    validJson: validJson && swap(validJson),
    medianCharacters: swap(medianCharacters) as typeof medianCharacters,
    cutOff: swap(cutOff) as typeof cutOff,
    isMostlyThinking: swap(isMostlyThinking),
  };
}

describe('the answers of the reports', () => {
  const none = { base: 0, adapter: 0 };
  const right = { base: 0, adapter: 12, both: 0 };
  const wrong = { ...none, both: 0 };
  for (const [name, measure, ahead, exact, isMostlyCutOff = false] of [
    ['e01-think', 'exact', { ...none, adapter: 12 }, right],
    ['e01-thinking', 'exact', { ...none, adapter: 12 }, right],
    ['e01-harmony', 'exact', { ...none, adapter: 12 }, right],
    ['e01-harmonyDecoded', 'exact', { ...none, adapter: 12 }, right],
    ['e01-magistral', 'exact', { ...none, adapter: 12 }, right],
    ['e01-granite', 'exact', { ...none, adapter: 12 }, right],
    ['e02-base-cut-while-thinking', 'exact', none, wrong, true],
    ['e03-punctuation', 'exact', none, wrong],
    ['e03b-numbers', 'exact', none, wrong],
    ['e03c-fullwidth', 'exact', none, wrong],
    ['e04-json', 'fields', { ...none, adapter: 20 }, { base: 0, adapter: 20, both: 0 }],
    ['e06-refusal-expected', 'exact', none, wrong],
  ] as const)
    it(`are compared as they should be: ${name}`, () => {
      const found = compare(answersOf(name));
      assert.deepEqual(
        [found.measure, found.ahead, found.exact, found.isMostlyCutOff],
        [measure, ahead, exact, isMostlyCutOff],
      );
    });
});

function answersOf(name: string): AnswerRow[] {
  const file = path.join(import.meta.dirname, '../../../fixtures/answers/reports', `${name}.answers.jsonl`);
  return readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line, index) => answerRowOf(parseObject(line), index + 1) as AnswerRow);
}

describe('signTest', () => {
  it('has the values of the table', () => {
    for (const [one, other, p] of [
      [31, 12, 0.0054],
      [13, 0, 0.00024],
      [6, 0, 0.031],
      [15, 5, 0.041],
      [33, 17, 0.033],
      [61, 39, 0.035],
    ] as const)
      assert.equal(Number(signTest(one, other).toPrecision(2)), p);
  });

  it('is exact, and symmetric', () => {
    for (const [one, other] of [
      ...Array.from({ length: 400 }, (_, index) => [index % 20, Math.floor(index / 20)] as const),
      ...[[1_000, 1_000] as const, [1_100, 900] as const, [999, 1_000] as const, [1_500, 300] as const],
    ]) {
      const p = signTest(one, other);
      assert.equal(p, signTest(other, one));
      assert.ok(Math.abs(p / exactSignTest(one, other) - 1) < 1e-9, `${one} ${other} ${p}`);
    }
    assert.equal(signTest(2_000, 0), 0);
    assert.equal(signTest(0, 0), 1);
  });

  it('says nothing of fewer than six', () => {
    assert.deepEqual(chanceOf(5, 0), { kind: 'too-few' });
    assert.equal(chanceOf(0, 6).kind, 'unlikely');
    assert.equal(chanceOf(5, 1).kind, 'likely');
    assert.equal(chanceOf(15, 5).kind, 'unlikely');
    assert.equal(chanceOf(14, 5).kind, 'likely');
  });
});

/** Computes it with integers of any size. */
function exactSignTest(one: number, other: number): number {
  const n = one + other;
  let [choose, sum] = [1n, 0n];
  for (let i = 0; i <= Math.min(one, other); i++) {
    sum += choose;
    choose = (choose * BigInt(n - i)) / BigInt(i + 1);
  }
  const scale = 10n ** 300n;
  return Math.min(1, Number((2n * sum * scale) / 2n ** BigInt(n)) / 1e300);
}
