import assert from 'node:assert/strict';
import type { ModuleHooks } from 'node:module';
import { PROBLEMS } from '../../../../src/core/datasets/problems.ts';
import type { Report } from '../../../../src/core/datasets/report.ts';
import type { CardSource } from '../../../../src/ui/datasets/previewView.ts';
import type { PreviewCard } from '../../../../src/ui/datasets/protocol.ts';
import { groupOf, reportOf } from '../../../helpers/report.ts';
import { standInForVscode } from '../../../helpers/standInForVscode.ts';

const ROW = [{ row: 1 }];

describe('dataset messages', () => {
  let hooks: ModuleHooks;
  let preview: typeof import('../../../../src/ui/datasets/previewView.ts');
  let messages: typeof import('../../../../src/ui/datasets/problemTexts.ts');
  let status: typeof import('../../../../src/ui/datasets/datasetStatus.ts');

  before(async () => {
    hooks = standInForVscode();
    preview = await import('../../../../src/ui/datasets/previewView.ts');
    messages = await import('../../../../src/ui/datasets/problemTexts.ts');
    status = await import('../../../../src/ui/datasets/datasetStatus.ts');
  });
  after(() => hooks.deregister());

  const nothing = { progress: undefined, failure: undefined, past: undefined };
  const cardOf = (report: Report | undefined, more: Partial<CardSource> = {}) =>
    preview.previewCard({ sizeBytes: 2_000_000, report, ...nothing, ...more });
  const fact = (card: PreviewCard, name: string) => card.facts.find((one) => one.name === name)?.value;

  it('show progress, size and a failure without a report', () => {
    const card = cardOf(undefined, { progress: 0.427 });
    assert.deepEqual(card.progress, { text: 'Checking, 42%…', fraction: 0.427 });
    assert.deepEqual(card.facts, [{ name: 'Size', value: '2.0 MB' }]);
    assert.deepEqual(cardOf(undefined, { failure: 'no' }).verdict, { kind: 'none', text: 'no' });
  });

  it('show the facts, charts and problems of a report', () => {
    const base = reportOf();
    const card = cardOf({
      ...base,
      rows: 2_000,
      blankRows: 2,
      formats: { ...base.formats, chat: 1_999, 'question-answer': 1 },
      comparedRows: 1_000,
      statistics: {
        ...base.statistics,
        lengths: {
          ...base.statistics.lengths,
          histogram: [
            { fromBytes: 512, toBytes: 1_024, rows: 1_500 },
            { fromBytes: 1_024, toBytes: 2_048, rows: 500 },
          ],
        },
      },
      problems: [groupOf('bad-escape', ROW, 3), groupOf('duplicate-row', ROW, 1_200)],
    });
    assert.equal(card.verdict.kind, 'errors');
    assert.equal(fact(card, 'Rows'), '2,000, 2 blank');
    assert.equal(fact(card, 'Duplicates'), '1,200 rows (first 1,000 rows)');
    assert.deepEqual(
      card.charts.map(({ parts }) => parts.map(({ name, value, share }) => [name, value, share])),
      [
        [
          ['512 bytes to 1.0 kB', '1,500 (75%)', 1],
          ['1.0 kB to 2.0 kB', '500 (25%)', 1 / 3],
        ],
        [
          ['chat', '1,999 (> 99.9%)', 1],
          ['question/answer', '1 (< 0.1%)', 1 / 1_999],
        ],
        [
          ['unique', '798 (39.9%)', 798 / 1_200],
          ['duplicate', '1,200 (60.1%)', 1],
        ],
        [
          ['user', '10 (50%)', 1],
          ['assistant', '10 (50%)', 1],
        ],
      ],
    );
    assert.deepEqual(
      card.problems?.classes.map(({ choice, count }) => [choice, count]),
      [
        ['grammar', '3'],
        ['duplicates', '1,200'],
      ],
    );
  });

  it('say what the figures leave out if rows are too long to check', () => {
    const base = reportOf({ problems: [groupOf('row-too-long', ROW, 2)] });
    const of = (characters: number | undefined) =>
      cardOf({ ...base, statistics: { ...base.statistics, characters } });
    assert.equal(
      fact(of(undefined), 'Not checked'),
      '2 rows longer than 64 MiB, left out of lengths and charts',
    );
    assert.equal(fact(of(undefined), 'Characters'), undefined);
    assert.deepEqual([fact(cardOf(reportOf()), 'Not checked'), fact(of(7), 'Characters')], [undefined, '7']);
  });

  it('show last run and price once there is a report, without markup in model names', () => {
    const run = {
      ...{ accountId: 'a', runId: 'r', modelId: 'm', priority: false, rows: 10 },
      ...{ submittedAtMs: Date.parse('2026-05-03T12:00:00Z'), priceCents: undefined, currency: undefined },
    };
    const trained = {
      kind: 'changed',
      run,
      modelName: '[Qwen](command:x)',
      otherAccount: undefined,
      isCompleted: true,
      status: 'completed',
    } as const;
    const past = { trained, price: { kind: 'none' }, accuracy: { correct: 0, of: 0 } } as const;
    const facts = (one: PreviewCard) => ['Trained before', 'Price'].map((name) => fact(one, name));
    assert.deepEqual(facts(cardOf(reportOf(), { past })), [
      'May 3, 2026 with [Qwen] (command:x); changed since',
      'Not known until charged',
    ]);
    assert.deepEqual(facts(cardOf(reportOf(), { past: { ...past, trained: undefined } }))[0], undefined);
    const queued = { ...trained, isCompleted: false, status: 'queued' };
    const submitted = cardOf(reportOf(), { past: { ...past, trained: queued } });
    assert.match(fact(submitted, 'Submitted before · queued') ?? '', /^May 3, 2026 /);
    assert.deepEqual(facts(cardOf(undefined, { past })), [undefined, undefined]);
    assert.deepEqual(facts(cardOf(reportOf())), [undefined, undefined]);
  });

  it('show the number of listed rows and the progress of a search', () => {
    const list = { phase: 'done', length: 1, searched: 0, problems: undefined } as const;
    const file = { rows: 5, isCounted: true };
    assert.equal(preview.listStatus({ ...list, phase: 'all' }, { ...file, rows: 1 }), '1 row');
    assert.equal(preview.listStatus(list, { rows: 12_345, isCounted: false }), '12,345 rows so far…');
    const problems = { rows: [1], located: 1_000, total: 2_500 };
    assert.equal(preview.listStatus({ ...list, problems }, file), '1 of 5 rows (first 1,000 problems)');
    const searching = { ...list, phase: 'searching', length: 2, searched: 0.999 } as const;
    assert.equal(preview.listStatus(searching, file), '2 of 5 rows, 99% searched…');
  });

  it('have a unique name and a short sentence for each problem, and quote masked text', () => {
    const sentence = (code: (typeof PROBLEMS)[number][0]) =>
      messages.problemSentence({ code, detail: 'MASKED' });
    const codes = PROBLEMS.map(([code]) => code);
    assert.equal(new Set(codes.map(messages.problemName)).size, codes.length);
    for (const code of codes) {
      assert.match(sentence(code), /\.$/);
      assert.ok(sentence(code).length <= 130, sentence(code));
    }
    assert.deepEqual(
      codes.filter((code) => sentence(code).includes('MASKED')),
      ['duplicate-row', 'api-key', 'email-address', 'card-number', 'cut-off'],
    );
  });

  it('count problems that are shown as one', () => {
    const codes = ['output-missing', 'trailing-comma', 'email-address', 'duplicate-row'] as const;
    const texts = codes.map((code) => messages.problemSentence({ code, detail: 'j…@h….com', count: 4_998 }));
    assert.deepEqual(texts, [
      'Field “output” is missing; taken for instruction/output (4,998 rows).',
      'Trailing comma (4,998 rows). Remove it.',
      'Possible email address (4,998 times). A model can repeat it (j…@h….com).',
      '4,998 rows repeat earlier ones.',
    ]);
    assert.equal(
      messages.problemSentence({ code: 'cut-off', detail: '7' }),
      'Cut off in row 7. Get the complete file.',
    );
  });

  it('show a single text for a file that is not a dataset', () => {
    const state = { isDataset: false, isBusy: false, isDirty: true, price: '1 USD', verdict: undefined };
    const of = (report: Report | undefined) => status.statusText({ ...state, report });
    const { text, detail, action, lens } = of(
      reportOf({ rows: 5_000, problems: [groupOf('bad-escape', ROW)] }),
    );
    assert.deepEqual(
      [text, detail, action, lens],
      ['JSONL, 5,000 rows · no known training format', '', 'Check Dataset', ''],
    );
    assert.equal(of(reportOf({ kind: 'csv' })).text, 'CSV, not JSONL');
    assert.equal(of(undefined).text, 'Not checked');
    const array = of(reportOf({ kind: 'json-array' }));
    assert.deepEqual([array.text, array.action], ['a JSON array, not JSONL', 'Convert to JSONL']);
  });
});
