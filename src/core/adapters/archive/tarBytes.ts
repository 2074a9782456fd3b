import { BrokenArchiveError } from '../faults.ts';
import type { FileBytes } from '../fileBytes.ts';
import { BLOCK_BYTES } from './tarHeader.ts';

/** The bytes of a tar archive, from its beginning on. */
export interface TarBytes {
  /** The next block. @throws BrokenArchiveError `truncated` at the end */
  block(): Promise<Buffer>;
  /** The content that comes next, with the padding behind it. */
  body(sizeBytes: number): TarBody;
  /** What is left. */
  rest(): AsyncGenerator<Buffer, void>;
}

export interface TarBody {
  /** Once. Each piece is only good until the next is asked for. */
  open(): AsyncGenerator<Buffer, void>;
  /** Goes behind the content and its padding, whether it was read or not. */
  skip(): Promise<void>;
}

/** Of a file, in which one can go on without reading. */
export function seekableBytes(file: FileBytes): TarBytes {
  let at = 0;
  return {
    block: async () => {
      const block = await file.read(at, BLOCK_BYTES);
      at += BLOCK_BYTES;
      return block;
    },
    body: (sizeBytes) => {
      const from = at;
      return {
        open: () => file.chunks(from, from + sizeBytes),
        skip: () => {
          at = from + Math.ceil(sizeBytes / BLOCK_BYTES) * BLOCK_BYTES;
          return Promise.resolve();
        },
      };
    },
    rest: () => file.chunks(Math.min(at, file.sizeBytes), file.sizeBytes),
  };
}

/** Of a stream, which has to be read through. */
export function streamedBytes(pieces: AsyncGenerator<Buffer, void>): TarBytes & { close(): Promise<void> } {
  let kept: Buffer = Buffer.alloc(0);
  /** At least one byte and at most as many; undefined at the end. */
  const take = async (most: number): Promise<Buffer | undefined> => {
    if (kept.length === 0) {
      const next = await pieces.next();
      if (next.done === true) return undefined;
      kept = next.value;
    }
    const taken = kept.subarray(0, most);
    kept = kept.subarray(taken.length);
    return taken;
  };
  const exactly = async function* (length: number): AsyncGenerator<Buffer, void> {
    for (let left = length; left > 0;) {
      const piece = await take(left);
      if (piece === undefined) throw new BrokenArchiveError('truncated');
      // Before it is handed on: who has it may leave.
      left -= piece.length;
      yield piece;
    }
  };
  return {
    block: async () => {
      const block = Buffer.alloc(BLOCK_BYTES);
      let filled = 0;
      for await (const piece of exactly(BLOCK_BYTES)) filled += piece.copy(block, filled);
      return block;
    },
    body: (sizeBytes) => {
      let left = sizeBytes;
      const padding = Math.ceil(sizeBytes / BLOCK_BYTES) * BLOCK_BYTES - sizeBytes;
      const counted = async function* (length: number): AsyncGenerator<Buffer, void> {
        for await (const piece of exactly(length)) {
          left -= piece.length;
          yield piece;
        }
      };
      return {
        open: () => counted(left),
        skip: async () => {
          await readThrough(counted(left));
          await readThrough(exactly(padding));
        },
      };
    },
    rest: async function* () {
      for (let piece = await take(Infinity); piece !== undefined; piece = await take(Infinity)) yield piece;
    },
    close: async () => {
      await pieces.return();
    },
  };
}

async function readThrough(pieces: AsyncGenerator<Buffer, void>): Promise<void> {
  while ((await pieces.next()).done !== true);
}
