import { FIELDS, SPEAKERS, SPEAKER_OF, TRAINING_FORMATS } from './formats.ts';
import { isFields, messagesAt, valueAt, type Fields, type LeftOutRow } from './requestShapes.ts';
import { REFUSED_MARKS } from './templateMarks.ts';

/** Further names of an assistant, in lower case: Cohere. */
const OTHER_SPEAKERS: ReadonlyMap<string, string> = new Map([['chatbot', 'assistant']]);
/** Names of an ID of a conversation, in lower case and without what separates words. */
const IDS = /^(?:(?:conversation|dialog|dialogue|thread|session|chat)_?id|conversation)$/i;
/** Names of a conversation that trainers don't know. */
const CONVERSATIONS: readonly string[] = ['conversation', 'dialog', 'dialogue', 'turns', 'chat'];
/** What of a message in a row of its own is kept. */
const MESSAGE_PARTS: readonly string[] = [
  ...['role', 'content', 'from', 'value', 'name', 'weight', 'tool_calls', 'tool_call_id'],
];

const names = (own: boolean) =>
  SPEAKERS.flatMap(([, first, more]) => (own ? first : [...first, ...more])).join('|');
/** Only rows with one of these can have another form: an unknown role, or a name. A row without is copied unread. */
export const OTHER_FORM = new RegExp(
  [
    `"role"\\s*:\\s*"(?!(?:${names(true)})")`,
    `"from"\\s*:\\s*"(?!(?:${names(false)})")`,
    `"(?:contents|segments|${CONVERSATIONS.join('|')})"\\s*:\\s*\\[`,
    '^\\s*\\[',
  ].join('|'),
);

/** Returns a role as trainers spell it; undefined if it is unknown. */
function spelledRole(role: unknown, isShareGpt: boolean): string | undefined {
  const folded = String(role).trim().toLowerCase();
  const speaker = SPEAKER_OF.get(folded) ?? OTHER_SPEAKERS.get(folded);
  if (speaker === undefined || folded === 'developer') return speaker && folded;
  if (!isShareGpt) return SPEAKERS.some(([, own]) => own.includes(folded)) ? folded : speaker;
  return SPEAKER_OF.has(folded) ? folded : speaker;
}

/** Whether a value is a message of a known role. */
function isTurn(value: unknown): value is Fields {
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

function spelled(turn: Fields): Fields {
  const name = turn['from'] === undefined ? 'role' : 'from';
  return { ...turn, [name]: spelledRole(turn[name], name === 'from') };
}

/** Whether a row has a training format by the names of its fields. */
export function hasFormat(row: Fields): boolean {
  return isFormat((field) => Object.hasOwn(row, field));
}

/** Whether it is a row of a training format by names and types, or of another form. */
export function isRow(value: unknown): boolean {
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

/** Returns a row of another service as a row of ours, or why it can't become one; undefined if it is no such row. */
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
  const [own] = lists;
  if (own !== undefined && lists.length === 1 && CONVERSATIONS.includes(own[0]) && !hasFormat(row)) {
    const rest = Object.entries(row).filter(([name]) => name !== own[0]);
    return { ...Object.fromEntries(rest), ...rowOf(own[1]) };
  }
  const changed = lists.map(([name, turns]) => [name, turns.map(spelled)] as const);
  const isChanged = changed.some(([name, turns]) => JSON.stringify(turns) !== JSON.stringify(row[name]));
  return isChanged ? { ...row, ...Object.fromEntries(changed) } : undefined;
}

type Segment = Readonly<{ label: boolean; text: string }>;

function isSegment(value: unknown): value is Segment {
  return typeof valueAt(value, 'label') === 'boolean' && typeof valueAt(value, 'text') === 'string';
}

/** Of Axolotl: what is learned is the assistant's. */
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

/** Most text units of messages that are kept to group them. */
const MAX_GROUPED_UNITS = 100 * 1024 * 1024;
/** What is needed for each besides. */
const UNITS_OF_MESSAGE = 50;

/** Puts messages in rows of their own together, in the order of the file. */
export class Conversations {
  /** Texts of JSON, by ID: objects would need three times as much memory. */
  readonly #turns = new Map<unknown, string[]>();
  readonly #hasIds: boolean;
  #units = 0;

  /** @param first the first row @param isOne whether all rows are one conversation if they have no ID */
  static of(first: unknown, isOne: boolean): Conversations | undefined {
    if (!isTurn(first)) return undefined;
    const hasIds = idOf(first) !== undefined;
    return hasIds || isOne ? new Conversations(hasIds) : undefined;
  }

  private constructor(hasIds: boolean) {
    this.#hasIds = hasIds;
  }

  /** Takes a row, unless there is too much to keep: `too-much`. */
  take(row: unknown): LeftOutRow | 'too-much' | undefined {
    if (!isTurn(row)) return 'unrecognized';
    const id = this.#hasIds ? idOf(row) : 'all';
    if (id === undefined || id === '') return 'no-id';
    const parts = MESSAGE_PARTS.filter((part) => row[part] !== undefined);
    const turn = JSON.stringify(Object.fromEntries(parts.map((part) => [part, row[part]])));
    this.#units += turn.length + UNITS_OF_MESSAGE;
    const turns = this.#turns.get(id);
    if (turns === undefined) this.#turns.set(id, [turn]);
    else turns.push(turn);
    return this.#units > MAX_GROUPED_UNITS ? 'too-much' : undefined;
  }

  *rows(): Generator<Fields> {
    for (const turns of this.#turns.values()) yield rowOf(turns.map((turn) => JSON.parse(turn) as Fields));
  }
}

function idOf(row: Fields): unknown {
  const name = Object.keys(row).find((field) => IDS.test(field));
  const id = name === undefined ? undefined : row[name];
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
}

/** Names of columns with texts if none is a field of a training format that is complete. */
export function columnsToChoose(row: unknown): readonly string[] {
  if (!isFields(row) || hasFormat(row)) return [];
  const columns = Object.keys(row).filter((name) =>
    ['string', 'number', 'boolean'].includes(typeof row[name]),
  );
  return columns.filter((name) => typeof row[name] === 'string').length > 1 ? columns : [];
}

/** The chosen columns, by their names. */
export interface Columns {
  prompt: string;
  answer: string;
  system?: string | undefined;
}

/** Makes chat of the chosen columns of a row. */
export function rowOfColumns(
  row: unknown,
  { prompt, answer, system }: Columns,
): { chat: Fields } | LeftOutRow {
  const text = (name: string) => {
    const value = isFields(row) ? row[name] : undefined;
    if (typeof value === 'string') return value;
    return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
  };
  const [asked, answered] = [text(prompt), text(answer)];
  if (asked === undefined || answered === undefined) return 'incomplete';
  const said = system === undefined ? '' : (text(system) ?? '');
  if ([asked, answered, said].some((one) => REFUSED_MARKS.test(one))) return 'template';
  const messages = [
    ...(said.trim() === '' ? [] : [{ role: 'system', content: said }]),
    { role: 'user', content: asked },
    { role: 'assistant', content: answered },
  ];
  return { chat: { messages } };
}

/** Whether a name is a field of a training format. */
export function isField(name: string): boolean {
  return FIELDS.includes(name.trim().toLowerCase());
}
