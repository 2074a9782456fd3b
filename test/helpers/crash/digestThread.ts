import { createHash } from 'node:crypto';
import { EventEmitter } from 'node:events';

/** Replaces the hashing thread in a window's bundle: starting a thread for each attempt would be half of a cell's time. */
export class Worker extends EventEmitter {
  readonly #hash = createHash('sha256');

  postMessage(piece: Uint8Array | null): void {
    if (piece !== null) this.#hash.update(piece);
    const answer = piece === null ? this.#hash.digest('hex') : '';
    setImmediate(() => this.emit('message', answer));
  }

  terminate(): Promise<number> {
    return Promise.resolve(0);
  }
}
