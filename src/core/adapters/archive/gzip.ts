import type { FileBytes } from '../fileBytes.ts';
import { gunzipped } from './inflated.ts';
import { beginsAsTar, BLOCK_BYTES } from './tarHeader.ts';

/** What a gzip file holds. */
export interface Unpacked {
  kind: 'tar' | 'empty' | 'unknown';
  pieces: AsyncGenerator<Buffer, void>;
}

/** Unpacks a gzip file, and looks at what it begins with. @throws BrokenArchiveError, CancelledError */
export async function unpackGzip(bytes: FileBytes): Promise<Unpacked> {
  const packed = gunzipped(bytes.chunks(0, bytes.sizeBytes));
  const kept: Buffer[] = [];
  let keptBytes = 0;
  while (keptBytes < BLOCK_BYTES) {
    const next = await packed.next();
    if (next.done === true) break;
    kept.push(next.value);
    keptBytes += next.value.length;
  }
  const begin = Buffer.concat(kept);
  const kind = begin.length === 0 ? 'empty' : beginsAsTar(begin) ? 'tar' : 'unknown';
  return { kind, pieces: joined(begin, packed) };
}

async function* joined(begin: Buffer, rest: AsyncGenerator<Buffer, void>): AsyncGenerator<Buffer, void> {
  try {
    yield begin;
    yield* rest;
  } finally {
    await rest.return();
  }
}
