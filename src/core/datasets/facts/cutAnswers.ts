import { NONE, type Fact } from './fact.ts';
import { openFence } from './openFences.ts';

const LONG = 200;
/** If this share of the long answers end with a sentence mark, all of them should. */
const SHARE = 0.9;
/** An end without a mark: a letter, or a sign that something follows. Not a digit, since a number may be the answer. */
const UNMARKED = /[\p{L}\p{M},;:(‘“«、，；：/-]$/u;
/** Last lines that need no mark: of lists, tables, headings and code, after `Name:`, and short ones. */
const NEEDS_NONE =
  /^\s*(?:[^\p{L}\p{N}\s"'“„«¿¡(]|\(?\w{1,4}[.)]|\p{L}[\p{L}\p{N} ]{0,20}:)|^\s{4}|[=;{}<>|]|^.{1,40}$/u;
/** Addresses and tags have no mark. */
const ADDRESS = /(?:https?:|[@#]|www\.|\w\.\w+\/)\S*$/;

export const cutAnswers: Readonly<Fact> = {
  name: 'cutAnswers',
  kindsOf({ answer = '' }) {
    const text = answer.length > LONG ? answer.trimEnd() : '';
    if (text.length <= LONG) return NONE;
    if (!UNMARKED.test(text.slice(-2))) return ['ended'];
    const last = text.slice(text.lastIndexOf('\n') + 1);
    const before = text.slice(0, -last.length - 1);
    // If the line before has no mark either, it may be a poem or a recipe.
    const isMeant =
      ADDRESS.test(last) ||
      (NEEDS_NONE.test(last) && before !== '') ||
      /[\p{L}\p{N},]$/u.test(before.slice(-2));
    return isMeant || openFence(text) !== '' ? ['unclear'] : ['cut'];
  },
  shown: ({ cut = 0, ended = 0 }) => (ended >= (ended + cut) * SHARE ? ['cut'] : NONE),
};
