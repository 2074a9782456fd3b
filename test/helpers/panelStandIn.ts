import { EventEmitter } from './vscodeStandIn.ts';

/** Stands in for a webview panel: records posted messages, and sends those of a test. */
export class PanelStandIn {
  readonly #received = new EventEmitter<unknown>();
  readonly #viewState = new EventEmitter<void>();
  readonly #disposed = new EventEmitter<void>();
  readonly posted: unknown[] = [];
  readonly webview = {
    html: '',
    options: {} as unknown,
    cspSource: 'https://page.test',
    asWebviewUri: (uri: unknown) => uri,
    onDidReceiveMessage: this.#received.event,
    postMessage: (message: unknown) => Promise.resolve(this.posted.push(structuredClone(message)) > 0),
  };
  readonly onDidChangeViewState = this.#viewState.event;
  readonly onDidDispose = this.#disposed.event;
  title = '';
  visible = true;
  reveals = 0;
  isDisposed = false;

  reveal(): void {
    this.reveals += 1;
  }

  /** Sends a message from the page to the extension. */
  send(message: unknown): void {
    this.#received.fire(message);
  }

  show(visible: boolean): void {
    this.visible = visible;
    this.#viewState.fire();
  }

  dispose(): void {
    this.isDisposed = true;
    this.#disposed.fire();
  }
}
