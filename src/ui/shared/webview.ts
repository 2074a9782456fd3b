/**
 * The webview pages of the extension: the run page, the dataset preview, the adapter page and the spend page.
 *
 * A feature with a page has
 * - `src/ui/<feature>/protocol.ts`, types only: the messages to the page and the requests from it, each with a `type`;
 * - a class that creates a `WebviewHost` for a panel. The host sets HTML, content security policy and local roots, checks each
 *   request against a table (`RequestTable`), handles `copy`, posts messages only while a page is there to receive them, and
 *   logs what a request throws. VS Code destroys a hidden page and loads it again when it is shown: each time `onReady` is
 *   called, with what the page remembered, and everything has to be posted again. The pages of an account share `AccountPage`;
 * - for pages in tabs of their own a `WebviewPanels`: one panel for each key, restored after a reload of the window from
 *   what the page remembered. A custom editor gets its panels from VS Code and only needs the host;
 * - `media/<feature>/`: the page, on the `Client` of `media/shared/client.ts`, which is the other end: `connect` announces the
 *   page as ready, `send` sends a request, `remember` stores the page's memory, and every button with `data-copy` copies.
 *
 * A page makes no sentences and reads no files; what it sends is untrusted and checked here, once.
 */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import { CancelledError } from '../../core/base/errors.ts';
import type { Log } from './log.ts';
import type { HostMessage, HostRequest } from './protocol.ts';

/** Each page has its script and style in `dist/<page>/`, the only folder that it may load from. */
export type PageName = 'preview' | 'run' | 'adapter' | 'spend';

export interface Typed {
  type: string;
}
type Check<Value> = (value: unknown) => value is Value;

/** How the requests of a page are recognized: by their type, and by a check for each of their fields. */
export type RequestTable<Request extends Typed> = {
  readonly [Type in Request['type']]: {
    readonly [Field in Exclude<keyof Extract<Request, { type: Type }>, 'type'>]-?: Check<
      Extract<Request, { type: Type }>[Field]
    >;
  };
};

export interface WebviewOptions<Request extends Typed> {
  page: PageName;
  extensionUri: vscode.Uri;
  /** For screen readers; the tab has its own title. */
  title: string;
  requests: RequestTable<Request>;
  /** The page was loaded, for the first time or again. @param memory what it remembered; may be anything */
  onReady: (memory: unknown) => unknown;
  onRequest: (request: Request) => unknown;
  /** The panel came to the front, maybe with a page that is not ready yet. */
  onShown?: () => unknown;
  log: Pick<Log, 'error'>;
}

/** More than any text that a page offers to copy. */
const MAX_TEXT_LENGTH = 1_000_000;
/** Changes of a file that come together are reported once. */
const SETTLE_MS = 200;

/** The extension's end of one page. */
export class WebviewHost<Message extends Typed, Request extends Typed> implements Disposable {
  readonly #panel: vscode.WebviewPanel;
  readonly #options: WebviewOptions<Request>;
  readonly #store = new DisposableStore();
  #isReady = false;

  constructor(panel: vscode.WebviewPanel, options: WebviewOptions<Request>) {
    this.#panel = panel;
    this.#options = options;
    const { webview } = panel;
    const folder = vscode.Uri.joinPath(options.extensionUri, 'dist', options.page);
    webview.options = { enableScripts: true, localResourceRoots: [folder] };
    this.#store.add(webview.onDidReceiveMessage((message) => this.#receive(message)));
    this.#store.add(
      panel.onDidChangeViewState(() => {
        if (panel.visible) options.onShown?.();
        else this.#isReady = false;
      }),
    );
    webview.html = html(webview, folder, options.page, options.title);
  }

  /** Whether there is a page that receives messages. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Posts a message if there is a page to receive it; the next page gets everything by `onReady`. */
  post(message: Message | HostMessage): void {
    if (this.#isReady && !this.#store.disposed) void this.#panel.webview.postMessage(message);
  }

  dispose(): void {
    this.#store.dispose();
  }

  #receive(message: unknown): void {
    const { requests, onReady, onRequest, log, page } = this.#options;
    const work = async () => {
      if (isRecord(message) && message['type'] === 'ready') {
        this.#isReady = true;
        await onReady(message['memory']);
        return;
      }
      const copy = parseRequest<CopyRequest>(COPY_REQUEST, message);
      const request = parseRequest<Request>(requests, message);
      if (copy !== undefined) {
        await vscode.env.clipboard.writeText(copy.text);
        this.post({ type: 'copied', id: copy.id, text: vscode.l10n.t('Copied') });
      } else if (request !== undefined) await onRequest(request);
    };
    work().catch((error: unknown) => {
      if (!(error instanceof CancelledError)) log.error(`${page}-page`, error);
    });
  }
}

export interface PanelsOptions<Memory, Page extends Disposable> {
  viewType: string;
  /** What a restored page remembered, or undefined where that is unusable: such a panel is closed. */
  memoryOf: (state: unknown) => Memory | undefined;
  /** Names the page: it is open once. */
  keyOf: (memory: Memory) => string;
  /** Names the panel where pages take each other's place; else each has its own. */
  slotOf?: (memory: Memory) => string;
  /** Fills a panel; the page is disposed with it. */
  create: (panel: vscode.WebviewPanel, memory: Memory) => Page;
}

/** The open panels of one kind of page. The feature registers what restores them, so that the page is loaded at its first use. */
export class WebviewPanels<Memory, Page extends Disposable>
  implements vscode.WebviewPanelSerializer, Disposable
{
  readonly #options: PanelsOptions<Memory, Page>;
  /** By their slots. */
  readonly #open = new Map<string, { key: string; panel: vscode.WebviewPanel; page: Page }>();

  constructor(options: PanelsOptions<Memory, Page>) {
    this.#options = options;
  }

  isOpen(memory: Memory): boolean {
    return this.#open.get(this.#slotOf(memory))?.key === this.#options.keyOf(memory);
  }

  /** Shows the page that is open, or opens it. */
  show(memory: Memory): Page {
    const { viewType, keyOf } = this.#options;
    const open = this.#open.get(this.#slotOf(memory));
    if (open !== undefined) {
      open.panel.reveal();
      return open.key === keyOf(memory) ? open.page : this.#fill(open.panel, memory);
    }
    const panel = vscode.window.createWebviewPanel(viewType, '', vscode.ViewColumn.Active, {
      enableFindWidget: true,
    });
    return this.#fill(panel, memory);
  }

  /** VS Code restores a panel after the window was reloaded. */
  deserializeWebviewPanel(panel: vscode.WebviewPanel, state: unknown): Promise<void> {
    const memory = this.#options.memoryOf(state);
    if (memory === undefined || this.#open.has(this.#slotOf(memory))) panel.dispose();
    else this.#fill(panel, memory);
    return Promise.resolve();
  }

  dispose(): void {
    for (const { page } of this.#open.values()) page.dispose();
    this.#open.clear();
  }

  #slotOf(memory: Memory): string {
    const { keyOf, slotOf = keyOf } = this.#options;
    return slotOf(memory);
  }

  #fill(panel: vscode.WebviewPanel, memory: Memory): Page {
    const slot = this.#slotOf(memory);
    const before = this.#open.get(slot);
    before?.page.dispose();
    const page = this.#options.create(panel, memory);
    this.#open.set(slot, { key: this.#options.keyOf(memory), panel, page });
    if (before === undefined)
      panel.onDidDispose(() => {
        this.#open.get(slot)?.page.dispose();
        this.#open.delete(slot);
      });
    return page;
  }
}

/** The message of a page as one of these requests, with their fields only; undefined where it is none of them. */
export function parseRequest<Request extends Typed>(
  table: RequestTable<Request>,
  message: unknown,
): Request | undefined {
  if (!isRecord(message)) return undefined;
  const { type } = message;
  if (typeof type !== 'string' || !Object.hasOwn(table, type)) return undefined;
  const checks = Object.entries<Check<unknown>>(table[type as Request['type']]);
  if (!checks.every(([field, check]) => check(message[field]))) return undefined;
  return { type, ...Object.fromEntries(checks.map(([field]) => [field, message[field]])) } as Request;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** A whole number from 0 on. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

export function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_TEXT_LENGTH;
}

export function isOneOf<Value extends string>(values: readonly Value[]): Check<Value> {
  return (value): value is Value => values.some((one) => one === value);
}

export function isOptional<Value>(check: Check<Value>): Check<Value | undefined> {
  return (value): value is Value | undefined => value === undefined || check(value);
}

type CopyRequest = Extract<HostRequest, { type: 'copy' }>;
const COPY_REQUEST: Readonly<RequestTable<CopyRequest>> = {
  copy: { id: isText, text: isText },
};

/** Reports that a file, or a file in a folder, was created, changed or deleted. */
export function watchFile(
  file: string,
  onChange: () => unknown,
  inFolder: 'itself' | 'its-files' = 'itself',
): Disposable {
  const store = new DisposableStore();
  let settling: NodeJS.Timeout | undefined;
  const changed = () => {
    clearTimeout(settling);
    settling = setTimeout(onChange, SETTLE_MS);
  };
  // Unescaped, a name with brackets would be a pattern.
  const [folder, pattern] =
    inFolder === 'its-files'
      ? [file, '*']
      : [path.dirname(file), path.basename(file).replace(/[*?{[]/g, '[$&]')];
  const base = vscode.Uri.file(folder);
  const watcher = vscode.workspace.createFileSystemWatcher(new vscode.RelativePattern(base, pattern));
  for (const event of [watcher.onDidChange, watcher.onDidCreate, watcher.onDidDelete])
    store.add(event(changed));
  for (const one of [watcher, { dispose: () => clearTimeout(settling) }]) store.add(one);
  return store;
}

/** A page without content, which comes by messages. VS Code adds the doctype. */
function html(webview: vscode.Webview, folder: vscode.Uri, page: PageName, title: string): string {
  const file = (name: string) => webview.asWebviewUri(vscode.Uri.joinPath(folder, name)).toString();
  const nonce = randomBytes(16).toString('hex');
  const policy = `default-src 'none'; style-src ${webview.cspSource}; script-src 'nonce-${nonce}'`;
  return tag(
    'html',
    { lang: vscode.env.language },
    tag(
      'head',
      {},
      tag('meta', { charset: 'utf-8' }),
      tag('meta', { 'http-equiv': 'Content-Security-Policy', content: policy }),
      tag('meta', { name: 'viewport', content: 'width=device-width, initial-scale=1' }),
      tag('title', {}, escapeHtml(title)),
      tag('link', { rel: 'stylesheet', href: file(`${page}.css`) }),
    ),
    tag('body', {}, tag('script', { nonce, src: file(`${page}.js`) })),
  );
}

function tag(name: string, attributes: Readonly<Record<string, string>>, ...content: string[]): string {
  const texts = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeHtml(value)}"`);
  const isVoid = name === 'meta' || name === 'link';
  return `<${name}${texts.join('')}>${content.join('')}${isVoid ? '' : `</${name}>`}`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
