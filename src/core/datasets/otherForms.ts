import { textOf } from '../base/json.ts';
import { SPEAKERS, SPEAKER_OF, TRAINING_FORMATS } from './formats.ts';
import { isFields, messagesAt, valueAt, type Fields, type LeftOutRow } from './requestShapes.ts';
import { REFUSED_MARKS } from './templateMarks.ts';

/** Further names of speakers, in lower case (Cohere). */
const OTHER_SPEAKERS: ReadonlyMap<string, string> = new Map([['chatbot', 'assistant']]);
const names = (own: boolean) =>
  SPEAKERS.flatMap(([, first, more]) => (own ? first : [...first, ...more])).join('|');
/** Only rows that match can have another form: an unknown role, or one of these names. Other rows are copied without parsing. */
export const OTHER_FORM = new RegExp(
  [
    `"role"\\s*:\\s*"(?!(?:${names(true)})")`,
    `"from"\\s*:\\s*"(?!(?:${names(false)})")`,
    '"(?:contents|segments)"\\s*:\\s*\\[',
    '^\\s*\\[',
  ].join('|'),
);

/** Returns a role as trainers spell it; undefined if it is unknown. */
function spelledRole(role: unknown, isShareGpt: boolean): string | undefined {
  const folded = (textOf(role) ?? '').trim().toLowerCase();
  const speaker = SPEAKER_OF.get(folded) ?? OTHER_SPEAKERS.get(folded);
  if (speaker === undefined || folded === 'developer') return speaker && folded;
  if (!isShareGpt) return SPEAKERS.some(([, own]) => own.includes(folded)) ? folded : speaker;
  return SPEAKER_OF.has(folded) ? folded : speaker;
}

/** Whether a value is a message of a known role. */
export function isTurn(value: unknown): value is Fields {
  if (!isFields(value)) return false;
  const { role, from, content, value: text, tool_calls: calls } = value;
  if (typeof from === 'string' && typeof text === 'string') return spelledRole(from, true) !== undefined;
  return (
    typeof role === 'string' && (content ?? calls) !== undefined && spelledRole(role, false) !== undefined
  );
}

function areTurns(value: unknown): value is readonly Fields[] {
  return Array.isArray(value) && value.length > 0 && value.every(isTurn);
}

/** Returns messages as a row. */
function rowOf(turns: readonly Fields[]): Fields {
  return { [turns[0]?.['from'] === undefined ? 'messages' : 'conversations']: turns.map(spelled) };
}

export function spelled(turn: Fields): Fields {
  const name = turn['from'] === undefined ? 'role' : 'from';
  return { ...turn, [name]: spelledRole(turn[name], name === 'from') };
}

/** Whether a row has a training format by the names of its fields. */
export function hasFormat(row: Fields): boolean {
  return isFormat((field) => Object.hasOwn(row, field));
}

/** Whether a value is a row: of a training format by names and types, or of another form. */
export function isTrainingRow(value: unknown): boolean {
  if (!isFields(value)) return false;
  const isText = (field: string) => typeof value[field] === 'string' || areTurns(value[field]);
  const isConversation = (field: string) =>
    areTurns(value[field]) || typeof valueAt(value[field], '0') === 'string';
  return isFormat(isText, isConversation) || otherForm(value) !== undefined;
}

function isFormat(has: (field: string) => boolean, hasTurns = has): boolean {
  return TRAINING_FORMATS.some(({ fields, turns, compared, orBoth, prompt = [], answer = [] }) => {
    if (turns !== undefined) return fields.some(hasTurns);
    if (compared !== undefined) return fields.every(has);
    if (prompt.length === 0) return fields.some(has);
    return orBoth?.every(has) === true || (has(prompt[0] ?? '') && answer.some(has));
  });
}

/** Converts a row of another service to a training format, or returns why it can't. Undefined if it isn't such a row. */
export function otherForm(row: unknown): Fields | LeftOutRow | undefined {
  if (Array.isArray(row)) return areTurns(row) ? rowOf(row) : 'unrecognized';
  if (!isFields(row)) return undefined;
  if (Array.isArray(row['segments']) && row['segments'].length > 0 && row['segments'].every(isSegment))
    return rowOfSegments(row['segments']);
  if (row['messages'] === undefined && Array.isArray(row['contents'])) {
    const messages = messagesAt(row, '') ?? 'unrecognized';
    if (typeof messages === 'string') return messages;
    return row['tools'] === undefined ? { messages } : 'tools';
  }
  const lists = Object.entries(row).filter(([, value]) => areTurns(value)) as [string, readonly Fields[]][];
  const changed = lists.map(([name, turns]) => [name, turns.map(spelled)] as const);
  const isChanged = changed.some(([name, turns]) => JSON.stringify(turns) !== JSON.stringify(row[name]));
  return isChanged ? { ...row, ...Object.fromEntries(changed) } : undefined;
}

type Segment = Readonly<{ label: boolean; text: string }>;

function isSegment(value: unknown): value is Segment {
  return typeof valueAt(value, 'label') === 'boolean' && typeof valueAt(value, 'text') === 'string';
}

/** Converts Axolotl's segments: those to learn are the assistant's. */
function rowOfSegments(segments: readonly Segment[]): Fields | LeftOutRow {
  const messages: { role: string; content: string }[] = [];
  for (const { label, text } of segments) {
    const role = label ? 'assistant' : 'user';
    const last = messages.at(-1);
    if (last?.role === role) last.content += text;
    else messages.push({ role, content: text });
  }
  return messages.some(({ content }) => REFUSED_MARKS.test(content)) ? 'template' : { messages };
}

/** Returns the columns that the user can choose from; none if the row has a complete training format or fewer than two texts. */
export function columnsToChoose(row: unknown): readonly string[] {
  if (!isFields(row)) return [];
  const { text: _, ...others } = row;
  // A text beside a label would be trained as plain text, without the label.
  if (hasFormat(row) && (hasFormat(others) || !Object.keys(others).some((name) => LABEL.test(name))))
    return [];
  const columns = Object.keys(row).filter((name) => isValue(row[name]));
  return columns.filter((name) => typeof row[name] === 'string').length > 1 ? columns : [];
}

/** Names of columns that are learned beside a text. */
const LABEL = /^(?:labels?|class|category|intent|sentiment|target|answer|output|response)$/i;

/** The chosen columns, by their names. */
export interface Columns {
  prompt: string;
  answer: string;
  system?: string | undefined;
}

/** Makes chat of the chosen columns of a row. */
export function rowOfColumns(row: unknown, columns: Columns): { chat: Fields } | LeftOutRow {
  const messages: { role: string; content: string }[] = [];
  for (const [role, name] of [
    ['system', columns.system],
    ['user', columns.prompt],
    ['assistant', columns.answer],
  ] as const) {
    const value = name !== undefined && isFields(row) ? row[name] : undefined;
    if (isValue(value)) messages.push({ role, content: String(value) });
    else if (role !== 'system') return 'incomplete';
  }
  if (messages.some(({ content }) => REFUSED_MARKS.test(content))) return 'template';
  return {
    chat: { messages: messages.filter(({ role, content }) => role !== 'system' || content.trim() !== '') },
  };
}

function isValue(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}
