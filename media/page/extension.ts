interface VSCodeApi<Request, State> {
  postMessage(message: Request): void;
  getState(): State | undefined;
  setState(state: State): void;
}
declare function acquireVsCodeApi<Request, State>(): VSCodeApi<Request, State>;

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

  /** Remembers soon, also where the state goes on changing: scrolling does it many times a second. */
  remember(state: () => State): void {
    this.#state = state;
    this.#saving ??= setTimeout(() => {
      this.#saving = undefined;
      if (this.#state !== undefined) this.#api.setState(this.#state());
    }, 150);
  }
}
