import type { Disposable } from './disposable.ts';

/** Subscribes a listener until the returned disposable is disposed; assignable to `vscode.Event`. */
export type Event<T> = (listener: (value: T) => unknown) => Disposable;

/**
 * Owns the listeners of one event. A listener that throws keeps neither the others from hearing nor the one who fires
 * from going on: its error surfaces as an uncaught exception, which the host logs and the tests fail on.
 */
export class Emitter<T> implements Disposable {
  readonly #listeners = new Set<(value: T) => unknown>();

  readonly event: Event<T> = (listener) => {
    // An own function each time: the same listener may subscribe twice.
    const entry = (value: T) => listener(value);
    this.#listeners.add(entry);
    return { dispose: () => this.#listeners.delete(entry) };
  };

  fire(value: T): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(value);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  dispose(): void {
    this.#listeners.clear();
  }
}
