import { Readable } from 'node:stream';
import { createGunzip, createInflateRaw, type Gunzip, type InflateRaw } from 'node:zlib';
import { BrokenArchiveError } from '../faults.ts';
import { CHUNK_BYTES, MAX_RATIO, MAX_TOTAL_BYTES, RATIO_FROM_BYTES } from '../limits.ts';

/** What the deflated bytes of a ZIP entry are, in pieces. @throws BrokenArchiveError `zip-length` */
export async function* inflated(
  packed: AsyncIterable<Buffer>,
  packedBytes: number,
  name: string,
): AsyncGenerator<Buffer, void> {
  const inflate = createInflateRaw({ chunkSize: CHUNK_BYTES });
  yield* through(packed, inflate, new BrokenArchiveError('length', name));
  // Bytes after the end of the deflated ones, which nobody would see.
  if (inflate.bytesWritten !== packedBytes) throw new BrokenArchiveError('length', name);
}

/**
 * What a gzip file holds, in pieces, its CRC and length checked by zlib; of several members one after another.
 * @throws BrokenArchiveError `gzip-data`, `ratio`, `too-large`
 */
export async function* gunzipped(packed: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  let bytes = 0;
  for await (const piece of through(packed, gunzip, new BrokenArchiveError('gzip'))) {
    bytes += piece.length;
    if (bytes > MAX_TOTAL_BYTES) throw new BrokenArchiveError('too-large');
    if (bytes > RATIO_FROM_BYTES && bytes > gunzip.bytesWritten * MAX_RATIO)
      throw new BrokenArchiveError('bomb');
    yield piece;
  }
}

async function* through(
  packed: AsyncIterable<Buffer>,
  unpack: Gunzip | InflateRaw,
  broken: BrokenArchiveError,
): AsyncGenerator<Buffer, void> {
  // Copied, since zlib reads a piece on another thread while the next may already be asked for.
  const source = Readable.from(copies(packed), { highWaterMark: 1 });
  source.on('error', (error) => unpack.destroy(error));
  source.pipe(unpack);
  try {
    for await (const piece of unpack) yield piece as Buffer;
  } catch (error) {
    throw isZlibError(error) ? broken : error;
  } finally {
    source.destroy();
    unpack.destroy();
  }
}

async function* copies(packed: AsyncIterable<Buffer>) {
  for await (const piece of packed) yield Buffer.from(piece);
}

function isZlibError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(Z_|ERR_BUFFER_TOO)/.test(String(error.code));
}
