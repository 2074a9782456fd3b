/** Something that owns resources until it is disposed. Compatible with VS Code's interface. */
export interface Disposable {
  dispose(): unknown;
}

/** Disposes its items once, newest first, even if some throw. Items added later are disposed at once. */
export class DisposableStore implements Disposable {
  readonly #items: Disposable[] = [];
  #isDisposed = false;

  get disposed(): boolean {
    return this.#isDisposed;
  }

  add<T extends Disposable>(item: T): T {
    if (this.#isDisposed) item.dispose();
    else this.#items.push(item);
    return item;
  }

  dispose(): void {
    this.#isDisposed = true;
    const item = this.#items.pop();
    if (item === undefined) return;
    try {
      item.dispose();
    } finally {
      this.dispose();
    }
  }
}
