import { kindsIf, type Fact } from './fact.ts';

/** From this share of the answers on, it isn't meant. */
const SHARE = 0.02;
/**
 * They follow what ends a line, or stand beside a letter: elsewhere, texts are about them. Before small letters, `\n` may begin a longer
 * word such as `\nabla`.
 */
const ESCAPES =
  /\\(?:(?<=(?:^|(?<!\\)[\p{L}\p{M}\p{N}.,:;!?)*_>…”’»。！？，-])\\)(?:r?\\?n(?![a-z])|t(?![a-z\s]))|u[\da-fA-F]{4}[\p{L}\\]|(?<=\p{L}\\)u[\da-fA-F]{4})/u;
/** Where backslashes are at home: code, formulas, paths, JSON, quoted strings. */
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
