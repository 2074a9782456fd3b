import { kindsIf, NONE, rarerOf, type Fact } from './fact.ts';

const TAG = '(?:seed:)?(?:think(?:ing)?|reasoning|thought)>';
const BEGIN = new RegExp(
  String.raw`^\s*(<${TAG}|\[THINK\]|<\|channel\|>analysis<\|message\|>|<\|channel>thought)`,
);
const END = String.raw`</${TAG}|\[/THINK\]|<\|end\|>|<channel\|>`;
const ENDED = new RegExp(END);
const EMPTY = new RegExp(String.raw`^\s*(?:${END})`);
const FIELDS: readonly string[] = ['reasoning_content', 'reasoning', 'thinking'];
const WITHOUT: readonly string[] = ['without'];

export const thinking: Readonly<Fact> = {
  name: 'thinking',
  kindsOf({ answers, said }) {
    const begun = answers.flatMap((text) => {
      const [begin, mark = ''] = BEGIN.exec(text) ?? [];
      return begin === undefined ? [] : { mark, rest: text.slice(begin.length) };
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
