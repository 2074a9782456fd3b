import { isObject, textOf } from '../base/json.ts';
import { SPEAKER_OF, SYSTEM_FIELD, TRAINING_FORMATS } from './formats.ts';

const CONVERSATIONS = TRAINING_FORMATS.flatMap(({ turns, fields }) => (turns === undefined ? [] : fields));

type Fields = Readonly<Record<string, unknown>>;

/** Returns the answer of a row, as hashed (`answerHash`): the assistant's last message, or a field. */
export function answerText(row: string): string {
  const parsed = parsedRow(row);
  const has = (field: string) => Object.hasOwn(parsed, field);
  const format = TRAINING_FORMATS.find(
    ({ fields, orBoth }) => fields.some(has) || orBoth?.every(has) === true,
  );
  if (format === undefined) return '';
  if (format.turns === undefined) return textOf(parsed[format.answer?.find(has) ?? '']) ?? '';
  const turns = parsed[format.fields[0] ?? ''];
  return Array.isArray(turns) ? (textOf(turns.findLast(isAnswer)) ?? '') : '';
}

/** Returns what the system says in a row, as hashed (`systemHash`): its messages, or a field. */
export function systemText(row: string): string {
  const parsed = parsedRow(row);
  const turns = firstOf(parsed, CONVERSATIONS);
  const isSystem = (turn: unknown) =>
    isObject(turn) && SPEAKER_OF.get(turn['role'] ?? turn['from']) === 'system';
  const text = Array.isArray(turns) ? textOf(turns.filter(isSystem)) : '';
  return (text === '' ? textOf(parsed[SYSTEM_FIELD]) : text) ?? '';
}

function parsedRow(row: string): Fields {
  try {
    const parsed: unknown = JSON.parse(row.replace(/^\uFEFF/, ''));
    return isObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

/** Returns the first of some fields that isn't missing or null. */
function firstOf(row: Fields, names: readonly string[]): unknown {
  return names.reduce<unknown>((found, name) => found ?? row[name], undefined);
}

/** Whether a turn is the assistant's. Of strings, every other one is. */
function isAnswer(turn: unknown, index: number): boolean {
  if (!isObject(turn)) return index % 2 === 1;
  const speaker = SPEAKER_OF.get(turn['role'] ?? turn['from']);
  return speaker === 'assistant' || speaker === 'call';
}
