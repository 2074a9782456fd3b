import type { AnswersFile, Comparison } from '../../../../src/core/answers/answersFile.ts';
import type { AnswersFacts } from '../../../../src/ui/answers/answersView.ts';
import type { AnswersHead } from '../../../../src/ui/answers/protocol.ts';
import { golden } from '../../../helpers/golden.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';

const { answersHead, votedText, voteEnd, voteTitle } = await withVscode(
  () => import('../../../../src/ui/answers/answersView.ts'),
);

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
};

const FACTS: AnswersFacts = {
  name: 'train.answers.jsonl',
  isSample: false,
  changed: undefined,
  problem: undefined,
  shown: undefined,
  filter: 'all',
  voteRows: 45,
  tally: undefined,
};

const TALLY = { adapter: 12, base: 4, equal: 4, chance: { kind: 'likely', p: 0.0768 } } as const;

/** @param more of the comparison */
function head(
  more: Partial<Comparison>,
  file: Partial<AnswersFile> = {},
  facts: Partial<AnswersFacts> = {},
  expectedRows?: number,
) {
  const comparison = { ...COMPARISON, ...more };
  const shown = { file: { ...FILE, ...file }, scores: [], comparison, holdOut: undefined, expectedRows };
  return answersHead({ ...FACTS, shown, ...facts });
}

function linesOf({ title, notices, failure, headline, table, filters, canVote }: AnswersHead): string[] {
  return [
    title,
    ...notices,
    ...(failure === undefined ? [] : [failure]),
    ...(headline?.sentences.map((text) => (headline.isWarning ? `⚠ ${text}` : text)) ?? []),
    ...(table ? [`| ${table.columns.join(' | ')}`] : []),
    ...(table?.rows.map(
      ({ name, cells, note }) => `${name} | ${cells.join(' | ')}${note === undefined ? '' : ` (${note})`}`,
    ) ?? []),
    ...(filters.length === 0
      ? []
      : [filters.map(({ words, isPressed }) => `[${isPressed ? '●' : ''}${words}]`).join(' ')]),
    ...(canVote ? ['[Vote Blind]'] : []),
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
      same: 50,
      failed: 0,
      chance: { kind: 'too-few' },
    }),
    'the same answers, and two that failed': headlineOf({ isProbablyInactive: true, same: 47, failed: 2 }),
    'short expected answers': headlineOf({ measure: 'exact' }),
    'expected JSON': headlineOf({ measure: 'fields', ahead: { base: 4, adapter: 28 }, equal: 18 }),
    'other answers': headlineOf({}),
    'one row': headlineOf({ ahead: { base: 0, adapter: 1 }, chance: { kind: 'too-few' } }),
    'a difference by chance': headlineOf({ ahead: { base: 20, adapter: 23 }, ...chanceAt(0.18) }),
    'a difference at the limit': headlineOf(chanceAt(0.05)),
    'a difference above the limit': headlineOf(chanceAt(0.0501)),
    'a certain chance': headlineOf(chanceAt(1)),
    'a tiny chance': headlineOf(chanceAt(0.00024)),
    'too few rows': headlineOf({ measure: 'fields', chance: { kind: 'too-few' } }),
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
  const facts = (more: Partial<AnswersFacts>) => linesOf(answersHead({ ...FACTS, voteRows: 0, ...more }));
  const noticesOf = (...of: Parameters<typeof head>) => head(...of).notices;
  const beingWritten = (expectedRows: number | undefined) =>
    noticesOf({}, { rows: FILE.rows.slice(0, 31), isBeingWritten: true }, {}, expectedRows);
  golden('answers-head', {
    compared: linesOf(head({})),
    'JSON, filtered, voted': linesOf(
      head({ validJson: { base: 9, adapter: 50 } }, {}, { filter: 'different', tally: TALLY }),
    ),
    'probably inactive': linesOf(head({ isProbablyInactive: true, same: 50 })),
    'the sample': linesOf(head({}, {}, { isSample: true })),
    'nothing yet': facts({}),
    failed: facts({ problem: 'failed' }),
    missing: facts({ problem: 'missing' }),
    'a folder': facts({ problem: 'folder' }),
    'not a file': facts({ problem: 'not-a-file' }),
    unreadable: facts({ problem: 'unreadable' }),
    empty: facts({ problem: 'empty' }),
    'no answers': linesOf(head({ rows: 0 }, { rows }, { voteRows: 0 })),
    'no answers, but other rows': linesOf(
      head({ rows: 0 }, { rows, leftOut: { 'no-expected': 1 } }, { voteRows: 0 }),
    ),
    'rows left out': noticesOf({}, { leftOut }),
    'rows left out for every reason': noticesOf({}, { leftOut: every }),
    'too many rows': noticesOf({}, { isCut: true }),
    changed: noticesOf({}, {}, { changed: { hadVotes: false } }),
    'changed, with votes': noticesOf({}, {}, { changed: { hadVotes: true } }),
    'being written': beingWritten(50),
    'being written, of an unknown number': beingWritten(undefined),
  });
});

it('the end and the titles of voting', () => {
  const end = (more: Partial<Parameters<typeof voteEnd>[0]>) => {
    const { sentences, more: button } = voteEnd({ isUnfinished: false, more: 20, tally: TALLY, ...more });
    return [...sentences, `[Show Rows]${button === undefined ? '' : ` [${button}]`} [Discard Votes]`];
  };
  golden('answers-votes', {
    'more rows': end({}),
    'few more rows': end({ more: 3 }),
    'no more rows': end({ more: 0 }),
    'ended early, one vote': end({
      isUnfinished: true,
      more: 0,
      tally: { adapter: 1, base: 0, equal: 0, chance: { kind: 'too-few' } },
    }),
    'a clear preference': end({
      tally: { adapter: 20, base: 0, equal: 0, chance: { kind: 'unlikely', p: 0.0000019 } },
    }),
    'a row': Object.values(voteTitle(6, { limit: 20, total: 43 })),
    'a vote': votedText('left', 6, { limit: 20 }),
    'an equal vote': votedText('equal', 0, { limit: 1_000 }),
  });
});

it('the summary of a comparison', () => {
  const summary = (more: Partial<Comparison>, facts: Partial<AnswersFacts> = {}) =>
    head(more, {}, facts).summary;
  golden('answers-summary', {
    compared: summary({}),
    'with votes': summary({ measure: 'fields', validJson: { base: 9, adapter: 50 } }, { tally: TALLY }),
    'short answers': summary({ measure: 'exact' }),
    'probably inactive': summary({ isProbablyInactive: true, same: 50 }),
  });
});
