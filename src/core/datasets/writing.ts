import { SCRIPT_BLOCKS, SCRIPT_SHIFT } from './scanner/codes.ts';

/** The scripts that are counted, by the scanner's numbers from 1. */
// prettier-ignore
export const SCRIPTS = ['han', 'cyrillic', 'kana', 'hangul', 'greek', 'hebrew', 'arabic', 'indic', 'thai', 'other'] as const;
export type Script = (typeof SCRIPTS)[number];

/** The blocks of Unicode, up to the character before `to`. What isn't here counts as Latin or signs, also rare blocks. */
// prettier-ignore
const BLOCKS: readonly (readonly [from: number, to: number, script: Script])[] = [
  [0x0380, 0x0400, 'greek'], [0x0400, 0x0540, 'cyrillic'], [0x0540, 0x0580, 'other'], [0x0580, 0x0600, 'hebrew'],
  [0x0600, 0x0780, 'arabic'], [0x0780, 0x08c0, 'other'], [0x08c0, 0x0900, 'arabic'], [0x0900, 0x0e00, 'indic'],
  [0x0e00, 0x0f00, 'thai'], [0x0f00, 0x1100, 'other'], [0x1100, 0x1200, 'hangul'], [0x1200, 0x1d00, 'other'],
  [0x1f00, 0x2000, 'greek'], [0x3040, 0x3100, 'kana'], [0x4000, 0xa000, 'han'], [0xac00, 0xd800, 'hangul'],
];

/** Encodes the scripts for the scanner (`scanner/weights.ts`). */
export function encodeScripts(): Uint8Array {
  const table = new Uint8Array(SCRIPT_BLOCKS);
  for (const [from, to, script] of BLOCKS)
    table.fill(SCRIPTS.indexOf(script) + 1, from >> SCRIPT_SHIFT, to >> SCRIPT_SHIFT);
  return table;
}
