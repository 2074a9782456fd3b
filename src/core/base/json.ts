/** How deep texts are nested in the parts of messages. Deeper texts are something else. */
const MAX_DEPTH = 5;

/** Whether a value is an object of JSON, neither null nor an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the texts in a message, a content or a list of parts; undefined for anything else. */
export function textOf(value: unknown, depth = MAX_DEPTH): string | undefined {
  if (typeof value === 'string') return value;
  if (depth === 0) return undefined;
  if (Array.isArray(value)) return value.map((part) => textOf(part, depth - 1) ?? '').join('');
  return isObject(value) ? textOf(value['content'] ?? value['value'] ?? value['text'], depth - 1) : undefined;
}
