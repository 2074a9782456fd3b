// Messages of conversations, in as few characters as the tables of rows need.

export interface Message {
  role: string;
  content?: unknown;
  [field: string]: unknown;
}

/** Returns a maker of messages of a role, whose content is the role's name unless it is given. */
export const says =
  (role: string) =>
  (content: unknown = role, more: object = {}): Message => ({ role, content, ...more });
export const [s, d, u, a, t] = [
  says('system'),
  says('developer'),
  says('user'),
  says('assistant'),
  says('tool'),
] as const;

/** The tool calls of a message: one with these arguments. */
export const args = (value: unknown) => ({
  tool_calls: [{ id: 'c', function: { name: 'f', arguments: value } }],
});
/** A call of a tool. */
export const c = (value: unknown = '{}') => a(null, args(value));

export const chat = (...messages: readonly unknown[]) => ({ messages });
