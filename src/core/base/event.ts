import type { Disposable } from './disposable.ts';

/** Subscribes a listener until the returned disposable is disposed; assignable to `vscode.Event`. */
export type Event<T> = (listener: (value: T) => unknown) => Disposable;

/**
 * Owns the listeners of one event. If a listener throws, the others are still called and `fire` returns. The
 * error becomes an uncaught exception: the host logs it, and tests fail.
 */
export class Emitter<T> implements Disposable {
  readonly #listeners = new Set<(value: T) => unknown>();

  readonly event: Event<T> = (listener) => {
    // Wrap the listener, because the same one may subscribe twice.
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
