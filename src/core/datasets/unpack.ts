import { ConvertError } from './convert.ts';
import { FIELDS } from './formats.ts';
import { hasFormat, isTrainingRow, isTurn, spelled } from './otherForms.ts';
import { isFields, isRequestRow, type Fields } from './requestShapes.ts';
import type { Take } from './rowStage.ts';

/** Names of the ID of a conversation. */
const IDS =
  /^(?:(?:convo?|conversation|dialog|dialogue|thread|session|chat)[_ -]?id|conversation|dialog|dialogue|thread|session)$/i;
/** The fields that a message keeps if it had a row of its own. */
const MESSAGE_PARTS: readonly string[] = [
  ...['role', 'content', 'from', 'value', 'name', 'weight', 'tool_calls', 'tool_call_id'],
];

/**
 * Returns the rows inside the only object of a file: `{"data":[…]}`, or columns. Undefined if the object is itself a row.
 * @param part the name of the list that the user chose
 * @throws ConvertError `needs-part`
 */
export function rowsIn(object: Fields, part: string | undefined): unknown[] | undefined {
  if (isTrainingRow(object) || isRequestRow(object)) return undefined;
  const rows = rowsOfColumns(object);
  if (rows !== undefined) return rows;
  // With the fields of a training format, it is a faulty row, unless it contains rows.
  const values = Object.values(object).flat();
  if (hasFormat(object) && !values.some((one) => isTrainingRow(one) || isRequestRow(one))) return undefined;
  const lists = Object.entries(object).filter(([, one]) => Array.isArray(one) && one.some(isList)) as [
    string,
    unknown[],
  ][];
  // A list of messages for each conversation's ID: each list is a row.
  if (lists.length > 1 && lists.every(([, list]) => list.every(isTurn))) return lists.map(([, list]) => list);
  if (lists.length > 1 && part === undefined) {
    const choices = lists.map(([name]) => name);
    throw new ConvertError('needs-part', { choices });
  }
  return (lists.find(([name]) => name === part) ?? lists[0])?.[1];
}

/** Returns the rows of columns of equal lengths: `{"prompt":["Hi"],"completion":["Hello"]}`; undefined if there are no columns. */
function rowsOfColumns(object: Fields): unknown[] | undefined {
  const columns = Object.entries(object).map(
    ([name, one]) => [name, isList(one) ? Object.values(one) : []] as const,
  );
  const [, { length }] = columns[0] ?? ['', []];
  // Lists of objects are columns only beside a column of a training field.
  const areColumns =
    columns.every(([, values]) => !values.some(isList)) ||
    columns.some(([name, values]) => FIELDS.includes(name) && !values.some(isFields));
  if (!areColumns || length === 0 || columns.some(([, values]) => values.length !== length)) return undefined;
  return Array.from({ length }, (_, at) =>
    Object.fromEntries(columns.map(([name, values]) => [name, values[at]])),
  );
}

/** Whether it is a list or an object. */
function isList(value: unknown): value is object {
  return Array.isArray(value) || isFields(value);
}

/** How many UTF-16 units of messages are kept to group them. */
const MAX_GROUPED_UNITS = 100 * 1024 * 1024;
/** A message needs memory for so many more units. */
const UNITS_OF_MESSAGE = 50;

/**
 * Groups messages that have rows of their own to conversations, in the order of the file. Undefined if the rows aren't messages.
 * @param first the first row
 * @param isOne whether all rows are one conversation if they have no ID
 */
export function conversationsOf(first: unknown, isOne: boolean) {
  const hasIds = isFields(first) && idOf(first) !== undefined;
  if (!isTurn(first) || !(hasIds || isOne)) return undefined;
  const field = first['from'] === undefined ? 'messages' : 'conversations';
  // Messages as JSON texts, by ID: objects would need three times as much memory.
  const groups = new Map<unknown, string[]>();
  let units = 0;
  const take: Take = (row) => {
    if (!isTurn(row)) return 'unrecognized';
    const id = hasIds ? idOf(row) : 'all';
    if (id === undefined || id === '') return 'incomplete';
    const turn = JSON.stringify(spelled(Object.fromEntries(MESSAGE_PARTS.map((part) => [part, row[part]]))));
    units += turn.length + UNITS_OF_MESSAGE;
    if (units > MAX_GROUPED_UNITS) throw new ConvertError('too-much');
    const turns = groups.get(id);
    if (turns === undefined) groups.set(id, [turn]);
    else turns.push(turn);
    return {};
  };
  function* rows() {
    for (const turns of groups.values()) yield Buffer.from(`{"${field}":[${turns.join()}]}`);
  }
  return { take, rows };
}

function idOf(row: Fields): unknown {
  const name = Object.keys(row).find((field) => IDS.test(field));
  const id = name === undefined ? undefined : row[name];
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}
