import { isUtf8 } from 'node:buffer';
import { BrokenArchiveError } from '../faults.ts';

export const BLOCK_BYTES = 512;

/** A header block of a tar archive. */
export interface TarHeader {
  name: string;
  sizeBytes: number;
  /** One character: '0' a file, '5' a folder, '1' and '2' links. */
  type: string;
}

/** Whether these bytes begin as a tar archive does: with a header whose checksum is right. */
export function beginsAsTar(bytes: Buffer): boolean {
  return bytes.length >= BLOCK_BYTES && !isEmptyBlock(bytes) && hasChecksum(bytes.subarray(0, BLOCK_BYTES));
}

export function isEmptyBlock(block: Buffer): boolean {
  return block.subarray(0, BLOCK_BYTES).every((byte) => byte === 0);
}

/** @throws BrokenArchiveError `tar-checksum`, `tar-header` */
export function readTarHeader(block: Buffer): TarHeader {
  if (!hasChecksum(block)) throw new BrokenArchiveError('tar-checksum');
  // The prefix is only there in ustar; GNU has other things in its place.
  const isUstar = block.toString('latin1', 257, 263) === 'ustar\0';
  const prefix = isUstar ? text(block.subarray(345, 500)) : '';
  const name = text(block.subarray(0, 100));
  const type = block.toString('latin1', 156, 157);
  return {
    name: prefix === '' ? name : `${prefix}/${name}`,
    sizeBytes: numberIn(block.subarray(124, 136)),
    type: type === '\0' || type === '7' ? '0' : type,
  };
}

/** Up to a NUL; what is no UTF-8 as Latin-1. */
export function text(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  const used = end === -1 ? bytes : bytes.subarray(0, end);
  return used.toString(isUtf8(used) ? 'utf8' : 'latin1');
}

/** The records of an extended header (pax). @throws BrokenArchiveError `tar-header` */
export function readPax(bytes: Buffer): Map<string, string> {
  const records = new Map<string, string>();
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(0x20, at);
    const digits = space === -1 ? '' : bytes.toString('latin1', at, Math.min(space, at + 9));
    const end = at + Number(digits);
    const equals = bytes.indexOf(0x3d, space);
    if (
      !/^[1-9][0-9]*$/.test(digits) ||
      end > bytes.length ||
      equals === -1 ||
      equals >= end ||
      bytes[end - 1] !== 0x0a
    )
      throw new BrokenArchiveError('tar-header');
    const value = bytes.subarray(equals + 1, end - 1);
    records.set(bytes.toString('utf8', space + 1, equals), value.toString(isUtf8(value) ? 'utf8' : 'latin1'));
    at = end;
  }
  return records;
}

/** Some old writers add signed bytes. */
function hasChecksum(block: Buffer): boolean {
  let unsigned = 0;
  let signed = 0;
  for (const [at, byte] of block.entries()) {
    const counted = at >= 148 && at < 156 ? 0x20 : byte;
    unsigned += counted;
    signed += counted < 128 ? counted : counted - 256;
  }
  const told = block
    .toString('latin1', 148, 156)
    .replace(/(?<![\0 ])[\0 ]+$/, '')
    .trimStart();
  if (!/^[0-7]+$/.test(told)) return false;
  const sum = parseInt(told, 8);
  return sum === unsigned || sum === signed;
}

/** Octal digits, or what does not fit into them with base 256 (GNU). */
function numberIn(field: Buffer): number {
  if (field[0] === 0x80) {
    const wide = field.subarray(1).reduce((sum, byte) => sum * 256 + byte, 0);
    if (Number.isSafeInteger(wide)) return wide;
    throw new BrokenArchiveError('tar-header');
  }
  const digits = field
    .toString('latin1')
    .replace(/^ +/, '')
    .replace(/[\0 ].*$/s, '');
  if (!/^[0-7]*$/.test(digits)) throw new BrokenArchiveError('tar-header');
  return digits === '' ? 0 : parseInt(digits, 8);
}
