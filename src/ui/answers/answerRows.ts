import { l10n } from 'vscode';
import type { AnswerRow, Message, RowScores, Side } from '../../core/answers/answersFile.ts';
import { shownAnswer } from '../../core/answers/shownAnswer.ts';
import type { Vote } from '../../core/answers/votes.ts';
import { cutAtWholeCharacters, toPlainLine } from '../../core/base/plainText.ts';
import { compact, formatCount } from '../shared/format.ts';
import { NAMES } from './answersView.ts';
import type { AnswersPrompt, AnswersRow, AnswersText, AnswersVoteRow } from './protocol.ts';
import { CHOICES } from './voteText.ts';

/** Maximum units shown of a text. */
const MAX_UNITS = 100_000;
const PROMPT_UNITS = 160;
const MARKS = { both: undefined, answer: 'ins', expected: 'del' } as const;
const VOTES: Readonly<Record<Side, Vote>> = { adapter: 'a', base: 'b' };

/** A row as the page lists it. */
export function answersRow(
  row: AnswerRow,
  scores: RowScores | undefined,
  { vote, hasHoldOut, note }: Pick<AnswersRow, 'hasHoldOut' | 'note'> & { vote: Vote | undefined },
): AnswersRow {
  const answerOf = (side: Side): AnswersText => ({
    ...answerText(side, NAMES[side], row[side], row.expected),
    notes: compact(
      scores?.[side].isExact === true && l10n.t('= expected'),
      cutOffNote(row, side),
      row.ends[side] === 'error' && l10n.t('Error'),
      vote === VOTES[side] && l10n.t('Your vote'),
    ),
  });
  return {
    row: row.line,
    title: l10n.t('Row {0}', formatCount(row.line)),
    note,
    prompt: promptOf(row.messages),
    texts: [expectedOf(row), answerOf('base'), answerOf('adapter')],
    hasHoldOut,
  };
}

/** A row to vote on: nothing says which model a text is from. @param left the side that is shown on the left */
export function voteTexts(
  row: AnswerRow,
  left: Side,
): Pick<AnswersVoteRow, 'row' | 'prompt' | 'expected' | 'left' | 'right'> {
  // "Cut off" reveals no model, and without it the user would judge the answer as complete.
  const answerOf = (key: 'left' | 'right', side: Side): AnswersText => ({
    ...answerText(key, CHOICES[key], row[side]),
    notes: compact(cutOffNote(row, side)),
  });
  return {
    row: row.line,
    prompt: promptOf(row.messages),
    expected: expectedOf(row),
    left: answerOf('left', left),
    right: answerOf('right', left === 'base' ? 'adapter' : 'base'),
  };
}

function cutOffNote({ ends }: AnswerRow, side: Side): string | false {
  return ends[side] === 'length' && l10n.t('Cut off');
}

function expectedOf({ expected }: AnswerRow): AnswersText {
  return answerText('expected', NAMES.expected, expected);
}

/** The prompt on one line, and its messages if they don't fit. */
function promptOf(messages: readonly Message[]): AnswersPrompt {
  const texts = messages.map(({ text }) => text.slice(0, PROMPT_UNITS * 4));
  const line = toPlainLine(texts.join(' / '), PROMPT_UNITS);
  const isComplete = messages.length === 1 && messages[0]?.text === line;
  return {
    line,
    messages: isComplete
      ? undefined
      : messages.map(({ role, text }, index) =>
          shownText(`message${index}`, role ?? l10n.t('no role'), text),
        ),
  };
}

/** A text; what the model thought is folded. @param expected the answer with which differences are marked */
function answerText(key: string, name: string, text: string, expected?: string): AnswersText {
  const { thinking, answer, differences: found } = shownAnswer(text, expected);
  return {
    ...shownText(key, name, answer),
    ...(found && {
      pieces: found.map(({ in: where, text: piece }) => ({ text: piece, mark: MARKS[where] })),
    }),
    thinking:
      thinking === ''
        ? undefined
        : {
            title: l10n.t('Thinking, {0} characters', formatCount(thinking.length)),
            text: cutAtWholeCharacters(thinking, MAX_UNITS),
          },
  };
}

function shownText(key: string, name: string, text: string): AnswersText {
  const shown = cutAtWholeCharacters(text, MAX_UNITS);
  const left = text.length - shown.length;
  return {
    key,
    name,
    pieces: [{ text: shown, mark: undefined }],
    rest: left > 0 ? l10n.t('{0} more characters not shown', formatCount(left)) : undefined,
    thinking: undefined,
    notes: [],
  };
}
