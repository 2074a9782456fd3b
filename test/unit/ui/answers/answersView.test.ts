import assert from 'node:assert/strict';
import type { AnswersFile, Comparison } from '../../../../src/core/answers/answersFile.ts';
import { scoreRow } from '../../../../src/core/answers/scores.ts';
import type { Leak } from '../../../../src/ui/answers/answersDocument.ts';
import type { AnswersFacts } from '../../../../src/ui/answers/answersView.ts';
import type { AnswersHead } from '../../../../src/ui/answers/protocol.ts';
import { answerRow } from '../../../helpers/answers.ts';
import { golden, pictured } from '../../../helpers/golden.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';

const { answersHead } = await withVscode(() => import('../../../../src/ui/answers/answersView.ts'));

const COMPARISON: Comparison = {
  rows: 50,
  failed: 0,
  measure: 'closer',
  leads: [],
  ahead: { base: 12, adapter: 31 },
  equal: 7,
  same: 5,
  isProbablyInactive: false,
  chance: { kind: 'unlikely', p: 0.0054 },
  exact: { base: 3, adapter: 18, both: 2 },
  validJson: undefined,
  medianCharacters: { base: 212, adapter: 64.5, expected: 58 },
  cutOff: { base: 4, adapter: 0, rows: 4 },
  isOftenCutOff: false,
  isMostlyCutOff: false,
  isMostlyThinking: { base: false, adapter: false },
  shortened: { rows: 0, characters: 8_000 },
};

const FILE: AnswersFile = {
  stamp: { sizeBytes: 1, mtimeMs: 1, ctimeMs: 1 },
  sha256: '00',
  rows: Array.from({ length: 50 }, () => ({}) as AnswersFile['rows'][number]),
  leftOut: {},
  isCut: false,
  isBeingWritten: false,
  chat: new Uint8Array(),
  runs: [],
};

const FACTS: AnswersFacts = {
  files: ['train.answers.jsonl'],
  isSample: false,
  hasChanged: false,
  problem: undefined,
  shown: undefined,
  filter: 'all',
};

/** @param more of the comparison */
function head(
  more: Partial<Comparison>,
  file: Partial<AnswersFile> = {},
  facts: Partial<AnswersFacts> = {},
  expectedRows?: number,
  found: Partial<NonNullable<AnswersFacts['shown']>> = {},
) {
  const shown = {
    ...{ file: { ...FILE, ...file }, files: [{ ...FILE, ...file }], pairs: undefined },
    ...{ scores: [], comparison: { ...COMPARISON, ...more } },
    ...{ leak: undefined, runs: [], trained: new Set<number>(), holdOut: undefined, expectedRows },
    ...found,
  };
  return answersHead({ ...FACTS, shown, ...facts });
}

/** @param counts of each expected answer: its rows, and those that are right */
function labeled(
  more: Partial<Comparison>,
  counts: readonly [label: string, rows: number, base: number, adapter: number][],
) {
  const rows = counts.flatMap(([expected, length, base, adapter]) =>
    Array.from({ length }, (_, at) =>
      answerRow({ expected, base: at < base ? expected : '', adapter: at < adapter ? expected : '' }),
    ),
  );
  const leads = rows.map(() => 'equal' as const);
  return head({ ...more, leads }, { rows }, {}, undefined, { scores: rows.map(scoreRow) });
}

const linesOf = (head: AnswersHead) => pictured('answers', head, linesOfHead(head));

function linesOfHead(head: AnswersHead): string[] {
  const { title, notices, failure, leak, headline, tables, filters } = head;
  return [
    title,
    ...notices,
    ...(failure === undefined ? [] : [failure]),
    ...(leak === undefined
      ? []
      : [`${leak.text}${leak.action === undefined ? '' : ` [${leak.action.words}]`}`]),
    ...(headline?.sentences.map((text) => (headline.isWarning ? `⚠ ${text}` : text)) ?? []),
    ...tables.flatMap(({ name, corner, columns, rows }) => [
      `${name}: ${corner} | ${columns.join(' | ')}`,
      ...rows.map(({ name, cells }) => `${name} | ${cells.join(' | ')}`),
    ]),
    ...(filters.length === 0
      ? []
      : [filters.map(({ words, isPressed }) => `[${isPressed ? '●' : ''}${words}]`).join(' ')]),
  ];
}

const headlineOf = (more: Partial<Comparison>) =>
  head(more).headline?.sentences.map((text) =>
    head(more).headline?.isWarning === true ? `⚠ ${text}` : text,
  );

it('the headlines of a comparison', () => {
  const chanceAt = (p: number) => ({ chance: { kind: p > 0.05 ? 'likely' : 'unlikely', p } as const });
  golden('answers-headlines', {
    'the same answers': headlineOf({
      isProbablyInactive: true,
      same: 46,
      failed: 0,
      chance: { kind: 'too-few' },
    }),
    'the same answers, and two that failed': headlineOf({ isProbablyInactive: true, same: 43, failed: 2 }),
    'short expected answers': headlineOf({ measure: 'exact' }),
    'expected JSON': headlineOf({ measure: 'fields', ahead: { base: 4, adapter: 28 }, equal: 18 }),
    'other answers': headlineOf({}),
    'one row': headlineOf({ ahead: { base: 0, adapter: 1 }, chance: { kind: 'too-few' } }),
    'a difference by chance': headlineOf({ ahead: { base: 20, adapter: 23 }, ...chanceAt(0.18) }),
    'a difference at the limit': headlineOf(chanceAt(0.05)),
    'a difference above the limit': headlineOf(chanceAt(0.0501)),
    'a certain chance': headlineOf(chanceAt(1)),
    'a tiny chance': headlineOf(chanceAt(0.00024)),
    'a chance too tiny for a number': headlineOf(chanceAt(0)),
    'too few rows': headlineOf({ measure: 'fields', chance: { kind: 'too-few' } }),
    'no verdict: most answers were cut off': headlineOf({
      isMostlyCutOff: true,
      isOftenCutOff: true,
      cutOff: { base: 30, adapter: 0, rows: 30 },
    }),
    'answers that were cut off': headlineOf({
      isOftenCutOff: true,
      cutOff: { base: 20, adapter: 3, rows: 21 },
    }),
    'a thinking base model': headlineOf({ isMostlyThinking: { base: true, adapter: false } }),
    'a thinking adapter': headlineOf({ isMostlyThinking: { base: false, adapter: true } }),
    'two thinking models': headlineOf({ isMostlyThinking: { base: true, adapter: true } }),
    'long answers': headlineOf({ shortened: { rows: 3, characters: 8_000 } }),
    'rows that failed': headlineOf({ failed: 1 }),
  });
});

it('everything above the rows of a comparison', () => {
  const leftOut = { 'no-expected': 9, 'not-json': 3 };
  const every = {
    'too-long': 1,
    'not-json': 2,
    'no-messages': 3,
    'no-expected': 4,
    'no-base': 5,
    'no-adapter': 1_000,
  };
  const rows: AnswersFile['rows'] = [];
  const facts = (more: Partial<AnswersFacts>) => linesOf(answersHead({ ...FACTS, ...more }));
  const noticesOf = (...of: Parameters<typeof head>) => head(...of).notices;
  const beingWritten = (expectedRows: number | undefined) =>
    noticesOf({}, { rows: FILE.rows.slice(0, 31), isBeingWritten: true }, {}, expectedRows);
  golden('answers-head', {
    compared: linesOf(head({})),
    'JSON, filtered': linesOf(head({ validJson: { base: 9, adapter: 50 } }, {}, { filter: 'different' })),
    'probably inactive': linesOf(head({ isProbablyInactive: true, same: 46 })),
    'the sample': linesOf(head({}, {}, { isSample: true })),
    'nothing yet': facts({}),
    failed: facts({ problem: { kind: 'failed', path: '' } }),
    ...Object.fromEntries(
      (['missing', 'folder', 'not-a-file', 'unreadable', 'empty'] as const).map((kind) => [
        kind,
        facts({ problem: { kind, path: '/data/train.answers.jsonl' } }),
      ]),
    ),
    'three expected answers': linesOf(
      labeled({ measure: 'exact' }, [
        ['positive', 30, 1, 17],
        [`neutral\u202e ${'or long '.repeat(20)}`, 19, 2, 0],
        ['<b>mixed</b>', 1, 0, 1],
      ]),
    ),
    'two objects': labeled({ measure: 'fields', validJson: { base: 9, adapter: 50 } }, [
      ['{"sum":7}', 30, 1, 17],
      ['{"sum":8}', 9, 1, 1],
    ]).tables.map(({ name }) => name),
    'two objects, but most were cut off': labeled({ measure: 'fields', isMostlyCutOff: true }, [
      ['{"sum":7}', 30, 1, 17],
      ['{"sum":8}', 9, 1, 1],
    ]).tables.map(({ name }) => name),
    'no answers': linesOf(head({ rows: 0 }, { rows })),
    'no answers, but other rows': linesOf(head({ rows: 0 }, { rows, leftOut: { 'no-expected': 1 } })),
    'rows left out': noticesOf({}, { leftOut }),
    'rows left out for every reason': noticesOf({}, { leftOut: every }),
    'too many rows': noticesOf({}, { isCut: true }),
    changed: noticesOf({}, {}, { hasChanged: true }),
    'being written': beingWritten(50),
    'being written, of an unknown number': beingWritten(undefined),
  });
});

it('what is said of prompts that are in other data', () => {
  const run = { data: { fingerprints: 'x' }, name: 'run “Bot”', isTraining: true, changed: undefined };
  const file = { ...run, name: 'train.prepared.jsonl', isTraining: false };
  /** Everything above the rows, and what else *Copy Summary* copies. @param hits rows whose prompts are in the data */
  const page = (leak: Leak, hits = 0, rows = 50, of: object = {}) => {
    const trained = new Set(Array.from({ length: hits }, (_, index) => index));
    const shown = head({ rows: rows - hits }, { rows: FILE.rows.slice(0, rows) }, {}, undefined, {
      ...{ leak, trained, ...of },
    });
    const { summary } = shown;
    assert.equal(summary === undefined, leak.kind === 'comparing');
    assert.equal(summary?.startsWith(shown.leak?.text ?? ''), summary && true);
    assert.equal(summary?.includes('Method:'), summary && hits < rows);
    return linesOf(shown).filter((line) => !/^(If |Closer|Cut off|Characters|Exact|Comparison)/.test(line));
  };
  const found = (data: typeof run | typeof file, hits: number, rows = 50, sameAnswer = 0) =>
    page({ kind: 'compared', data, found: { isFound: [], sameAnswer } }, hits, rows);
  const hostile = { ...run, name: 'run “[a](http://x) <b>*_”' };
  const isFound = Array.from(FILE.rows, () => false);
  const leak: Leak = { kind: 'compared', data: hostile, found: { isFound, sameAnswer: 0 } };
  const { summary } = head({}, {}, {}, undefined, { leak, trained: new Set() });
  assert.match(summary ?? '', /\(run “\\\[a\\\]\(http:\/\/x\) \\<b\\>\\\*\\_”\)/);
  golden('answers-leaks', {
    'being compared': page({ kind: 'comparing' }),
    'some were trained': found(run, 12),
    'one was trained': found(run, 1),
    'all but one were trained': found(run, 49),
    'all were trained': found(run, 50),
    'none was trained': found(run, 0),
    'the only one was trained': found(run, 1, 1),
    'the only one wasn’t trained': found(run, 0, 1),
    'some are in a file': found(file, 12),
    'one is in a file': found(file, 1),
    'one of two is in a file': found(file, 1, 2),
    'all are in a file': found(file, 50),
    'none is in a file': found(file, 0),
    'the only one is in a file': found(file, 1, 1),
    'the only one isn’t in a file': found(file, 0, 1),
    'some have the answer of a training row': found(run, 12, 50, 3),
    'one has the answer of a training row': found(run, 12, 50, 1),
    'some have the answer of a row of a file': found(file, 12, 1_234, 3),
    'one has the answer of a row of a file': found(file, 0, 50, 1),
    'no data is known': page({ kind: 'unknown' }),
    'it failed': page({ kind: 'failed', name: run.name }),
    'the data wasn’t even found': page({ kind: 'failed', name: 'the training data' }),
    'the run’s dataset is another one now': page(
      {
        ...{ kind: 'compared', data: { ...run, changed: 'train.jsonl' } },
        found: { isFound: [], sameAnswer: 0 },
      },
      12,
      50,
      { runs: [{ name: 'run “Bot”', label: 'Bot' }] },
    ),
  });
});

it('the summary of a comparison', () => {
  const summary = (more: Partial<Comparison>) => head(more).summary;
  golden('answers-summary', {
    compared: summary({}),
    JSON: summary({ measure: 'fields', validJson: { base: 9, adapter: 50 } }),
    'short answers': summary({ measure: 'exact' }),
    'probably inactive': summary({ isProbablyInactive: true, same: 46 }),
  });
});

describe('a page of two files of answers', () => {
  const files = ['old.answers.jsonl', 'new.answers.jsonl'];
  const pairs = { only: { base: 0, adapter: 0 }, baseDiffers: 0 };
  const rowsOf = (count: number) => FILE.rows.slice(0, count);
  const pair = (
    more: Partial<NonNullable<AnswersFacts['shown']>> = {},
    comparison: Partial<Comparison> = {},
    rows = 48,
    facts: Partial<AnswersFacts> = {},
  ) =>
    head({ rows, ...comparison }, { rows: rowsOf(rows) }, { files, ...facts }, undefined, {
      ...{ pairs, files: [FILE, FILE] },
      ...more,
    });
  const labeled = (...labels: (string | undefined)[]) => ({
    runs: labels.map((label) => ({ name: label && `run “${label}”`, label })),
  });
  const only = (base: number, adapter: number, baseDiffers = 0, rows = 48) =>
    pair({ pairs: { only: { base, adapter }, baseDiffers } }, {}, rows).notices;

  it('has their names in its sentences', () => {
    golden('answers-pairs', {
      'by names of files': linesOf(pair()),
      'by labels of runs': linesOf(pair(labeled('v1', 'v2'), { measure: 'exact' })),
      'one label is known': linesOf(pair(labeled('v1', undefined), { measure: 'fields' })),
      'alike labels': pair(labeled('Bot', 'Bot')).title,
      'alike names of files': pair({}, {}, 1, { files: ['a.answers.jsonl', 'a.jsonl'] }).title,
      'only in one': only(1, 0),
      'only in the other': only(0, 2),
      'only in either': [...only(1, 3), ...only(2, 1)],
      'base models that differ': only(0, 0, 9),
      'base models that hardly differ': [...only(0, 0, 2), ...only(0, 0, 4, 4)],
      'the same answers': pair({}, { isProbablyInactive: true, same: 44 }).headline?.sentences,
      'a thinking one': pair({}, { isMostlyThinking: { base: false, adapter: true } }).headline?.sentences,
      'no row in common': linesOf(pair({}, { rows: 0 }, 0)),
      'one without answers': pair({ files: [FILE, { ...FILE, rows: [] }] }, {}, 0).failure,
      'one that is missing': pair({}, {}, 48, {
        problem: { kind: 'missing', path: '/data/new.answers.jsonl' },
      }).failure,
      'data of both': linesOf(
        pair({
          leak: {
            ...{ kind: 'compared', found: { isFound: [], sameAnswer: 0 } },
            data: {
              data: { fingerprints: '' },
              name: 'run “v1” or run “v2”',
              isTraining: true,
              changed: undefined,
            },
          },
        }),
      ).filter((line) => line.includes('prompts')),
      summary: pair(labeled('[v1](x)', '<v2>')).summary,
    });
  });

  it('offers no third file', () => {
    assert.deepEqual([head({}).canCompareWithOther, pair().canCompareWithOther], [true, false]);
  });
});
