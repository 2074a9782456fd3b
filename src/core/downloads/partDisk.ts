import type { FileHandle } from 'node:fs/promises';
import { syncDirectory } from '../storage/durableFile.ts';

/**
 * Writes all of some pieces, also to a disk that is nearly full and takes a part of what it is given, and gives their memory
 * back. Throws what the file system says.
 */
export async function writeAll(
  handle: FileHandle,
  batch: readonly Uint8Array[],
  position: number,
): Promise<void> {
  let left = [...batch];
  while (left.length > 0) {
    const { bytesWritten } = await handle.writev(left, position);
    position += bytesWritten;
    left = behind(left, bytesWritten);
  }
  for (const piece of batch) free(piece);
}

/** Makes new names in a folder durable, as far as the platform can. */
export async function syncFolder(folder: string): Promise<void> {
  // A share that cannot sync its folder takes nothing of its files away.
  await syncDirectory(folder).catch(() => undefined);
}

function behind(pieces: readonly Uint8Array[], bytes: number): Uint8Array[] {
  let skip = bytes;
  return pieces.flatMap((piece) => {
    const cut = Math.min(skip, piece.byteLength);
    skip -= cut;
    return cut === piece.byteLength ? [] : [piece.subarray(cut)];
  });
}

/** The garbage collector would leave it for tens of megabytes; what shares its memory with something else is its alone. */
function free(piece: Uint8Array): void {
  const { buffer } = piece;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === piece.byteLength) buffer.transfer(0);
}
