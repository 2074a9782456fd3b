import assert from 'node:assert/strict';
import { golden } from '../../../helpers/golden.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';

const { differenceNumbers, differenceSentences, namedReceipt } = await withVscode(
  () => import('../../../../src/ui/shared/differenceText.ts'),
);

describe('differenceSentences', () => {
  const submittedAtMs = Date.parse('2026-05-03T12:00:00Z');
  const named = (label?: string) =>
    namedReceipt(
      { label, model_id: 'm', created: { localMs: submittedAtMs, monotonicMs: 0 } },
      { models: { nameOf: () => 'Qwen3 8B' } },
    );
  const run = named('support v3 ft-7k3m9qpx');
  const say = (added: number, removed: number, changed: number, equal: number, notCompared = 0, name = run) =>
    differenceSentences(
      { ...{ added, removed, changed, equal, notCompared }, rows: { total: added + changed, rows: [] } },
      name,
    );

  it('give the numbers first where a line is cut, without zeros and with the year of another one', () => {
    const today = new Date();
    const day = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric' }).format(today);
    const numbers = (added: number, removed: number, changed: number, equal: number, notCompared = 0) =>
      differenceNumbers(
        { ...{ added, removed, changed, equal, notCompared }, rows: { total: 0, rows: [] } },
        Number(today),
      );
    for (const [counts, expected] of [
      [[21, 9, 17, 0], `+21 −9 ~17 since ${day}`],
      [[1_200, 0, 1, 3], `+1,200 ~1 since ${day}`],
      [[0, 12, 0, 3, 4], `−12 since ${day} (4 not compared)`],
      [[0, 0, 0, 3], `same rows since ${day}`],
      [[0, 0, 0, 3, 4], undefined],
    ] as [Parameters<typeof numbers>, string | undefined][])
      assert.equal(numbers(...counts), expected);
    const old = { added: 1, removed: 0, changed: 0, equal: 0, notCompared: 0, rows: { total: 0, rows: [] } };
    assert.equal(differenceNumbers(old, Date.parse('2020-11-28T12:00:00Z')), '+1 since Nov 28, 2020');
  });

  it('say each difference, leave out zeros, and have forms for one row', () =>
    golden('difference', {
      all: say(41, 7, 12, 1_940),
      'one of each': say(1, 1, 1, 1, 1),
      'only added': say(41, 0, 0, 1_940),
      'only one added': say(1, 0, 0, 1_940),
      'only removed': say(0, 7, 0, 1_940),
      'only changed': say(0, 0, 12, 1_940),
      'all changed': say(0, 0, 12, 0),
      'added and removed': say(3, 2, 0, 5),
      'errors besides': say(41, 7, 12, 1_940, 3),
      same: say(0, 0, 0, 2_000),
      'the same row': say(0, 0, 0, 1),
      'same, and one error': say(0, 0, 0, 2_000, 1),
      'nothing in common': say(20, 30, 0, 0),
      'nothing in common, and errors': say(20, 0, 0, 0, 1_200),
      'only errors': say(0, 0, 0, 0, 4),
      'only a marker as label': say(1, 0, 0, 1, 0, named('ft-7k3m9qpx')),
      'no label': say(1, 0, 0, 1, 0, named()),
      'a hostile label': say(
        ...([1, 0, 0, 1, 0] as const),
        named(`[Pay](command:x) $(zap)\n\u202e${'long '.repeat(30)}`),
      ),
    }));
});
