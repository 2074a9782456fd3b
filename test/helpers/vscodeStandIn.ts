// What views and commands ask of VS Code's API, standing in for it in unit tests: it keeps what it was given.

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

export class ThemeIcon {
  readonly id: string;
  constructor(id: string) {
    this.id = id;
  }
}

export class ThemeColor extends ThemeIcon {}

/** What `createTreeView` returned, newest last. */
export interface ViewStandIn {
  visible: boolean;
  message?: string;
  badge?: { value: number };
}
export const views: ViewStandIn[] = [];

export const TreeItemCollapsibleState = { None: 0, Collapsed: 1, Expanded: 2 };
export const env = { language: 'en' };
export const l10n = {
  t: (text: string, ...values: unknown[]) =>
    text.replace(/\{(\d)\}/g, (_, index: string) => String(values[Number(index)])),
};
/** What commands were run, with their arguments. */
export const executed: unknown[][] = [];
/** What was said; `answer` chooses a button, `pick` a row of a quick pick (by its label) or the text of an input box. */
export const told: {
  sentences: string[];
  /** What stood below the sentences of modal dialogs. */
  details: string[];
  buttons: string[][];
  /** What the progress of work said. */
  progress: string[];
  /** Quick picks and input boxes that were shown. */
  inputs: InputStandIn[];
  answer: (buttons: string[]) => string | undefined;
  pick: (input: InputStandIn) => string | undefined;
} = {
  sentences: [],
  details: [],
  buttons: [],
  progress: [],
  inputs: [],
  answer: () => undefined,
  pick: () => undefined,
};

/** Forgets what was said and done, and how it is answered. */
export function forget(): void {
  executed.length = 0;
  for (const list of [told.sentences, told.details, told.buttons, told.progress, told.inputs])
    list.length = 0;
  told.answer = () => undefined;
  told.pick = () => undefined;
}

export const ProgressLocation = { Window: 10, Notification: 15 };
export const QuickPickItemKind = { Separator: -1, Default: 0 };
export const QuickInputButtons = { Back: 'back' };
export const InputBoxValidationSeverity = { Info: 1, Warning: 2, Error: 3 };
export const commands = {
  executeCommand: (...call: unknown[]) => {
    executed.push(call);
    return Promise.resolve();
  },
};

/** What `vscode.workspace.getConfiguration` has; nothing is set unless a test sets it. */
export const settings = new Map<string, unknown>();
export const workspace = {
  getConfiguration: (section: string) => ({
    get: (name: string, fallback: unknown) =>
      settings.has(`${section}.${name}`) ? settings.get(`${section}.${name}`) : fallback,
  }),
};

export class Uri {
  readonly scheme = 'file';
  readonly path: string;
  readonly fsPath: string;
  constructor(path: string) {
    this.path = path;
    this.fsPath = path;
  }
  static file(path: string): Uri {
    return new Uri(path);
  }
}

interface Item {
  label: string;
  description?: string;
  detail?: string;
  kind?: number;
}

/** A quick pick or an input box, which is answered as soon as it is shown: undefined hides it. */
class InputStandIn {
  title = '';
  placeholder = '';
  prompt = '';
  value = '';
  items: readonly Item[] = [];
  selectedItems: readonly Item[] = [];
  validationMessage: unknown;
  #accept: () => void = () => undefined;
  #hide: () => void = () => undefined;
  onDidAccept = (listener: () => void) => void (this.#accept = listener);
  onDidHide = (listener: () => void) => void (this.#hide = listener);
  onDidTriggerButton = () => undefined;
  onDidTriggerItemButton = () => undefined;
  onDidChangeValue = () => undefined;
  show(): void {
    told.inputs.push(this);
    const answer = told.pick(this);
    if (answer === undefined) {
      this.#hide();
      return;
    }
    this.value = answer;
    this.selectedItems = this.items.filter(({ label }) => label.includes(answer)).slice(0, 1);
    this.#accept();
    // One that stays open is left.
    this.#hide();
  }
  dispose(): void {
    this.#accept = () => undefined;
  }
}
export type { InputStandIn };

function say(sentence: string, ...rest: unknown[]): Promise<string | undefined> {
  const buttons = rest.filter((one) => typeof one === 'string');
  told.sentences.push(sentence);
  told.buttons.push(buttons);
  for (const one of rest)
    if (typeof one === 'object' && one !== null && 'detail' in one) told.details.push(String(one.detail));
  return Promise.resolve(told.answer(buttons));
}

export const window = {
  withProgress: (
    _options: unknown,
    work: (progress: { report: (value: { message: string }) => void }, token: unknown) => Promise<unknown>,
  ) =>
    work(
      { report: ({ message }) => void told.progress.push(message) },
      { onCancellationRequested: () => ({ dispose: () => undefined }) },
    ),
  tabGroups: { all: [], activeTabGroup: {} },
  showInformationMessage: say,
  showWarningMessage: say,
  showErrorMessage: say,
  createQuickPick: () => new InputStandIn(),
  createInputBox: () => new InputStandIn(),
  createTreeView: () => {
    const view = { visible: false, dispose: () => undefined, onDidChangeVisibility: () => view };
    views.push(view);
    return view;
  },
};
