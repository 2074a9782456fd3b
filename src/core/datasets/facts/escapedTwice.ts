import { kindsIf, type Fact } from './fact.ts';

/** From this share of the answers on, it isn't meant. */
const SHARE = 0.02;
/** Before small letters, `\n` may begin a longer word such as `\nabla`. */
const ESCAPES = /\\r?\\?n(?![a-z])|\\t(?![a-z])|\\u[\da-fA-F]{4}/;
/** Where backslashes are at home: code, formulas, paths, JSON. */
const AT_HOME =
  /[`$]|\b[A-Z]:\\|\\\\|\\[a-mo-qsv-z]|['"]\\|\\[nrt]['"]|^\s*[[{]|[;{}]$|\b(?:printf?|regex|function|def|import|echo)\b/;

export const escapedTwice: Readonly<Fact> = {
  name: 'escapedTwice',
  kindsOf: ({ answers }) =>
    kindsIf({
      escaped: answers.some((text) => text.includes('\\') && ESCAPES.test(text) && !AT_HOME.test(text)),
    }),
  shown: ({ escaped = 0 }, { answers }) => (escaped >= answers * SHARE ? ['escaped'] : []),
};
