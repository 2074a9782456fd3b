interface VSCodeApi<Request, State> {
  postMessage(message: Request): void;
  getState(): State | undefined;
  setState(state: State): void;
}
declare function acquireVsCodeApi<Request, State>(): VSCodeApi<Request, State>;

const AGAIN_MS = 150;

/** The way to the extension, and the page's memory while it is hidden and over a reload of the window. To be made once. */
export class Extension<Request, State> {
  readonly #api = acquireVsCodeApi<Request, State>();
  #state: (() => State) | undefined;
  #saving: ReturnType<typeof setTimeout> | undefined;

  get remembered(): State | undefined {
    return this.#api.getState();
  }

  send(request: Request): void {
    this.#api.postMessage(request);
  }

  /**
   * Remembers it now, as the page may go at any time, and once more soon after: scrolling changes it many times a second, and
   * what was drawn last settles.
   */
  remember(state: () => State): void {
    this.#state = state;
    if (this.#saving !== undefined) return;
    this.#api.setState(state());
    this.#saving = setTimeout(() => {
      this.#saving = undefined;
      if (this.#state !== undefined) this.#api.setState(this.#state());
    }, AGAIN_MS);
  }
}
