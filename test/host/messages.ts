import * as vscode from 'vscode';

const METHODS = ['showInformationMessage', 'showWarningMessage', 'showErrorMessage'] as const;

/** The text and buttons of a notification. */
export interface Message {
  text: string;
  buttons: string[];
}

/**
 * Intercepts the notifications that the extension shows during `work`. The extension and its tests share the API object.
 * @param answer the button to press, or several; each notification has at most one of them
 * @param onShown called with each
 */
export async function messagesOf(
  work: () => Thenable<unknown>,
  answer: string | readonly string[] = [],
  onShown: (message: Message) => void = () => undefined,
): Promise<Message[]> {
  const messages: Message[] = [];
  const { window } = vscode;
  const originals = METHODS.map((method) => window[method]);
  const catching = (text: string, ...rest: unknown[]): Thenable<string | undefined> => {
    const buttons = rest.filter((item) => typeof item === 'string');
    messages.push({ text, buttons });
    onShown({ text, buttons });
    return Promise.resolve(buttons.find((button) => [answer].flat().includes(button)));
  };
  for (const method of METHODS) Object.assign(window, { [method]: catching });
  try {
    await work();
  } finally {
    METHODS.forEach((method, index) => Object.assign(window, { [method]: originals[index] }));
  }
  return messages;
}
