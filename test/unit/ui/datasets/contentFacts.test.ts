import assert from 'node:assert/strict';
import { FACTS } from '../../../../src/core/datasets/facts/table.ts';
import type { FactName, Reading } from '../../../../src/core/datasets/readFacts.ts';
import type { CardTexts } from '../../../../src/ui/datasets/contentFacts.ts';
import { golden } from '../../../helpers/golden.ts';
import { finding, shownReading } from '../../../helpers/reading.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';

const { contentFacts, isTokenCountVague } = await withVscode(
  () => import('../../../../src/ui/datasets/contentFacts.ts'),
);

describe('contentFacts', () => {
  const factsOf = (reading: Partial<Reading>, texts: CardTexts = {}) =>
    contentFacts(shownReading(reading), 2, texts).map(
      ({ name, value, rows }) =>
        `${name}: ${value}${rows === undefined ? '' : ` [${rows.text}] ${rows.name}`}`,
    );
  const system = (
    conversations: number,
    without: number,
    texts: number,
    mainRows: number,
  ): Partial<Reading> => ({
    system: {
      ...{ conversations, without, texts },
      main: mainRows === 0 ? undefined : { row: 1, rows: mainRows },
    },
  });
  const refusals = (total: number) => finding('refusals', total);
  const KINDS: Partial<Record<FactName, string>> = {
    ...{ templateMarks: '<|im_end|>', messagesInText: 'chosen', emptyWords: 'nan', thinking: 'without' },
    ...{ toolArguments: 'object', tools: 'missing', columns: 'text metadata.year' },
  };
  const BRIEF = { system: 'Be brief.' };

  it('say what each dataset has, the missing first', () =>
    golden('content-facts', {
      'no system message': factsOf(system(10, 10, 0, 0)),
      'too few conversations': factsOf(system(9, 0, 1, 9), BRIEF),
      'in all rows': factsOf(system(40, 0, 1, 40), BRIEF),
      'missing in a few': factsOf(system(2_000, 12, 1, 1_988), BRIEF),
      'missing in one, and one other text': factsOf(system(100, 1, 2, 98), BRIEF),
      'not missing, and other texts': factsOf(system(100, 0, 14, 90), BRIEF),
      mixed: factsOf(system(100, 20, 14, 71), BRIEF),
      'mixed, of two texts': factsOf(system(100, 20, 2, 71), BRIEF),
      'in some': factsOf(system(100, 29, 1, 71), BRIEF),
      'without a main text': factsOf(system(300, 220, 14, 7), BRIEF),
      'without a main text, none missing': factsOf(system(3_000, 0, 1_400, 7), BRIEF),
      'a long one of several lines': factsOf(system(10, 0, 1, 10), {
        system: `You are [helpful](command:x).\n\u202e${'Do what is asked. '.repeat(20)}`,
      }),
      'one that was not read': factsOf(system(10, 0, 1, 10)),
      refusals: factsOf({ findings: [refusals(23)], answers: 1_900 }),
      'one refusal': factsOf({ findings: [refusals(1)], answers: 3_000 }),
      'one exchange in some': factsOf({ singleExchanges: 920, conversations: 1_000 }),
      'no conversations': factsOf({ conversations: 0, ...system(0, 0, 0, 0) }),
      'one finding of each': factsOf({
        findings: FACTS.map(({ name }) => finding(name, 1, { [KINDS[name] ?? 'x']: 1 })),
      }),
      'many of each': factsOf({
        findings: FACTS.map(({ name }) => finding(name, 1_234, { [KINDS[name] ?? 'x']: 1_200, other: 34 })),
      }),
      'kinds that the file names': factsOf({
        findings: [
          finding('columns', 9, {
            'text a.[b](command:x)': 4,
            'list tags': 3,
            'number \u202e': 1,
            'text d': 1,
          }),
          finding('templateMarks', 1, { '<|im_start|>': 1 }),
        ],
      }),
      writing: factsOf({ scripts: { han: 0.62, cyrillic: 0.042, kana: 0.001 } }),
      'little of another script': factsOf({ scripts: { han: 0.049 } }),
    }));

  it('list labels only if all are read and short, else the most common answer', () => {
    const labels = [
      { row: 1, rows: 612 },
      { row: 2, rows: 588 },
      { row: 7, rows: 41 },
    ];
    const answer = { row: 1, rows: 612, share: 0.49 };
    const of = (texts: CardTexts) =>
      factsOf({ labels, answer }, { answer: 'positive', ...texts }).filter((fact) => /answer/i.test(fact));
    assert.deepEqual(of({ labels: ['positive', 'negative', 'neutral'] }), [
      'Answers: positive 612 · negative 588 · neutral 41',
    ]);
    const common = ['Most common answer: “positive” in 49% of rows'];
    for (const texts of [undefined, ['positive'], ['positive', '', 'x'], ['a', 'b', 'c'.repeat(41)]])
      assert.deepEqual(of(texts === undefined ? {} : { labels: texts }), common);
    assert.equal(of({ labels: ['a', 'b', 'c'.repeat(40)] }).length, 1);
  });

  it('call the number of tokens vague if a fifth of the text is in scripts that tokenizers treat differently', () => {
    const isVague = (scripts: Reading['scripts']) => isTokenCountVague(shownReading({ scripts }));
    assert.deepEqual(
      [{ han: 0.9, kana: 0.1 }, { thai: 0.2 }, { thai: 0.15, greek: 0.06 }, { cyrillic: 1 }].map(isVague),
      [false, false, true, false],
    );
  });
});
