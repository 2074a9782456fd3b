import { kindsIf, NONE, type Fact } from './fact.ts';

/** Marks of chat templates, which the service adds itself. Words between bars count whatever they say. */
const MARKS =
  /<\|[a-zA-Z][\w-]{1,30}\|>|<\|turn>|<turn\|>|<｜[^｜<>\n]{1,40}｜>|\[\/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS)\]|<<SYS>>|<(?:start|end)_of_turn>|\n\nHuman:/g;
/** An element of HTML has a beginning before its end. */
const END_OF_TEXT = /^\s*<s>[^]*<\/s>\s*$|^(?:(?!<s[\s>])[^])*<\/s>/;
/** With which rows have any of them: most have none, and are read no further. */
const mayHave = (raw: string) =>
  (raw.includes('<') && /<[|｜/\\set<]/.test(raw)) ||
  // Some writers escape `<`.
  [
    String.raw`\u003`,
    'INST]',
    '_PROMPT]',
    '_TOOLS]',
    '_CALLS]',
    '### ',
    String.raw`\n\nHuman:`,
    'ASSISTANT:',
  ].some((mark) => raw.includes(mark));
const ALPACA: readonly RegExp[] = [/^### Instruction:/m, /^### Response:/m];
const GUANACO: readonly RegExp[] = [/^### (?:Human|User):/m, /### Assistant:/];
const VICUNA: readonly RegExp[] = [/^USER:/m, /^ASSISTANT:/m];

export const templateMarks: Readonly<Fact> = {
  name: 'templateMarks',
  kindsOf({ raw, said, beside, prompts }) {
    if (!mayHave(raw)) return NONE;
    const texts = [...said.map(({ text }) => text), ...beside];
    const areIn = (marks: readonly RegExp[], text: string) => marks.every((mark) => mark.test(text));
    const all = texts.join('\n');
    return [
      ...new Set(texts.flatMap((text) => text.match(MARKS)?.map((mark) => mark.trim()) ?? [])),
      ...kindsIf({
        '</s>': texts.some((text) => text.includes('</s>') && END_OF_TEXT.test(text)),
        '### Response:': areIn(ALPACA, all),
        '### Assistant:': areIn(GUANACO, all),
        'ASSISTANT:': prompts.some((text) => areIn(VICUNA, text)),
      }),
    ];
  },
};
