import { NONE, type Fact } from './fact.ts';
import { openFence } from './openFences.ts';

const LONG = 200;
/** Where so many of the long answers end with a mark, all should. */
const SHARE = 0.9;
/** Ends without a mark: with a letter, or what something follows. A number may be the answer. */
const UNMARKED = /[\p{L}\p{M},;:(‘“«、，；：/-]$/u;
/** Last lines that need no mark: of a list, a table or a heading, with a name before, code, and short ones such as a name. */
const NEEDS_NONE =
  /^\s*(?:[^\p{L}\p{N}\s"'“„«¿¡(]|\(?\w{1,4}[.)]|\p{L}[\p{L}\p{N} ]{0,20}:)|^\s{4}|[=;{}<>|]|^.{1,40}$/u;
/** Addresses and tags have none. */
const ADDRESS = /(?:https?:|[@#]|www\.|\w\.\w+\/)\S*$/;

export const cutAnswers: Readonly<Fact> = {
  name: 'cutAnswers',
  kindsOf({ answer = '' }) {
    const text = answer.length > LONG ? answer.trimEnd() : '';
    if (text.length <= LONG) return NONE;
    if (!UNMARKED.test(text.slice(-2))) return ['ended'];
    const last = text.slice(text.lastIndexOf('\n') + 1);
    const before = text.slice(0, -last.length - 1);
    // The lines of poems and recipes end without one.
    const isMeant =
      ADDRESS.test(last) ||
      (NEEDS_NONE.test(last) && before !== '') ||
      /[\p{L}\p{N},]$/u.test(before.slice(-2));
    return isMeant || openFence(text) !== '' ? ['unclear'] : ['cut'];
  },
  shown: ({ cut = 0, ended = 0 }) => (ended >= (ended + cut) * SHARE ? ['cut'] : NONE),
};
