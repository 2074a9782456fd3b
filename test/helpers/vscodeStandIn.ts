// Stands in for the parts of VS Code's API that views and commands use, and records the calls, for unit tests.

export class EventEmitter<T> {
  readonly #listeners = new Set<(value: T) => unknown>();
  readonly event = (listener: (value: T) => unknown) => {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  };
  fire(value: T): void {
    for (const listener of this.#listeners) listener(value);
  }
  dispose(): void {
    this.#listeners.clear();
  }
}

export class TreeItem {
  readonly label: string;
  readonly collapsibleState: number | undefined;
  constructor(label: string, collapsibleState?: number) {
    this.label = label;
    this.collapsibleState = collapsibleState;
  }
}

export class ThemeColor {
  readonly id: string;
  constructor(id: string) {
    this.id = id;
  }
}

export class ThemeIcon extends ThemeColor {
  readonly color: ThemeColor | undefined;
  constructor(id: string, color?: ThemeColor) {
    super(id);
    this.color = color;
  }
}

/** A view returned by `createTreeView`; `views` has the newest last. */
export interface ViewStandIn {
  visible: boolean;
  description?: string;
  message?: string;
  badge?: { value: number; tooltip: string };
  show(visible: boolean): void;
}
export const views: ViewStandIn[] = [];

export const TreeItemCollapsibleState = { None: 0, Collapsed: 1, Expanded: 2 };
export const ViewColumn = { Active: -1 };
export const UIKind = { Desktop: 1, Web: 2 };
export const env = {
  language: 'en',
  uriScheme: 'vscode',
  uiKind: UIKind.Desktop,
  remoteName: undefined as string | undefined,
  openExternal: (uri: unknown) => Promise.resolve(executed.push(['open', String(uri)]) > 0),
  clipboard: { writeText: (text: string) => Promise.resolve(void executed.push(['copy', text])) },
};
export const l10n = {
  t: (text: string, ...values: unknown[]) =>
    text.replace(/\{(\d)\}/g, (_, index: string) => String(values[Number(index)])),
};
export const executed: unknown[][] = [];
/** The recorded notifications and inputs, and the functions that answer them. */
const nothingShown = () => ({
  sentences: [] as string[],
  /** The details of modal dialogs. */
  details: [] as string[],
  /** For each sentence: whether it was in a modal dialog. */
  isModal: [] as boolean[],
  buttons: [] as string[][],
  /** False after a lost connection: then the user sees nothing that is shown. */
  isWindowThere: true,
  /** The messages of progress notifications. */
  progress: [] as string[],
  /** The titles of progress notifications. */
  titles: [] as string[],
  /** Quick picks and input boxes that were shown. */
  inputs: [] as InputStandIn[],
  answer: (() => undefined) as (buttons: string[]) => string | undefined,
  /** Chooses a row of a quick pick (a part of its label) or the text of an input box. */
  pick: (() => undefined) as (input: InputStandIn) => string | undefined,
  /** Selects rows of a multi-select list; undefined dismisses it. */
  tick: (items: readonly TickItem[]): readonly TickItem[] | undefined => items.filter(({ picked }) => picked),
  /** Files of the workspace. */
  found: [] as string[],
  /** Chooses the path or URI in a folder dialog; undefined dismisses it. */
  folder: (): string | undefined | Promise<string> => undefined,
});
export const shown = nothingShown();

export function forget(): void {
  executed.length = 0;
  Object.assign(shown, nothingShown());
}

export const StatusBarAlignment = { Left: 1, Right: 2 };
export const LanguageStatusSeverity = { Information: 0, Warning: 1, Error: 2 };
export const ProgressLocation = { Window: 10, Notification: 15 };
export const QuickPickItemKind = { Separator: -1, Default: 0 };
export const QuickInputButtons = { Back: 'back' };
export const InputBoxValidationSeverity = { Info: 1, Warning: 2, Error: 3 };
export const commands = {
  executeCommand: (...call: unknown[]) => {
    executed.push(call);
    return Promise.resolve();
  },
  getCommands: () => (shown.isWindowThere ? Promise.resolve([]) : new Promise(() => undefined)),
  registerCommand: (id: string, run: (...args: unknown[]) => Promise<unknown>) => {
    registered.set(id, run);
    return { dispose: () => registered.delete(id) };
  },
};

/** The registered commands by ID. */
export const registered = new Map<string, (...args: unknown[]) => Promise<unknown>>();

/** The values of `vscode.workspace.getConfiguration`; initially empty. */
export const settings = new Map<string, unknown>();
const settingsChanged = new EventEmitter<{ affectsConfiguration: (section: string) => boolean }>();

/** Sets `fineTuning.<name>` as the user does: with an event. */
export function changeSetting(name: string, value: unknown): void {
  const changed = `fineTuning.${name}`;
  settings.set(changed, value);
  settingsChanged.fire({
    affectsConfiguration: (section) => section === changed || section === 'fineTuning',
  });
}

/** A file system watcher; `change` fires its events. */
export interface WatcherStandIn {
  base: { fsPath: string };
  pattern: string;
  change(): void;
}
export const watchers: WatcherStandIn[] = [];

export class RelativePattern {
  readonly base: { fsPath: string };
  readonly pattern: string;
  constructor(base: { fsPath: string }, pattern: string) {
    this.base = base;
    this.pattern = pattern;
  }
}

const documentChanged = new EventEmitter<unknown>();
/** Fires when a document is opened or closed, after `workspace.textDocuments` changed. */
export const documentOpened = new EventEmitter<{ uri: Uri }>();

/** Fires when files are deleted or renamed in the window. */
export const filesChanged = new EventEmitter<undefined>();

export const workspace = {
  textDocuments: [] as unknown[],
  didChange: documentChanged,
  onDidChangeTextDocument: documentChanged.event,
  onDidSaveTextDocument: () => ({ dispose: () => undefined }),
  onDidOpenTextDocument: documentOpened.event,
  onDidCloseTextDocument: documentOpened.event,
  onDidDeleteFiles: filesChanged.event,
  onDidRenameFiles: filesChanged.event,
  workspaceFolders: undefined as { name: string; uri: Uri }[] | undefined,
  isTrusted: true,
  getWorkspaceFolder: () => undefined,
  asRelativePath: (path: string | Uri) => String(path).split('/').at(-1) ?? '',
  findFiles: () => Promise.resolve(shown.found.map((path) => Uri.file(path))),
  /** The text of an unsaved document is recorded once it is shown. */
  openTextDocument: (document: unknown) => Promise.resolve(document),
  createFileSystemWatcher: (pattern: RelativePattern) => {
    const changed = new EventEmitter<undefined>();
    const watcher: WatcherStandIn = {
      base: pattern.base,
      pattern: pattern.pattern,
      change: () => changed.fire(undefined),
    };
    watchers.push(watcher);
    const dispose = () => void watchers.splice(watchers.indexOf(watcher), 1);
    return { onDidChange: changed.event, onDidCreate: changed.event, onDidDelete: changed.event, dispose };
  },
  onDidChangeConfiguration: settingsChanged.event,
  getConfiguration: (section: string) => ({
    get: (name: string, fallback: unknown) =>
      settings.has(`${section}.${name}`) ? settings.get(`${section}.${name}`) : fallback,
  }),
};

export class Uri {
  readonly scheme: string;
  readonly path: string;
  readonly fsPath: string;
  readonly fragment: string;
  constructor(path: string, scheme = 'file', fragment = '') {
    this.scheme = scheme;
    this.path = path;
    this.fsPath = path;
    this.fragment = fragment;
  }
  with({ fragment }: { fragment: string }): Uri {
    return new Uri(this.path, this.scheme, fragment);
  }
  toString(): string {
    return `${this.scheme}://${this.path}`;
  }
  static file(path: string): Uri {
    return new Uri(path);
  }
  static parse(text: string): Uri {
    const [scheme = '', rest = ''] = text.split('://');
    return new Uri(rest, scheme);
  }
  static joinPath(base: Uri, ...names: string[]): Uri {
    return new Uri([base.path, ...names].join('/'), base.scheme);
  }
  static from({ scheme, path }: { scheme: string; path: string }) {
    return { scheme, path };
  }
}

export class LanguageModelTextPart {
  readonly value: string;
  constructor(value: string) {
    this.value = value;
  }
}

export class LanguageModelToolResult {
  readonly content: LanguageModelTextPart[];
  constructor(content: LanguageModelTextPart[]) {
    this.content = content;
  }
}

export interface TickItem {
  label: string;
  description?: string;
  picked?: boolean;
}

interface Item {
  label: string;
  description?: string;
  detail?: string;
  alwaysShow?: boolean;
  kind?: number;
}

/** A quick pick or an input box, which is answered as soon as it is shown; undefined dismisses it. */
class InputStandIn {
  title = '';
  placeholder = '';
  prompt = '';
  value = '';
  items: readonly Item[] = [];
  activeItems: readonly Item[] = [];
  selectedItems: readonly Item[] = [];
  busy = false;
  /** If true, `pick` sets `selectedItems`. */
  canSelectMany = false;
  validationMessage: unknown;
  buttons: readonly unknown[] = [];
  /** Presses a button of the title bar. */
  press: (button: unknown) => void = () => undefined;
  #accept: () => void = () => undefined;
  #hide: () => void = () => undefined;
  onDidAccept = (listener: () => void) => void (this.#accept = listener);
  onDidHide = (listener: () => void) => void (this.#hide = listener);
  onDidTriggerButton = (listener: (button: unknown) => void) => void (this.press = listener);
  onDidTriggerItemButton = () => undefined;
  onDidChangeValue = () => undefined;
  show(): void {
    shown.inputs.push(this);
    const answer = shown.pick(this);
    if (answer === undefined) {
      this.#hide();
      return;
    }
    this.value = answer;
    if (!this.canSelectMany)
      this.selectedItems = this.items.filter(({ label }) => label.includes(answer)).slice(0, 1);
    this.#accept();
    // Dismiss an input that stays open, unless it is busy.
    if (!this.busy) this.#hide();
  }
  /** Dismisses the input as Esc does. */
  hide(): void {
    this.#hide();
  }
  dispose(): void {
    this.#accept = () => undefined;
  }
}
export type { InputStandIn };

function say(sentence: string, ...rest: unknown[]): Promise<string | undefined> {
  const buttons = rest.filter((one) => typeof one === 'string');
  shown.sentences.push(sentence);
  shown.buttons.push(buttons);
  shown.isModal.push(
    rest.some((one) => typeof one === 'object' && one !== null && Reflect.get(one, 'modal') === true),
  );
  for (const one of rest)
    if (typeof one === 'object' && one !== null && 'detail' in one) shown.details.push(String(one.detail));
  return Promise.resolve(shown.answer(buttons));
}

export class CancellationTokenSource {
  token = undefined;
  cancel(): void {}
  dispose(): void {}
}

export class TabInputText {
  readonly uri: Uri;
  constructor(uri: Uri) {
    this.uri = uri;
  }
}
export class TabInputCustom extends TabInputText {}

/** Fires when tabs are opened. */
export const tabsChanged = new EventEmitter<{ opened: { input: unknown }[] }>();

/** Whether the window is focused; `changed` notifies listeners. */
export const focus = { changed: new EventEmitter<{ focused: boolean }>(), focused: true };

/** Cancels all progress notifications. */
export const cancelled = new EventEmitter<void>();

/** The items returned by `createStatusBarItem`, newest last. */
export const statusItems: {
  text: string;
  isShown: boolean;
  command?: unknown;
  tooltip: string;
  accessibilityInformation?: { label: string };
  backgroundColor?: ThemeColor;
}[] = [];

export class CodeLens {
  readonly range: unknown;
  readonly command: unknown;
  constructor(range: unknown, command: unknown) {
    this.range = range;
    this.command = command;
  }
}
export const Range = Object;
export class Position {
  readonly line: number;
  readonly character: number;
  constructor(line: number, character: number) {
    this.line = line;
    this.character = character;
  }
  translate(lines: number, characters: number): Position {
    return new Position(this.line + lines, this.character + characters);
  }
}
export class Diagnostic {
  readonly message: string;
  constructor(_range: unknown, message: string) {
    this.message = message;
  }
}
export const DiagnosticSeverity = { Error: 0, Warning: 1 };
/** The messages in the Problems panel, by path. */
export const diagnostics = new Map<string, string[]>();
export const languages = {
  createDiagnosticCollection: () => ({
    set: (uri: Uri, found: readonly Diagnostic[] | undefined) =>
      diagnostics.set(
        uri.path,
        (found ?? []).map(({ message }) => message),
      ),
    dispose: () => diagnostics.clear(),
  }),
  createLanguageStatusItem: () => ({ dispose: () => undefined }),
  registerCodeLensProvider: () => ({ dispose: () => undefined }),
};

export const window = {
  visibleTextEditors: [] as { document: { uri: Uri }; viewColumn?: number }[],
  setStatusBarMessage: () => ({ dispose: () => undefined }),
  onDidChangeActiveTextEditor: () => ({ dispose: () => undefined }),
  createStatusBarItem: () => {
    const item = {
      text: '',
      tooltip: '',
      isShown: false,
      show: () => void (item.isShown = true),
      hide: () => void (item.isShown = false),
      dispose: () => undefined,
    };
    statusItems.push(item);
    return item;
  },
  get state() {
    return { focused: focus.focused };
  },
  onDidChangeWindowState: focus.changed.event,
  registerUriHandler: () => ({ dispose: () => undefined }),
  registerWebviewPanelSerializer: () => ({ dispose: () => undefined }),
  withProgress: (
    { title }: { title?: string },
    work: (progress: { report: (value: { message: string }) => void }, token: unknown) => Promise<unknown>,
  ) => {
    if (title !== undefined) shown.titles.push(title);
    return work(
      { report: ({ message }) => void shown.progress.push(message) },
      { onCancellationRequested: cancelled.event },
    );
  },
  tabGroups: {
    all: [],
    activeTabGroup: {} as { activeTab?: { input: unknown } },
    onDidChangeTabs: tabsChanged.event,
    onDidChangeTabGroups: () => ({ dispose: () => undefined }),
  },
  showTextDocument: (document: unknown) => Promise.resolve(void executed.push(['show', document])),
  showInformationMessage: say,
  showWarningMessage: say,
  showErrorMessage: say,
  showQuickPick: (items: readonly TickItem[]) => Promise.resolve(shown.tick(items)),
  showOpenDialog: async () => {
    const folder = await shown.folder();
    if (folder === undefined) return undefined;
    const [, scheme, place = folder] = /^([\w-]{2,}):(.*)$/.exec(folder) ?? [];
    return [new Uri(place, scheme)];
  },
  createQuickPick: () => new InputStandIn(),
  createInputBox: () => new InputStandIn(),
  createTreeView: () => {
    const changed = new EventEmitter<void>();
    const view = {
      visible: false,
      dispose: () => undefined,
      onDidChangeVisibility: changed.event,
      show: (visible: boolean) => {
        view.visible = visible;
        changed.fire();
      },
    };
    views.push(view);
    return view;
  },
};
