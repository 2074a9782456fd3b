import { ConvertError } from './convert.ts';
import { FIELDS } from './formats.ts';
import { hasFormat, isTrainingRow, isTurn, spelled } from './otherForms.ts';
import { isFields, isRequestRow, type Fields } from './requestShapes.ts';
import type { Take } from './rowStage.ts';

/** Names of an ID of a conversation. */
const IDS =
  /^(?:(?:convo?|conversation|dialog|dialogue|thread|session|chat)[_ -]?id|conversation|dialog|dialogue|thread|session)$/i;
/** What of a message in a row of its own is kept. */
const MESSAGE_PARTS: readonly string[] = [
  ...['role', 'content', 'from', 'value', 'name', 'weight', 'tool_calls', 'tool_call_id'],
];

/**
 * Returns the rows in the only object of a file: of columns, or of a list; undefined if it is itself a row.
 * @param part the name of the list
 * @throws ConvertError `needs-part`
 */
export function rowsIn(object: Fields, part: string | undefined): unknown[] | undefined {
  if (isTrainingRow(object) || isRequestRow(object)) return undefined;
  const fields = Object.entries(object);
  const columns = fields.map(([name, one]) => [name, isList(one) ? Object.values(one) : []] as const);
  const [, { length }] = columns[0] ?? ['', []];
  // Lists of objects are columns only beside one of training.
  const areData = columns.every(([, values]) => !values.some(isList));
  const areColumns =
    areData || columns.some(([name, values]) => FIELDS.includes(name) && !values.some(isFields));
  if (areColumns && length > 0 && columns.every(([, values]) => values.length === length))
    return Array.from({ length }, (_, at) =>
      Object.fromEntries(columns.map(([name, values]) => [name, values[at]])),
    );
  if (
    hasFormat(object) &&
    !Object.values(object)
      .flat()
      .some((one) => isTrainingRow(one) || isRequestRow(one))
  )
    return undefined;
  const lists = fields.filter(([, one]) => Array.isArray(one) && one.some(isList)) as [string, unknown[]][];
  // A conversation by each ID.
  if (lists.length > 1 && lists.every(([, list]) => list.every(isTurn))) return lists.map(([, list]) => list);
  if (lists.length > 1 && part === undefined) {
    const choices = lists.map(([name]) => name);
    throw new ConvertError('needs-part', { choices });
  }
  return (lists.find(([name]) => name === part) ?? lists[0])?.[1];
}

/** Whether it is a list or an object. */
function isList(value: unknown): value is object {
  return Array.isArray(value) || isFields(value);
}

/** Most text units of messages that are kept to group them. */
const MAX_GROUPED_UNITS = 100 * 1024 * 1024;
/** What is needed for each besides. */
const UNITS_OF_MESSAGE = 50;

/**
 * Puts messages in rows of their own together, in the order of the file; undefined if these are others.
 * @param first the first row
 * @param isOne whether all rows are one conversation if they have no ID
 */
export function conversationsOf(first: unknown, isOne: boolean) {
  const hasIds = isFields(first) && idOf(first) !== undefined;
  if (!isTurn(first) || !(hasIds || isOne)) return undefined;
  const field = first['from'] === undefined ? 'messages' : 'conversations';
  // Texts of JSON, by ID: objects would need three times as much memory.
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
