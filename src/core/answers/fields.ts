import { foldAnswer } from './foldAnswer.ts';

/** A JSON object or array. */
type Container = readonly unknown[] | Readonly<Record<string, unknown>>;

/** Returns the JSON value of a text; undefined if it isn't JSON. */
export function parseJson(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/**
 * Returns the JSON object or array that a text, or its Markdown code block, consists of. Tool calls, as models write
 * them, become an array. Undefined if there is none.
 * @param allowsWords whether there may be words around it
 */
export function containerIn(text: string, allowsWords: boolean): Container | undefined {
  // One expression for all of it would take minutes if a model repeats thousands of blank lines or marks.
  const pieces = text.split(/(`{3,}|~{3,})/);
  const isBlock = `${pieces[0]}${pieces.at(-1)}`.trim() === '';
  const [before, ...calls] = text.split('<tool_call>').map((call) => call.split('</tool_call>')[0]);
  const areCalls = calls.length > 0 && (allowsWords || before?.trim() === '');
  const blocks = [
    // A value in JSON may have a code block, too.
    ...(isBlock || allowsWords ? [pieces.slice(2, -2).join('')] : []),
    ...(allowsWords ? pieces.filter((_, index) => index % 4 === 2) : []),
  ];
  const candidates = [
    text,
    ...blocks.map((block) => block.replace(/^\w[^\n[{]*/, '')),
    ...(areCalls ? [`[${calls.join()}]`] : []),
  ];
  for (const candidate of candidates.filter((one) => /^\s*[[{]/.test(one))) {
    const value = parseJson(candidate)?.value;
    if (isContainer(value)) return value;
  }
  return undefined;
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
