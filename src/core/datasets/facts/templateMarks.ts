import { kindsIf, NONE, type Fact } from './fact.ts';

/** Marks of chat templates. The service adds its own. Any word between `<|` and `|>` counts. */
const MARKS =
  /<\|[a-zA-Z][\w-]{1,30}\|>|<\|turn>|<turn\|>|<｜[^｜<>\n]{1,40}｜>|\[\/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS)\]|<<SYS>>|<(?:start|end)_of_turn>|\n\nHuman:/g;
/** `</s>` at the end of a text, but not the end of an HTML element. */
const END_OF_TEXT = /^\s*<s>[^]*<\/s>\s*$|^(?:(?!<s[\s>])[^])*<\/s>/;
/** A quick test of the raw row: most rows have no mark. */
const mayHave = (raw: string) =>
  (raw.includes('<') && /<[|｜/\\set<]/.test(raw)) ||
  // `<` may be escaped as `\u003c`.
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
