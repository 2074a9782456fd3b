import { createHash } from 'node:crypto';

/** Enough for a header and the first modules behind it, and read in no time. */
const SAMPLE_BYTES = 4 * 2 ** 20;

/** Pieces that can be left in between, of whose first bytes a digest is made. */
export class SampledBytes {
  readonly #pieces: AsyncGenerator<Buffer, void>;
  readonly #hash = createHash('sha256');
  #left = SAMPLE_BYTES;

  constructor(pieces: AsyncGenerator<Buffer, void>) {
    this.#pieces = pieces;
  }

  /** The pieces; left early, they can still be sampled. */
  async *read(): AsyncGenerator<Buffer, void> {
    for (let piece = await this.#next(); piece !== undefined; piece = await this.#next()) yield piece;
  }

  /** A digest of the first 4 MiB, for which it reads on where it has to. */
  async sample(): Promise<string> {
    while (this.#left > 0 && (await this.#next()) !== undefined);
    return this.#hash.digest('hex');
  }

  async close(): Promise<void> {
    await this.#pieces.return();
  }

  async #next(): Promise<Buffer | undefined> {
    const { value: piece } = await this.#pieces.next();
    if (piece === undefined) return undefined;
    const sampled = piece.subarray(0, this.#left);
    this.#hash.update(sampled);
    this.#left -= sampled.length;
    return piece;
  }
}
