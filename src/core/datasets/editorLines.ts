import { throwIfCancelled } from '../base/errors.ts';
import type { RowFile } from './rowFile.ts';

const PIECE_BYTES = 1024 * 1024;
const LF = 0x0a;
const CR = 0x0d;

/**
 * The editor's line, from 1, on which a row begins. Rows end at LF only; the editor's lines also end at a CR that stands
 * alone.
 * @throws CancelledError, CheckError `unreadable`
 */
export async function lineOfRow(file: RowFile, row: number, signal?: AbortSignal): Promise<number> {
  const end = await file.offsetOf(row);
  let extra = 0;
  await eachPiece(file, end, signal, (piece, next) => {
    for (let at = piece.indexOf(CR); at !== -1; at = piece.indexOf(CR, at + 1))
      if ((at + 1 < piece.length ? piece[at + 1] : next) !== LF) extra += 1;
    return true;
  });
  return row + extra;
}

/**
 * The row, from 1, that holds an editor's line.
 * @throws CancelledError, CheckError `unreadable`
 */
export async function rowOfLine(file: RowFile, line: number, signal?: AbortSignal): Promise<number> {
  let row = 1;
  let lines = 1;
  await eachPiece(file, file.sizeBytes, signal, (piece, next) => {
    for (let at = 0; at < piece.length && lines < line; at++) {
      const byte = piece[at];
      if (byte === LF) {
        row += 1;
        lines += 1;
      } else if (byte === CR && (at + 1 < piece.length ? piece[at + 1] : next) !== LF) lines += 1;
    }
    return lines < line;
  });
  return row;
}

/** @param visit gets each piece and the byte behind it, and says whether to go on */
async function eachPiece(
  file: RowFile,
  end: number,
  signal: AbortSignal | undefined,
  visit: (piece: Buffer, next: number | undefined) => boolean,
): Promise<void> {
  const buffer = Buffer.allocUnsafeSlow(PIECE_BYTES + 1);
  for (let offset = 0; offset < end; offset += PIECE_BYTES) {
    const read = await file.read(buffer, offset);
    throwIfCancelled(signal);
    const piece = read.subarray(0, Math.min(PIECE_BYTES, end - offset));
    if (piece.length === 0 || !visit(piece, read[piece.length])) return;
  }
}
