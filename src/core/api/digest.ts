import { Worker } from 'node:worker_threads';
import type { Disposable } from '../base/disposable.ts';
import { CancelledError } from '../base/errors.ts';
import { DigestError } from './errors.ts';

interface Waiting {
  answered: (text: string) => void;
  failed: (error: unknown) => void;
}

/** The SHA-256 of bytes that are handed over piece by piece: owns the thread that hashes them, from first to last. */
export class Digest implements Disposable {
  readonly #worker: Worker;
  /** One for each piece that is not answered yet, oldest first: the thread answers in order. */
  readonly #waiting: Waiting[] = [];
  #end: Error | undefined;

  /**
   * Starts the thread.
   * @param script of the thread, an absolute path
   * @throws DigestError
   */
  constructor(script: string) {
    try {
      this.#worker = new Worker(script, { name: 'dataset digest' });
    } catch (error) {
      throw new DigestError({ cause: error });
    }
    this.#worker.on('message', (text: string) => this.#waiting.shift()?.answered(text));
    this.#worker.on('error', (error) => this.#endWith(new DigestError({ cause: error })));
    this.#worker.on('exit', () => this.#endWith(new DigestError()));
  }

  /**
   * Hashes a piece; once this has resolved, its memory may be overwritten. Shared memory is not copied.
   * @throws DigestError when the thread died or did not start, CancelledError once this is disposed
   */
  async add(piece: Uint8Array): Promise<void> {
    await this.#ask(piece);
  }

  /** The digest of all pieces in lower-case hexadecimal; the thread ends with it. @throws as `add` */
  read(): Promise<string> {
    return this.#ask(null);
  }

  /** Ends the thread, whatever it does; resolves when it is gone. */
  async dispose(): Promise<void> {
    this.#endWith(new CancelledError());
    await this.#worker.terminate();
  }

  #ask(piece: Uint8Array | null): Promise<string> {
    return new Promise((answered, failed) => {
      if (this.#end !== undefined) {
        failed(this.#end);
        return;
      }
      this.#waiting.push({ answered, failed });
      this.#worker.postMessage(piece);
    });
  }

  #endWith(error: Error): void {
    this.#end ??= error;
    for (const { failed } of this.#waiting.splice(0)) failed(this.#end);
  }
}
