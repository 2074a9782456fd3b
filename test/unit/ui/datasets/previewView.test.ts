import assert from 'node:assert/strict';
import type { ModuleHooks } from 'node:module';
import { PROBLEMS } from '../../../../src/core/datasets/problems.ts';
import type { Report } from '../../../../src/core/datasets/report.ts';
import type { CardSource } from '../../../../src/ui/datasets/previewView.ts';
import type { PreviewCard } from '../../../../src/ui/datasets/protocol.ts';
import { changedLines, golden, pictured } from '../../../helpers/golden.ts';
import { shownReading } from '../../../helpers/reading.ts';
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

  const nothing = {
    progress: undefined,
    failure: undefined,
    past: undefined,
    texts: {},
    readProgress: undefined,
  };
  const tokens = { text: 250, assistant: 150, rowsOver4096: 0, rowsOver8192: 0, rows: [] };
  const cardOf = (report: Report | undefined, more: Partial<CardSource> = {}) =>
    preview.previewCard({
      ...{ sizeBytes: 2_000_000, report, ...nothing },
      reading: report && shownReading(),
      ...more,
    });

  const linesOf = (card: PreviewCard) => pictured('preview', card, linesOfCard(card));
  const linesOfCard = (card: PreviewCard) => [
    `${card.verdict.kind}: ${card.verdict.text}`,
    ...(card.progress === undefined
      ? []
      : [[card.progress.text, card.progress.fraction, card.progress.stop].join(' ').trim()]),
    ...card.facts.map(({ name, value, rows }) =>
      [`${name}: ${value}`, rows && `[${rows.text} → ${rows.choice}] ${rows.name}`].join(' ').trim(),
    ),
    ...card.charts.flatMap(({ title, parts }) => [
      `# ${title}`,
      ...parts.flatMap(({ name, value, share, line }) => [
        `${name}: ${value}, ${share.toFixed(3)}`,
        ...(line === undefined ? [] : [`--- ${line}`]),
      ]),
    ]),
    ...(card.problems?.classes ?? []).map(({ choice, name, count }) => `${choice}: ${name} ${count}`),
  ];

  it('show the facts, charts and problems of a report, and what they leave out', () => {
    const base = reportOf();
    const plain = linesOf(cardOf(base));
    const changed = (card: PreviewCard) => changedLines(linesOf(card), plain);
    const tooLong = reportOf({ problems: [groupOf('row-too-long', ROW, 2)] });
    const run = {
      ...{ kind: 'charged' as const, id: 'one', accountId: 'a', runId: 'r', modelId: 'm', priority: false },
      ...{ modelName: '[Qwen](command:x)', otherAccount: undefined, rows: 10 },
      ...{ isCompleted: true, status: 'completed' },
      ...{ submittedAtMs: Date.parse('2026-05-03T12:00:00Z'), priceCents: undefined, currency: undefined },
    };
    const trained = { kind: 'changed', run } as const;
    const past = {
      ...{ trained, since: undefined, accuracy: { correct: 0, of: 0 } },
      price: { kind: 'none' },
    } as const;
    const named = { label: 'support v3', day: 'May 3, 2026' };
    const since = (added: number, removed: number) =>
      changed(
        cardOf(base, {
          past: {
            ...past,
            since: {
              difference: {
                ...{ added, removed, changed: 0, equal: 7, notCompared: 0 },
                rows: { total: added, rows: [] },
              },
              run: named,
            },
          },
        }),
      );
    const queued = { ...trained, run: { ...run, isCompleted: false, status: 'queued' } };
    golden('preview-card', {
      'while it is checked': linesOf(cardOf(undefined, { progress: 0.427 })),
      'a failed check': linesOf(cardOf(undefined, { failure: 'no' })),
      'no report, with a past run': linesOf(cardOf(undefined, { past })),
      'a report': plain,
      'two formats, problems and blank rows': linesOf(
        cardOf({
          ...base,
          rows: 2_000,
          blankRows: 2,
          formats: { ...base.formats, chat: 1_999, 'question-answer': 1 },
          comparedRows: 1_000,
          problems: [groupOf('bad-escape', ROW, 3), groupOf('duplicate-row', ROW, 1_200)],
        }),
      ),
      'few rows, and long ones without an answer': changed(
        cardOf(
          { ...base, rows: 9 },
          {
            reading: shownReading({
              tokens: { ...tokens, text: 17_321, assistant: 0, rowsOver4096: 12, rowsOver8192: 3 },
            }),
          },
        ),
      ),
      'a row, and one over 4,096 tokens': changed(
        cardOf(
          { ...base, rows: 3, blankRows: 2 },
          { reading: shownReading({ tokens: { ...tokens, rowsOver4096: 1 } }) },
        ),
      ),
      'no text': changed(
        cardOf(base, { reading: shownReading({ tokens: { ...tokens, text: 0, assistant: 0 } }) }),
      ),
      'labels, tokens beyond both lines, and rows that aren’t read': changed(
        cardOf(base, {
          reading: shownReading({
            unread: 2,
            labels: [
              { row: 1, rows: 30 },
              { row: 2, rows: 10 },
            ],
            tokens: { ...tokens, rows: [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 5, 9, 3, 2, 0, 1] },
          }),
          texts: { labels: ['yes', '[no](command:x)'] },
        }),
      ),
      'short rows': changed(
        cardOf(base, { reading: shownReading({ tokens: { ...tokens, rows: [0, 0, 0, 0, 0, 0, 4, 6] } }) }),
      ),
      'texts that are being read': changed(cardOf(base, { reading: undefined, readProgress: 0.345 })),
      'repeated prompts, and a common answer': changed(
        cardOf(
          {
            ...base,
            repeats: { comparedRows: 10, prompts: 12, withOtherAnswers: 5 },
          },
          {
            reading: shownReading({ answer: { row: 3, rows: 34, share: 0.344 } }),
            texts: {
              answer:
                '  I don’t know.\n\u202eMaybe [a link](command:x) does, which is much longer than a line.',
            },
          },
        ),
      ),
      'repeated prompts among the first rows': changed(
        cardOf({
          ...base,
          rows: 2_000_000,
          comparedRows: 2_000_000,
          repeats: { comparedRows: 1_000_000, prompts: 1_200, withOtherAnswers: 0 },
        }),
      ),
      'rows that are too long': changed(
        cardOf({ ...tooLong, statistics: { ...tooLong.statistics, characters: undefined } }),
      ),
      'trained before': changed(cardOf(base, { past })),
      'submitted before': changed(cardOf(base, { past: { ...past, trained: queued } })),
      'rows since the last run': since(3, 1),
      'only fewer rows since the last run': since(0, 1),
      'the last run can’t be compared': changed(
        cardOf(base, { past: { ...past, trained: undefined, since: null } }),
      ),
      'never trained': changed(cardOf(base, { past: { ...past, trained: undefined } })),
    });
  });

  it('show the number of listed rows and the progress of a search', () => {
    const list = { phase: 'done', length: 1, searched: 0, problems: undefined } as const;
    const file = { rows: 5, isCounted: true };
    const problems = { rows: [1], located: 1_000, total: 2_500 };
    const { listStatus } = preview;
    golden('preview-list', {
      'one row': listStatus({ ...list, phase: 'all' }, { ...file, rows: 1 }),
      'while rows are counted': listStatus(list, { rows: 12_345, isCounted: false }),
      'more problems than are listed': listStatus({ ...list, problems }, file),
      searching: listStatus({ ...list, phase: 'searching', length: 2, searched: 0.999 }, file),
    });
  });

  it('have a short sentence for each problem, which counts rows and quotes masked text', () => {
    const sentence = (code: (typeof PROBLEMS)[number][0], count?: number) =>
      messages.problemSentence({ code, detail: 'MASKED', ...(count !== undefined && { count }) });
    const cases: Record<string, string[]> = {};
    for (const [code] of PROBLEMS) {
      cases[`${code}: ${messages.problemName(code)}`] = [sentence(code), sentence(code, 4_998)];
      assert.ok(sentence(code).length <= 130, sentence(code));
    }
    for (const [code, ...roles] of [
      ['repeated-role', 'user', 'assistant', 'gpt'],
      [
        'tool-order',
        'assistant',
        'function_call',
        'tool',
        'function',
        'observation',
        'tool_response',
        'ipython',
      ],
    ] as const)
      cases[`${code}, by the role`] = roles.map((detail) => messages.problemSentence({ code, detail }));
    golden('dataset-problems', cases);
    assert.equal(new Set(PROBLEMS.map(([code]) => messages.problemName(code))).size, PROBLEMS.length);
  });

  it('name the kind of a file, and add the verdict for a dataset alone', () => {
    const state = { isBusy: false, isDirty: true, price: '1 USD', verdict: undefined };
    const of = (report: Report | undefined, isDataset = false, more = {}) => {
      const { kind, action, lens } = status.statusText({ ...state, isDataset, report, ...more });
      return [kind, action, lens].map((one) => one || '-').join(' | ');
    };
    const faulty = reportOf({ rows: 5_000, problems: [groupOf('bad-escape', ROW)] });
    golden('dataset-status', {
      'no training format': of(faulty),
      csv: of(reportOf({ kind: 'csv' })),
      'UTF-16': of(reportOf({ kind: 'utf-16' })),
      'a JSON array': of(reportOf({ kind: 'json-array' })),
      answers: of(reportOf({ kind: 'answers' })),
      requests: of(reportOf({ kind: 'requests' })),
      'another form': of(reportOf({ kind: 'other-form' })),
      'not checked': of(undefined),
      'a dataset, not checked': of(undefined, true),
      'a dataset with problems, changed since': of(faulty, true, { verdict: 'errors' }),
      'a dataset without problems': of(reportOf({}), true, { verdict: 'clean', isDirty: false }),
      'a dataset that is being checked': of(faulty, true, { isBusy: true }),
    });
  });
});
