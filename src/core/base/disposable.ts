/** Something that holds resources until it is disposed; shaped like VS Code's, so that both can be mixed. */
export interface Disposable {
  dispose(): unknown;
}

/**
 * Owns disposables and disposes them once, the newest first, the others too where one throws; what comes after that is
 * disposed at once.
 */
export class DisposableStore implements Disposable {
  readonly #items: Disposable[] = [];
  #disposed = false;

  get disposed(): boolean {
    return this.#disposed;
  }

  add<T extends Disposable>(item: T): T {
    if (this.#disposed) item.dispose();
    else this.#items.push(item);
    return item;
  }

  dispose(): void {
    this.#disposed = true;
    const item = this.#items.pop();
    if (item === undefined) return;
    try {
      item.dispose();
    } finally {
      this.dispose();
    }
  }
}
