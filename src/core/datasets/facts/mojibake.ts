import { kindsIf, type Fact } from './fact.ts';

/** Continuation bytes of UTF-8, decoded as Windows-1252 or Latin-1. */
const REST = '[\\u0080-\\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]';
/**
 * UTF-8 decoded like that: `Ã©`, `â€™`, `ðŸ˜€`, and two characters of other scripts. After a capital, `Ã` is meant. If what follows
 * `Ã` could be a quote, there must be a small letter beside it.
 */
const MOJIBAKE = new RegExp(
  [
    `(?<![\\p{Lu}«‹])(?:Â[\\u00a0-\\u00bf]|Ã[\\u00a0-\\u00ba\\u00bc-\\u00bf])`,
    `(?:(?<=\\p{Ll})Ã${REST}|Ã${REST}(?=\\p{Ll}))`,
    `â(?:[€\\u0080](?:[\\u0080-\\u00bf™œ¦˜¢“”]|$)|[‚\\u0082]¬)`,
    `ð[Ÿ\\u009f]${REST}{2}`,
    // Vietnamese; Cyrillic decoded as Windows-1251, Japanese as Shift JIS.
    `áº${REST}`,
    `(?:[РС][\\u00a0-\\u00bfЂ-Џђ-џҐґ€‚„…†‡‰‹‘’“”•–—™›№]){3}`,
    `(?:[縺繧繝][^\\0-\\x7f]){2}`,
    `(?:[ÄÅÎÏÐÑ×ØÙ]${REST}){3}`,
    `(?:[à-ï]${REST}{2}){2}`,
  ].join('|'),
  'u',
);
/** All of these begin with one of these characters, which most texts don't have. */
const FIRST = /[ÂÃÄÅÎÏÐÑ×ØÙà-ðРС縺繧繝]/;

export const mojibake: Readonly<Fact> = {
  name: 'mojibake',
  kindsOf: ({ isWide, said }) =>
    kindsIf({ mojibake: isWide && said.some(({ text }) => FIRST.test(text) && MOJIBAKE.test(text)) }),
};
