// What texts weigh, in bytes from which tokens are estimated, and in which scripts they are written. An escape such as `\u4e2d`
// weighs as its character does. Tokenizers need a token for about four bytes, but fewer for Cyrillic: a letter weighs 1.25.
import { file, SCRIPT_BYTES } from './buffers';
import { SCRIPT_BLOCKS, SCRIPT_COUNT, SCRIPT_CYRILLIC, SCRIPT_HAN, SCRIPT_SHIFT } from './codes';
import { row } from './found';
import { hexUnit } from './strings';
import { sequenceLength } from './utf8';

/** The script of each block of characters, a u8 each. Written by the scanner's owner. */
export const SCRIPT_TABLE: usize = memory.data(SCRIPT_BLOCKS);

/** Returns the weight of the string that was read last. */
export function weightOf(from: usize, to: usize): u32 {
  if (row.isWide) return weightOfWide(from, to);
  file.writtenBytes += <f64>(to - from);
  return <u32>(to - from);
}

function weightOfWide(from: usize, to: usize): u32 {
  let bytes: u32 = 0;
  let han: u32 = 0;
  let cyrillic: u32 = 0;
  for (let at = from; at < to;) {
    const first = <u32>load<u8>(at);
    if (first - 0xe4 < 6 && load<u8>(at + 1) >= 0x80) {
      // Nearly all of Han.
      han += 3;
      at += 3;
      continue;
    }
    if (first < 0x80) {
      if (first != 0x5c) {
        bytes++;
        at++;
        continue;
      }
      if (load<u8>(at + 1) != 0x75) {
        bytes += 2;
        at += 2;
        continue;
      }
      const unit = hexUnit(at + 2);
      // A pair means one of four bytes, so half of it counts two.
      const isHalf = (unit & 0xf800) == 0xd800;
      const size: u32 = isHalf ? 2 : unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
      at += 6;
      bytes += size;
      if (!isHalf) cyrillic += count(unit, size);
      continue;
    }
    const length = <u32>max(sequenceLength(at), 1);
    bytes += length;
    if (length == 2) cyrillic += count(((first & 0x1f) << 6) | (load<u8>(at + 1) & 0x3f), 2);
    else if (length == 3)
      cyrillic += count(
        ((first & 0x0f) << 12) | ((<u32>(load<u8>(at + 1) & 0x3f)) << 6) | (load<u8>(at + 2) & 0x3f),
        3,
      );
    at += length;
  }
  add(SCRIPT_HAN, han);
  bytes += han;
  file.writtenBytes += <f64>bytes;
  return bytes - (cyrillic * 3) / 4;
}

/** Counts a character of so many bytes. @returns 1 if it is Cyrillic */
function count(unit: u32, bytes: u32): u32 {
  const script = load<u8>(SCRIPT_TABLE + (unit >> SCRIPT_SHIFT));
  if (script != 0) add(script, bytes);
  return <u32>(script == SCRIPT_CYRILLIC);
}

function add(script: u32, bytes: u32): void {
  const entry = SCRIPT_BYTES + (script << 3);
  store<f64>(entry, load<f64>(entry) + <f64>bytes);
}
