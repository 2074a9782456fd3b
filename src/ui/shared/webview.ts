/**
 * The extension's webview pages. A feature with a page has
 * - `src/ui/<feature>/protocol.ts`, types only: the page's messages and requests, each with a `type`;
 * - a class that creates a `WebviewHost` for a panel. The host sets HTML, content security policy, and local
 *   roots. It checks each request against a `RequestTable`, handles `copy`, and logs errors of requests. It
 *   posts messages only while the page can receive them. VS Code destroys a hidden page and loads it again
 *   when it is shown. Then `onReady` gets the page's memory, and must post everything again. The pages of an
 *   account share `AccountPage`;
 * - for pages in separate tabs, a `WebviewPanels`: one panel for each slot, restored from the page's memory
 *   after the window is reloaded. A custom editor gets its panels from VS Code and needs only the host;
 * - `media/<feature>/<page>.ts` and `<page>.css`: the page, with the `Client` of `media/shared/client.ts`.
 *   `connect` reports that the page is ready, `send` sends a request, `remember` stores the page's memory.
 *   Every button with `data-copy` copies.
 *
 * A page contains no sentences and reads no files. Its messages are untrusted, and are checked here.
 */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import * as vscode from 'vscode';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import { CancelledError } from '../../core/base/errors.ts';
import type { Log } from './log.ts';
import type { HostMessage, HostRequest } from './protocol.ts';

export interface Typed {
  type: string;
}
type Check<Value> = (value: unknown) => value is Value;

/** Defines the valid requests of a page: their types, and a check for each field. */
export type RequestTable<Request extends Typed> = {
  readonly [Type in Request['type']]: {
    readonly [Field in Exclude<keyof Extract<Request, { type: Type }>, 'type'>]-?: Check<
      Extract<Request, { type: Type }>[Field]
    >;
  };
};

export interface WebviewOptions<Request extends Typed> {
  /** The name of its script and style in `media/<feature>/`; the page loads nothing else. */
  page: string;
  extensionUri: vscode.Uri;
  /** For screen readers; the tab has a separate title. */
  title: string;
  requests: RequestTable<Request>;
  /** Called when the page loaded, for the first time or again. `memory` is untrusted data that the page stored. */
  onReady: (memory: unknown) => unknown;
  onRequest: (request: Request) => unknown;
  /** Called when the panel is shown, possibly before its page is ready. */
  onShown?: () => unknown;
  log: Pick<Log, 'error'>;
}

/** Longer than any text that a page offers to copy. */
const MAX_TEXT_LENGTH = 1_000_000;
/** Changes of a file within this time are reported once. */
const SETTLE_MS = 200;

/** Owns the extension's end of one page. */
export class WebviewHost<Message extends Typed, Request extends Typed> implements Disposable {
  readonly #panel: vscode.WebviewPanel;
  readonly #options: WebviewOptions<Request>;
  readonly #store = new DisposableStore();
  #isReady = false;

  constructor(panel: vscode.WebviewPanel, options: WebviewOptions<Request>) {
    this.#panel = panel;
    this.#options = options;
    const { webview } = panel;
    const folder = vscode.Uri.joinPath(options.extensionUri, 'dist/pages', options.page);
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

  /** Whether a page is loaded that can receive messages. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** Posts a message if the page can receive it; otherwise the next `onReady` posts everything. */
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
  /** Parses what a restored page stored; if the result is undefined, the panel is closed. */
  memoryOf: (state: unknown) => Memory | undefined;
  /** Identifies a page, which is open at most once. */
  keyOf: (memory: Memory) => string;
  /** Identifies a panel whose page the next one replaces. By default, each page has a panel of its own. */
  slotOf?: (memory: Memory) => string;
  /** Creates the page in a panel; it is disposed with the panel. */
  create: (panel: vscode.WebviewPanel, memory: Memory) => Page;
}

/** Owns the open panels of one kind of page. The feature registers the serializer, which loads this code at its first use. */
export class WebviewPanels<Memory, Page extends Disposable>
  implements vscode.WebviewPanelSerializer, Disposable
{
  readonly #options: PanelsOptions<Memory, Page>;
  /** By slot. */
  readonly #open = new Map<string, { key: string; panel: vscode.WebviewPanel; page: Page }>();

  constructor(options: PanelsOptions<Memory, Page>) {
    this.#options = options;
  }

  /** Reveals the page, or opens it. */
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

  /** Called by VS Code to restore a panel after the window was reloaded. */
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

/** Returns a page's message as one of these requests, with only the request's fields; undefined if it is none of them. */
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

/** An integer from 0. */
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

/** Calls `onChange` after a file, or a file in a folder, was created, changed, or deleted. */
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

/** Returns a page without content, which messages provide. VS Code adds the doctype. */
function html(webview: vscode.Webview, folder: vscode.Uri, page: string, title: string): string {
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
