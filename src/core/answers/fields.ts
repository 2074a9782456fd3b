import { foldAnswer } from './foldAnswer.ts';

/** A JSON object or array. */
type Container = readonly unknown[] | Readonly<Record<string, unknown>>;

/** Returns the JSON value of a text; undefined if it is no JSON. */
export function parseJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/** Returns the JSON value of an answer that is only a code block of Markdown: its fields count as well. */
export function fencedJson(text: string): { value: unknown } | undefined {
  const block = text.trim();
  // Not a single regular expression: thousands of blank lines, as a model may repeat, take it minutes.
  const [start, end] = [block.indexOf('\n'), block.lastIndexOf('\n')];
  const isFenced = /^```\w*\s*$/.test(block.slice(0, start)) && block.slice(end).trim() === '```';
  return isFenced ? parseJson(block.slice(start, end)) : undefined;
}

/** Returns an expected answer that is a JSON object or array, or undefined. */
export function expectedFields(text: string): Container | undefined {
  const value = parseJson(text)?.value;
  return isContainer(value) ? value : undefined;
}

/**
 * Counts the fields of an expected answer, and those that another value has as well. A field is a value that
 * holds no others, at any depth: a string, number, boolean, null, or an empty object or array. The same field
 * has the same keys in any order, and the same index in arrays. Strings are equal as answers are.
 */
export function countFields(expected: Container, other: unknown): { fields: number; right: number } {
  let fields = 0;
  let right = 0;
  // Not recursive, because a hostile value could overflow the stack.
  const pairs: [expected: unknown, other: unknown][] = [[expected, other]];
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [one, two] = pair;
    const entries = isContainer(one) ? Object.entries(one) : [];
    for (const [key, value] of entries) pairs.push([value, ownValue(one, two, key)]);
    if (entries.length > 0) continue;
    fields++;
    if (isSameLeaf(one, two)) right++;
  }
  return { fields, right };
}

/** Returns the second value's value at a key, if both are the same kind of container. */
function ownValue(one: unknown, two: unknown, key: string): unknown {
  const isAlike = isContainer(two) && Array.isArray(one) === Array.isArray(two);
  // Own keys only: a key may be `constructor`.
  return isAlike && Object.hasOwn(two, key) ? (two as Readonly<Record<string, unknown>>)[key] : undefined;
}

function isSameLeaf(one: unknown, two: unknown): boolean {
  if (typeof one === 'string') return typeof two === 'string' && foldAnswer(one) === foldAnswer(two);
  if (!isContainer(one)) return one === two;
  return isContainer(two) && Array.isArray(one) === Array.isArray(two) && Object.keys(two).length === 0;
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null;
}
