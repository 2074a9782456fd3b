import { kindsIf, NONE, rarerOf, type Fact } from './fact.ts';

const TAG = String.raw`(?:\w+:)?(?:think(?:ing)?|reasoning|thoughts?)>`;
const RESPONSE = "Here(?:[’']s| is) my response:";
const BEGIN = new RegExp(
  String.raw`^\s*(<${TAG}|\[THINK\]|◁think▷|<\|channel\|>analysis<\|message\|>|<\|channel>thought|` +
    // Command; OpenThinker; MedGemma; Granite
    String.raw`<\|START_THINKING\|>|<\|begin_of_thought\|>|<unused94>|Here(?:[’']s| is) my thought process:(?=[^]*${RESPONSE}))`,
  'i',
);
const END = String.raw`</${TAG}|\[/THINK\]|◁/think▷|<\|end\|>|<channel\|>|<\|END_THINKING\|>|<\|end_of_thought\|>|<unused95>|${RESPONSE}`;
const ENDED = new RegExp(END, 'i');
const EMPTY = new RegExp(String.raw`^\s*(?:${END})`, 'i');
/** If the chat template adds the beginning, an answer has only the end. */
const ONLY_END = '</think>\n';
const FIELDS: readonly string[] = ['reasoning_content', 'reasoning', 'thinking'];
const WITHOUT: readonly string[] = ['without'];

export const thinking: Readonly<Fact> = {
  name: 'thinking',
  kindsOf({ answers, said }) {
    const begun = answers.flatMap((text) => {
      const [begin, mark = ''] = BEGIN.exec(text) ?? [];
      if (begin !== undefined) return { mark, rest: text.slice(begin.length) };
      return text.includes(ONLY_END) ? { mark: ONLY_END.trim(), rest: text } : [];
    });
    const inField = FIELDS.filter((name) =>
      said.some(({ message }) => typeof message?.[name] === 'string' && message[name].trim() !== ''),
    );
    if (begun.length === 0 && inField.length === 0) return answers.length === 0 ? NONE : WITHOUT;
    const ends = {
      empty: begun.some(({ rest }) => EMPTY.test(rest)),
      unclosed: begun.some(({ rest }) => !ENDED.test(rest)),
    };
    return [...new Set(begun.map(({ mark }) => mark)), ...inField, ...kindsIf(ends)];
  },
  shown(counts) {
    const ends = ['empty', 'unclosed'].filter((kind) => kind in counts);
    return [
      ...ends,
      ...rarerOf(
        counts,
        Object.keys(counts).filter((kind) => !ends.includes(kind)),
      ),
    ];
  },
};
