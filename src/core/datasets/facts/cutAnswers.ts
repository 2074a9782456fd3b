import { NONE, type Fact } from './fact.ts';
import { openFence } from './openFences.ts';

const LONG = 200;
/** Where so many of the long answers end with a mark, all should. */
const SHARE = 0.9;
/** Ends without a mark: with a letter, a digit, or what something follows. */
const UNMARKED = /[\p{L}\p{N}\p{M},;:(‘“«、，；：/-]$/u;
/** Last lines that need no mark: of a list, a table or a heading, an address, code, and short ones such as a name. */
const NEEDS_NONE = /^\s*(?:[-*+•#|>]|\d+[.)])|^\s{4}|[=;{}<>|]|^.{1,40}$/;
/** An address has none. */
const ADDRESS = /(?:https?:|@)\S*$/;

export const cutAnswers: Readonly<Fact> = {
  name: 'cutAnswers',
  kindsOf({ answer = '' }) {
    const text = answer.length > LONG ? answer.trimEnd() : '';
    if (text.length <= LONG) return NONE;
    if (!UNMARKED.test(text)) return ['ended'];
    const last = text.slice(text.lastIndexOf('\n') + 1);
    const isMeant = ADDRESS.test(last) || (NEEDS_NONE.test(last) && last.length < text.length);
    return isMeant || openFence(text) !== '' ? ['unclear'] : ['cut'];
  },
  shown: ({ cut = 0, ended = 0 }) => (ended >= (ended + cut) * SHARE ? ['cut'] : NONE),
};
