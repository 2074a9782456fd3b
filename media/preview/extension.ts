import type { PreviewFilter, PreviewRequest } from '../../src/dataset/previewProtocol.ts';

/** What the page keeps while it is hidden, and over a reload of the window. */
export interface PageState {
  filter: PreviewFilter;
  /** The row at the top. */
  row: number;
  detailsHidden: boolean;
  /** Rows that are shown raw though they can be read, or the other way round. */
  switched: readonly number[];
}

interface VSCodeApi {
  postMessage(message: PreviewRequest): void;
  getState(): PageState | undefined;
  setState(state: PageState): void;
}
declare function acquireVsCodeApi(): VSCodeApi;

/** The way to the extension, and the page's memory. */
export class Extension {
  readonly #api = acquireVsCodeApi();
  #saving: ReturnType<typeof setTimeout> | undefined;

  get remembered(): PageState | undefined {
    return this.#api.getState();
  }

  send(request: PreviewRequest): void {
    this.#api.postMessage(request);
  }

  /** Remembers soon: scrolling changes the state many times a second. */
  remember(state: () => PageState): void {
    clearTimeout(this.#saving);
    this.#saving = setTimeout(() => this.#api.setState(state()), 150);
  }
}
