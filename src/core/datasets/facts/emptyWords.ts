import { NONE, type Fact } from './fact.ts';

/** What programs write into empty cells. */
const ANYWHERE = /^(?:-?nan|NaN|NAN|NaT|#N\/A|#NA|<NA>|#(?:REF!|VALUE!|NAME\?|NULL!|NUM!|DIV\/0!))$/;
/** These may be right as an answer, so only inputs are judged. */
const ASKED = /^(?:None|[(<[]?(?:null|NULL)[)>\]]?|undefined|[Nn]\/[Aa])$/;

export const emptyWords: Readonly<Fact> = {
  name: 'emptyWords',
  kindsOf({ answers, said }) {
    // In a conversation, only the first message is like a cell.
    const asked = said.filter(({ by, message }, index) => by === 'user' && (!message || index === 0));
    const inputs = asked.flatMap(({ text }) => wordOf(text));
    const words = [...answers.flatMap(wordOf), ...inputs].filter((text) => ANYWHERE.test(text));
    words.push(...inputs.filter((text) => ASKED.test(text)));
    return words.length === 0 ? NONE : [...new Set(words)];
  },
  shown: (counts, { isLabel }) => Object.keys(counts).filter((word) => !isLabel(word)),
};

const LONGEST = 20;

function wordOf(text: string): readonly string[] {
  return text.length > LONGEST ? NONE : [text.trim()];
}
