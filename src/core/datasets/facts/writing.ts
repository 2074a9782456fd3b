/** The writing systems that are counted. */
// prettier-ignore
export const SCRIPTS = ['han', 'cyrillic', 'kana', 'hangul', 'greek', 'hebrew', 'arabic', 'indic', 'thai', 'other'] as const;
export type Script = (typeof SCRIPTS)[number];

/** The blocks of Unicode; `to` is exclusive. All others count as Latin or signs, even rare scripts. */
// prettier-ignore
const BLOCKS: readonly (readonly [from: number, to: number, script: Script])[] = [
  [0x0380, 0x0400, 'greek'], [0x0400, 0x0540, 'cyrillic'], [0x0540, 0x0580, 'other'], [0x0580, 0x0600, 'hebrew'],
  [0x0600, 0x0780, 'arabic'], [0x0780, 0x08c0, 'other'], [0x08c0, 0x0900, 'arabic'], [0x0900, 0x0e00, 'indic'],
  [0x0e00, 0x0f00, 'thai'], [0x0f00, 0x1100, 'other'], [0x1100, 0x1200, 'hangul'], [0x1200, 0x1d00, 'other'],
  [0x1f00, 0x2000, 'greek'], [0x3040, 0x3100, 'kana'], [0x4000, 0xa000, 'han'], [0xac00, 0xd800, 'hangul'],
];

/** Characters that share an entry of the table, as a shift. */
const SHIFT = 6;
/** For each block of characters, the number of its script from 1, or 0. */
const SCRIPT_OF = new Uint8Array(0x10000 >> SHIFT);
for (const [from, to, script] of BLOCKS)
  SCRIPT_OF.fill(SCRIPTS.indexOf(script) + 1, from >> SHIFT, to >> SHIFT);
const CYRILLIC = SCRIPTS.indexOf('cyrillic') + 1;

/**
 * Returns the size of a text in bytes as tokenizers see it. About four bytes are a token, but a Cyrillic letter counts only
 * 1.25 bytes.
 * @param written counts all bytes at 0, then those of each script
 */
export function weightOf(text: string, written: Float64Array): number {
  let bytes = text.length;
  let letters = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) continue;
    // Half of a pair has two of four bytes.
    const length = unit < 0x800 || (unit & 0xf800) === 0xd800 ? 2 : 3;
    bytes += length - 1;
    const script = SCRIPT_OF[unit >> SHIFT] ?? 0;
    if (script === 0) continue;
    written[script] = (written[script] ?? 0) + length;
    if (script === CYRILLIC) letters++;
  }
  written[0] = (written[0] ?? 0) + bytes;
  return bytes - Math.trunc((letters * 3) / 4);
}
