import { l10n } from 'vscode';
import type { AnswerRow, Message, RowScores, ComparedSide } from '../../core/answers/answersFile.ts';
import { shownAnswer } from '../../core/answers/shownAnswer.ts';
import { cutAtWholeCharacters, toPlainLine } from '../../core/base/plainText.ts';
import { compact, formatCount } from '../shared/format.ts';
import type { AnswersPrompt, AnswersRow, AnswersText } from './protocol.ts';
import type { Sides } from './sides.ts';

/** Maximum units shown of a text. */
const MAX_UNITS = 100_000;
const PROMPT_UNITS = 160;
const MARKS = { both: undefined, answer: 'ins', expected: 'del' } as const;

/** Returns a row as the page lists it. @param names the names of its sides */
export function answersRow(
  row: AnswerRow,
  scores: RowScores | undefined,
  { hasHoldOut, note, names }: Pick<AnswersRow, 'hasHoldOut' | 'note'> & Pick<Sides, 'names'>,
): AnswersRow {
  const answerOf = (side: ComparedSide): AnswersText => ({
    ...answerText(side, names[side], row[side], row.expected),
    notes: compact(
      scores?.[side].isExact === true && l10n.t('= expected'),
      scores?.[side].isCutOff === true && l10n.t('Cut off'),
      row.ends[side] === 'error' && l10n.t('Error'),
    ),
  });
  return {
    row: row.line,
    title: l10n.t('Row {0}', formatCount(row.line)),
    note,
    prompt: promptOf(row.messages),
    texts: [answerText('expected', l10n.t('Expected'), row.expected), answerOf('base'), answerOf('adapter')],
    hasHoldOut,
  };
}

/** Returns the prompt on one line, and its messages if they don't fit. */
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

/** Returns a text, with its thinking folded. @param expected marks the differences from it */
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
