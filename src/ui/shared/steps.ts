import * as vscode from 'vscode';
import { sanitizeText, sanitizeServiceText } from './serviceText.ts';

/** The result of a dialog: a value, back to the previous dialog, or canceled with Esc. */
export type DialogEnd<T> = { kind: 'value'; value: T } | { kind: 'back' } | { kind: 'cancel' };

export function mapEnd<T, U>(answer: DialogEnd<T>, change: (value: T) => U): DialogEnd<U> {
  return answer.kind === 'value' ? { kind: 'value', value: change(answer.value) } : answer;
}

/** The contents of a dialog's title bar. */
export interface DialogTitle {
  title: string;
  /** Counted from 1. */
  step?: number;
  totalSteps?: number;
  hasBack?: boolean;
  /** Closes the dialog when aborted. */
  signal?: AbortSignal | undefined;
  /** A button that opens a link and leaves the dialog open. */
  link?: { title: string; open: () => unknown } | undefined;
}

/** Shows a dialog. Returns the state for the next step, or the index of another step with its state. */
export type Step<S> = (
  state: S,
  at: DialogTitle,
) => Promise<DialogEnd<S> | { kind: 'go'; to: number; state: S }>;

/**
 * Leads the user through steps; all but the first have a Back button. Only the returned state changes before
 * the last step ends; Esc discards it.
 * @returns undefined if the user canceled
 */
export async function runSteps<S>(
  title: string,
  steps: readonly Step<S>[],
  initial: S,
): Promise<S | undefined> {
  let state = initial;
  let index = 0;
  for (;;) {
    const step = steps[index];
    if (step === undefined) return state;
    const place = { title, step: index + 1, totalSteps: steps.length, hasBack: index > 0 };
    const end = await step(state, place);
    if (end.kind === 'cancel') return undefined;
    if (end.kind === 'value') state = end.value;
    if (end.kind === 'go') ({ state } = end);
    index = end.kind === 'value' ? index + 1 : end.kind === 'go' ? end.to : Math.max(0, index - 1);
  }
}

export interface PickRow<T> extends vscode.QuickPickItem {
  /** The ID of an icon before the label. The label can't contain one, since it may be untrusted. */
  icon?: string;
  value: T;
}

/** The longest text of a row; the box truncates it at its width. */
const MAX_ROW_UNITS = 300;

/** How long an answered step stays open, so that the next one appears without a gap. */
const HANDOVER_MS = 100;

/** Shows a quick pick that stays open when it loses the focus, so that the user can look something up. */
export function pick<T>(
  place: DialogTitle,
  options: {
    placeholder?: string;
    items: readonly PickRow<T>[];
    /** The row that Enter takes at first, instead of the first one; `null`: none. */
    active?: T | null;
    /** Rows that leave the dialog open when chosen. */
    stays?: (value: T) => boolean;
    /** Work to await after a choice, with the dialog open and busy; Esc cancels. */
    settle?: (value: T) => Promise<unknown> | undefined;
    /** Rows that replace the previous ones when more is known. */
    later?: readonly Promise<readonly PickRow<T>[]>[];
  },
): Promise<DialogEnd<T>> {
  const input = vscode.window.createQuickPick<PickRow<T>>();
  input.placeholder = sanitizeText(options.placeholder ?? '');
  input.matchOnDescription = true;
  input.matchOnDetail = true;
  input.items = options.items.map(sanitizeRow);
  const activate = (isActive: (item: PickRow<T>) => boolean) => {
    const active = input.items.find(isActive);
    if (active !== undefined) input.activeItems = [active];
  };
  if (options.active === null) input.activeItems = [];
  else if (options.active !== undefined) activate(({ value }) => value === options.active);
  const replace = (rows: readonly PickRow<T>[]) => {
    const label = input.activeItems[0]?.label;
    input.keepScrollPosition = true;
    input.items = rows.map(sanitizeRow);
    activate((item) => item.label === label);
  };
  for (const rows of options.later ?? []) rows.then(replace, () => undefined);
  return show(
    input,
    place,
    () => {
      const item = input.selectedItems[0];
      if (item === undefined || options.stays?.(item.value) === true) return undefined;
      return { value: item.value };
    },
    options.settle,
  );
}

/** Shows a quick pick for any number of rows. @param options.picked the rows that are chosen at first */
export function pickMany<T>(
  place: DialogTitle,
  options: { placeholder: string; items: readonly PickRow<T>[]; picked: ReadonlySet<T> },
): Promise<DialogEnd<readonly T[]>> {
  const input = vscode.window.createQuickPick<PickRow<T>>();
  input.canSelectMany = true;
  input.placeholder = sanitizeText(options.placeholder);
  input.items = options.items.map(sanitizeRow);
  input.selectedItems = input.items.filter(({ value }) => options.picked.has(value));
  return show(input, place, () => ({ value: input.selectedItems.map(({ value }) => value) }));
}

/** A title above the following rows. */
export function separator(label: string): PickRow<never> {
  return { label, kind: vscode.QuickPickItemKind.Separator } as PickRow<never>;
}

function sanitizeRow<T>({ icon, label, description, detail, ...rest }: PickRow<T>): PickRow<T> {
  const text = sanitizeServiceText(label, MAX_ROW_UNITS);
  return {
    ...rest,
    label: icon === undefined ? text : `$(${icon}) ${text}`,
    ...(description !== undefined && { description: unlinked(description) }),
    ...(detail !== undefined && { detail: unlinked(detail) }),
  };
}

/**
 * VS Code shows descriptions and details in a hover as Markdown, where addresses become links. A word joiner,
 * which has no width, prevents that.
 */
function unlinked(text: string): string {
  return sanitizeServiceText(text, MAX_ROW_UNITS).replace(/:\/\/|www\.|@/gi, '$&\u2060');
}

/** Shows an input box; `validate` returns an error, or undefined. */
export function ask(
  place: DialogTitle,
  options: {
    prompt: string;
    value?: string;
    placeholder?: string;
    password?: boolean;
    validate: (text: string) => string | vscode.InputBoxValidationMessage | undefined;
  },
): Promise<DialogEnd<string>> {
  const input = vscode.window.createInputBox();
  input.prompt = sanitizeText(options.prompt);
  input.value = options.value ?? '';
  input.placeholder = options.placeholder;
  input.password = options.password ?? false;
  const check = () => {
    input.validationMessage = options.validate(input.value);
    return input.validationMessage;
  };
  // Don't show an error before the user has typed.
  if (input.value !== '') check();
  input.onDidChangeValue(check);
  return show(input, place, () => {
    const problem = check();
    const blocks =
      typeof problem === 'string' || problem?.severity === vscode.InputBoxValidationSeverity.Error;
    return blocks ? undefined : { value: input.value };
  });
}

function show<T, R>(
  input: (vscode.QuickPick<PickRow<T>> | vscode.InputBox) & { onDidAccept: vscode.Event<void> },
  place: DialogTitle,
  accept: () => { value: R } | undefined,
  settle?: (value: R) => Promise<unknown> | undefined,
): Promise<DialogEnd<R>> {
  input.title = sanitizeText(place.title);
  input.step = place.step;
  input.totalSteps = place.totalSteps;
  input.ignoreFocusOut = true;
  const hide = () => input.hide();
  const link = place.link && { iconPath: new vscode.ThemeIcon('globe'), tooltip: place.link.title };
  input.buttons = [
    ...(place.hasBack === true ? [vscode.QuickInputButtons.Back] : []),
    ...(link ? [link] : []),
  ];
  return new Promise<DialogEnd<R>>((resolve) => {
    input.onDidTriggerButton((button) => {
      if (button === vscode.QuickInputButtons.Back) resolve({ kind: 'back' });
      else if (button === link) void place.link?.open();
    });
    input.onDidAccept(() => {
      const accepted = accept();
      if (accepted === undefined) return;
      const done = () => resolve({ kind: 'value', ...accepted });
      const settling = settle?.(accepted.value);
      if (settling === undefined) {
        done();
        return;
      }
      input.enabled = false;
      input.busy = true;
      settling.then(done, done);
    });
    input.onDidHide(() => resolve({ kind: 'cancel' }));
    place.signal?.addEventListener('abort', hide);
    if (place.signal?.aborted === true) resolve({ kind: 'cancel' });
    else input.show();
  }).finally(() => {
    place.signal?.removeEventListener('abort', hide);
    // Until the next step is shown, keystrokes would otherwise go to the editor behind it.
    input.enabled = false;
    setTimeout(() => input.dispose(), HANDOVER_MS);
  });
}
