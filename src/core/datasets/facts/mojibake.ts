import { kindsIf, type Fact } from './fact.ts';

/** The bytes that continue a character of UTF-8, read as Windows-1252 or Latin-1. */
const REST = '[\\u0080-\\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]';
/**
 * UTF-8 that was read so: `Ã©`, `â€™`, `ðŸ˜€`, and two characters of other scripts. A capital before it means that `Ã` is meant; what
 * could be quotes after `Ã` needs a small letter beside it.
 */
const MOJIBAKE = new RegExp(
  [
    `(?<![\\p{Lu}«‹])(?:Â[\\u00a0-\\u00bf]|Ã[\\u00a0-\\u00ba\\u00bc-\\u00bf])`,
    `(?:(?<=\\p{Ll})Ã${REST}|Ã${REST}(?=\\p{Ll}))`,
    `â(?:[€\\u0080](?:[\\u0080-\\u00bf™œ¦˜¢“”]|$)|[‚\\u0082]¬)`,
    `ð[Ÿ\\u009f]${REST}{2}`,
    // Vietnamese; Cyrillic as Windows-1251, Japanese as Shift JIS.
    `áº${REST}`,
    `(?:[РС][\\u00a0-\\u00bfЂ-Џђ-џҐґ€‚„…†‡‰‹‘’“”•–—™›№]){3}`,
    `(?:[縺繧繝][^\\0-\\x7f]){2}`,
    `(?:[ÄÅÎÏÐÑ×ØÙ]${REST}){3}`,
    `(?:[à-ï]${REST}{2}){2}`,
  ].join('|'),
  'u',
);
/** With one of these it begins. Most texts have none. */
const FIRST = /[ÂÃÄÅÎÏÐÑ×ØÙà-ðРС縺繧繝]/;

export const mojibake: Readonly<Fact> = {
  name: 'mojibake',
  kindsOf: ({ isWide, said }) =>
    kindsIf({ mojibake: isWide && said.some(({ text }) => FIRST.test(text) && MOJIBAKE.test(text)) }),
};
