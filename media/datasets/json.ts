/** A number whose digits say more than the value that JavaScript keeps of it. */
export class ExactNumber {
  readonly digits: string;

  constructor(digits: string) {
    this.digits = digits;
  }
}

type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;

/** The value of a row's text; undefined where it is no JSON. */
export function parseRow(text: string): { value: unknown } | undefined {
  try {
    // Engines that tell no source leave the numbers as they read them.
    const reviver: Reviver = (_key, value, context) =>
      typeof value === 'number' && context?.source !== undefined && String(value) !== context.source
        ? new ExactNumber(context.source)
        : value;
    return { value: JSON.parse(text.replace(/^\uFEFF/, ''), reviver) as unknown };
  } catch {
    return undefined;
  }
}

/** A value as indented JSON, its numbers as they stand in the file. */
export function printValue(value: unknown, indent = ''): string {
  if (value instanceof ExactNumber) return value.digits;
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return `[\n${value.map((item) => inner + printValue(item, inner)).join(',\n')}\n${indent}]`;
  }
  if (isObject(value)) {
    const entries = Object.entries(value);
    if (entries.length === 0) return '{}';
    const lines = entries.map(([key, item]) => `${inner}${JSON.stringify(key)}: ${printValue(item, inner)}`);
    return `{\n${lines.join(',\n')}\n${indent}}`;
  }
  return JSON.stringify(value);
}

/** A JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber)
  );
}
