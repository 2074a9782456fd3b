import { kindsIf, type Fact } from './fact.ts';

/** If this share of the answers has such escapes, they aren't meant. */
const SHARE = 0.02;
/**
 * Escapes that stand as characters in a text: after what can end a line, or beside a letter. Elsewhere, the text may be about
 * escapes. Before a small letter, `\n` may begin a word such as `\nabla`.
 */
const ESCAPES =
  /\\(?:(?<=(?:^|(?<!\\)[\p{L}\p{M}\p{N}.,:;!?)*_>…”’»。！？，-])\\)(?:r?\\?n(?![a-z])|t(?![a-z\s]))|u[\da-fA-F]{4}[\p{L}\\]|(?<=\p{L}\\)u[\da-fA-F]{4})/u;
/** Signs of code, formulas, paths, JSON or quoted strings, where backslashes are meant. */
const AT_HOME =
  /[`$]|\b[A-Z]:\\|\\\\|\\[A-Za-mo-qsv-z]|\\[a-z]+\{|(?:^|[\s(=+[{:])["'](?:[^"'\n]*\\[nrtu][^"'\n]*["']|\\)|\\[nrt]["'](?!\p{L})|^\s*[[{]|[;{}]$|\b(?:printf?|regex|function|def|import|echo)\b/u;

export const escapedTwice: Readonly<Fact> = {
  name: 'escapedTwice',
  kindsOf: ({ answers }) =>
    kindsIf({
      escaped: answers.some((text) => text.includes('\\') && ESCAPES.test(text) && !AT_HOME.test(text)),
    }),
  shown: ({ escaped = 0 }, { answers }) => (escaped >= answers * SHARE ? ['escaped'] : []),
};
