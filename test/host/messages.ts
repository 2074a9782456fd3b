import * as vscode from 'vscode';

const METHODS = ['showInformationMessage', 'showWarningMessage', 'showErrorMessage'] as const;

/** A message that was shown: its text and its buttons. */
export interface Message {
  text: string;
  buttons: string[];
}

/**
 * Catches the messages that the extension shows while `work` runs: the API object is one for the extension and its tests.
 * @param answer the button to press, or one for each message, where there is one of that name
 */
export async function messagesOf(
  work: () => Thenable<unknown>,
  answer: string | readonly string[] = [],
): Promise<Message[]> {
  const messages: Message[] = [];
  const { window } = vscode;
  const originals = METHODS.map((method) => window[method]);
  const catching = (text: string, ...rest: unknown[]): Thenable<string | undefined> => {
    const buttons = rest.filter((item) => typeof item === 'string');
    messages.push({ text, buttons });
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
