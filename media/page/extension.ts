interface VSCodeApi<Request, State> {
  postMessage(message: Request): void;
  getState(): State | undefined;
  setState(state: State): void;
}
declare function acquireVsCodeApi<Request, State>(): VSCodeApi<Request, State>;

/** The way to the extension, and the page's memory while it is hidden and over a reload of the window. To be made once. */
export class Extension<Request, State> {
  readonly #api = acquireVsCodeApi<Request, State>();
  #saving: ReturnType<typeof setTimeout> | undefined;

  get remembered(): State | undefined {
    return this.#api.getState();
  }

  send(request: Request): void {
    this.#api.postMessage(request);
  }

  /** Remembers soon: scrolling changes the state many times a second. */
  remember(state: () => State): void {
    clearTimeout(this.#saving);
    this.#saving = setTimeout(() => this.#api.setState(state()), 150);
  }
}
