import { Worker } from 'node:worker_threads';
import type { Disposable } from '../base/disposable.ts';
import { CheckError } from './errors.ts';
import type { Answer, Request, WorkerData } from './workerMessages.ts';

type Done = Extract<Answer, { kind: 'done' }>;

/** One worker thread, which has one request at a time. */
export class CheckWorker implements Disposable {
  readonly #worker: Worker;
  #isAlive = true;
  #request:
    | { done: (answer: Done) => void; failed: (error: unknown) => void; say: (answer: Answer) => void }
    | undefined;

  constructor(script: string, data: WorkerData) {
    this.#worker = new Worker(script, { workerData: data, name: 'dataset check' });
    this.#worker.on('message', (answer: Answer) => this.#take(answer));
    this.#worker.on('error', (error) => this.#die(error));
    this.#worker.on('exit', () => this.#die(undefined));
    // Idle, it keeps nothing from ending.
    this.#worker.unref();
  }

  /** False once its thread has ended. */
  get isAlive(): boolean {
    return this.#isAlive;
  }

  /**
   * Sends a request; `say` is called with what is answered before the end, `transfer` moves to the thread.
   * @throws CheckError, `worker-died` too
   */
  request(
    request: Request,
    say: (answer: Answer) => void = () => undefined,
    transfer: ArrayBuffer[] = [],
  ): Promise<Done> {
    return new Promise((done, failed) => {
      if (!this.#isAlive) {
        failed(new CheckError('worker-died'));
        return;
      }
      this.#request = { done, failed, say };
      this.#worker.ref();
      this.#worker.postMessage(request, transfer);
    });
  }

  /** Ends the thread, whatever it does. */
  dispose(): Promise<unknown> {
    return this.#worker.terminate();
  }

  #take(answer: Answer): void {
    const request = this.#request;
    if (answer.kind === 'segment' || answer.kind === 'hashed') {
      request?.say(answer);
      return;
    }
    this.#request = undefined;
    this.#worker.unref();
    if (answer.kind === 'done') request?.done(answer);
    else request?.failed(new CheckError(answer.reason));
  }

  #die(cause: unknown): void {
    this.#isAlive = false;
    this.#request?.failed(new CheckError('worker-died', { cause }));
    this.#request = undefined;
  }
}
