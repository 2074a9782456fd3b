import assert from 'node:assert/strict';
import { PROBLEMS, ProblemGroup, type ProblemCode } from '../../src/core/datasets/problems.ts';
import type { PreviewCard } from '../../src/ui/datasets/protocol.ts';
import { type FileKind, type Report, summaryOf } from '../../src/core/datasets/report.ts';
import {
  changedNotice,
  listStatus,
  noPreview,
  previewWords,
  restOfRow,
} from '../../src/ui/datasets/previewMessages.ts';
import { previewCard } from '../../src/ui/datasets/previewCardMessages.ts';
import { problemClassName, problemName } from '../../src/ui/datasets/messages.ts';

const group = (code: ProblemCode, total: number) =>
  new ProblemGroup(
    PROBLEMS.findIndex(([name]) => name === code),
    total,
    new Float64Array([1, 1, 1, 0, 1]),
    [],
  );

function reportOf(kind: FileKind, problems: ProblemGroup[], blankRows = 0): Report {
  return {
    path: '/data/rows.jsonl',
    sizeBytes: 2_000_000,
    mtimeMs: 0,
    ctimeMs: 0,
    sha256: 'ab'.repeat(32),
    kind,
    rows: 2_000,
    blankRows,
    formats: {
      unknown: 0,
      chat: 1_999,
      'prompt-completion': 0,
      instruction: 0,
      'question-answer': 1,
      text: 0,
      preference: 0,
      sharegpt: 0,
    },
    format: 'chat',
    duplicatesLookedForRows: 1_000,
    statistics: {
      characters: 1_900_000,
      estimatedTokens: 512_345,
      lengths: {
        minBytes: 10,
        maxBytes: 4_000,
        meanBytes: 1_000,
        percentiles: { p50: 900, p90: 2_000, p99: 3_000 },
        histogram: [
          { fromBytes: 512, toBytes: 1_024, rows: 1_500 },
          { fromBytes: 1_024, toBytes: 2_048, rows: 500 },
        ],
      },
      roles: { system: 0, user: 2_000, assistant: 2_000, tool: 0, other: 0 },
      maxTurns: 4,
    },
    problems,
  };
}

function cardOf(report: Report | undefined, more: { progress?: number; failure?: string } = {}): PreviewCard {
  return previewCard({
    sizeBytes: 2_000_000,
    report,
    summary: report === undefined ? undefined : summaryOf(report),
    progress: more.progress,
    failure: more.failure,
  });
}

const fact = (card: PreviewCard, name: string) => card.facts.find((one) => one.name === name)?.value;

describe('the card of a dataset', () => {
  it('tells what is known before and while it is checked', () => {
    const card = cardOf(undefined, { progress: 0.427 });
    assert.deepEqual(card.progress, { text: 'Checking, 42 %…', fraction: 0.427 });
    assert.deepEqual(card.facts, [{ name: 'Size', value: '2.0 MB' }]);
    assert.equal(card.verdict.text, '');
    assert.deepEqual(cardOf(undefined, { failure: 'no' }).verdict, { kind: 'none', text: 'no' });
  });

  it('tells verdict, facts, shares and problems', () => {
    const card = cardOf(reportOf('rows', [group('bad-escape', 3), group('duplicate-row', 1_200)], 2));
    assert.equal(card.verdict.kind, 'errors');
    assert.equal(fact(card, 'Rows'), '2,000, 2 of them blank');
    assert.match(fact(card, 'Tokens') ?? '', /510,000 .*estimate/);
    assert.equal(fact(card, 'Duplicates'), '1,200 rows; not looked for beyond row 1,000');
    assert.equal(card.facts.find(({ copy }) => copy !== undefined)?.copy, 'ab'.repeat(32));
    const [lengths, formats, repeats, roles] = card.charts;
    assert.deepEqual(
      lengths?.parts.map(({ share }) => share),
      [1, 1 / 3],
    );
    assert.deepEqual(
      formats?.parts.map(({ name, value }) => [name, value]),
      [
        ['chat', '1,999 (> 99.9 %)'],
        ['question/answer', '1 (< 0.1 %)'],
      ],
    );
    assert.deepEqual(
      repeats?.parts.map(({ name, value }) => [name, value.split(' ')[0]]),
      [
        ['only once, or the first', '798'],
        ['repeated', '1,200'],
      ],
    );
    assert.deepEqual(
      roles?.parts.map(({ name }) => name),
      ['user', 'assistant'],
    );
    assert.deepEqual(
      card.problems?.classes.map(({ choice, count }) => [choice, count]),
      [
        ['grammar', '3'],
        ['duplicates', '1,200'],
      ],
    );
  });

  it('makes no statistics of what are no rows', () => {
    for (const kind of ['utf-16', 'binary', 'json-array'] as const) {
      const card = cardOf(reportOf(kind, []));
      assert.equal(card.verdict.kind, 'errors');
      assert.deepEqual([card.charts.length, fact(card, 'Rows')], [0, undefined]);
    }
  });

  it('has a name for each problem and each class, and no two the same', () => {
    const names = PROBLEMS.map(([code]) => problemName(code));
    assert.equal(new Set(names).size, PROBLEMS.length);
    const classes = new Set(PROBLEMS.map(([, , problemClass]) => problemClass));
    assert.equal(new Set([...classes].map(problemClassName)).size, classes.size);
  });
});

describe('the words of the preview', () => {
  const list = {
    phase: 'all',
    length: 5,
    rows: 5,
    isCounted: true,
    searched: 0,
    problems: undefined,
  } as const;

  it('say what is listed and how far the work is', () => {
    assert.equal(listStatus({ ...list, rows: 1 }), '1 row');
    assert.equal(listStatus({ ...list, rows: 12_345, isCounted: false }), '12,345 rows so far…');
    const problems = { rows: [1], located: 1_000, total: 2_500 };
    assert.equal(
      listStatus({ ...list, phase: 'done', length: 1, problems }),
      '1 of 5 rows (places of the first 1,000 of 2,500)',
    );
    assert.equal(
      listStatus({ ...list, phase: 'searching', length: 2, searched: 0.999 }),
      '2 of 5 rows, 99 % searched…',
    );
  });

  it('are there for each state, none empty', () => {
    for (const word of Object.values(previewWords())) assert.ok(word.length > 0);
    const states = ['missing', 'folder', 'not-a-file', 'empty', 'not-on-disk', 'unreadable'] as const;
    assert.equal(new Set(states.map((state) => noPreview('x.jsonl', state))).size, states.length);
    assert.notEqual(changedNotice('x', 'changed'), changedNotice('x', 'missing'));
    assert.equal(restOfRow(1_234_567), '1.2 MB more not shown.');
  });
});
