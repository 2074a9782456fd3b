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
/** What was said; `answer` chooses a button. */
export const told: { sentences: string[]; answer: (buttons: string[]) => string | undefined } = {
  sentences: [],
  answer: () => undefined,
};
export const ProgressLocation = { Window: 10, Notification: 15 };
export const commands = {
  executeCommand: (...call: unknown[]) => {
    executed.push(call);
    return Promise.resolve();
  },
};
export const window = {
  withProgress: (_options: unknown, work: () => Promise<unknown>) => work(),
  showInformationMessage: (sentence: string, ...buttons: string[]) => {
    told.sentences.push(sentence);
    return Promise.resolve(told.answer(buttons));
  },
  createTreeView: () => {
    const view = { visible: false, dispose: () => undefined, onDidChangeVisibility: () => view };
    views.push(view);
    return view;
  },
};
