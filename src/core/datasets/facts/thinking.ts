import { kindsIf, NONE, rarerOf, type Fact } from './fact.ts';
import type { TextRow } from './textRow.ts';

/** How thinking is written: where it begins, and where it ends. */
const SPELLINGS = [
  ['<think>', '</think>'],
  ['<thinking>', '</thinking>'],
  ['<seed:think>', '</seed:think>'],
  ['<reasoning>', '</reasoning>'],
  ['<thought>', '</thought>'],
  ['[THINK]', '[/THINK]'],
  ['<|channel|>analysis<|message|>', '<|end|>'],
  ['<|channel>thought', '<channel|>'],
] as const;
const WITHOUT: readonly string[] = ['without'];
const FIELDS = ['reasoning_content', 'reasoning', 'thinking'];

export const thinking: Fact = {
  name: 'thinking',
  kindsOf({ answers, said }) {
    if (answers.length === 0) return NONE;
    const marked = answers.filter((text) => /^\s*[<[]/.test(text));
    const spelled = SPELLINGS.filter(([begin]) => marked.some((text) => text.trimStart().startsWith(begin)));
    const inField = FIELDS.filter((name) => said.some(({ message }) => isText(message?.[name])));
    if (marked.length === 0 && inField.length === 0) return WITHOUT;
    const kinds = [...spelled.map(([begin]) => begin), ...inField];
    return [
      ...(kinds.length === 0 ? ['without'] : kinds),
      ...kindsIf({
        empty: marked.some((text) => spelled.some(([begin, end]) => inside(text, begin, end)?.trim() === '')),
        unclosed: marked.some((text) => spelled.some(([begin, end]) => isUnclosed(text, begin, end))),
      }),
    ];
  },
  shown(counts) {
    const ends = ['empty', 'unclosed'];
    const spellings = Object.keys(counts).filter((kind) => !ends.includes(kind));
    return [...rarerOf(counts, spellings), ...ends.filter((kind) => kind in counts)];
  },
};

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '';
}

function isUnclosed(text: string, begin: string, end: string): boolean {
  return text.trimStart().startsWith(begin) && !text.includes(end);
}

/** Returns what is between both marks, if the text begins so. */
function inside(text: string, begin: string, end: string): TextRow['answer'] {
  const start = text.trimStart();
  const to = start.indexOf(end, begin.length);
  return start.startsWith(begin) && to !== -1 ? start.slice(begin.length, to) : undefined;
}
