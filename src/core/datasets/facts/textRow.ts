// What a row says, by its format: the texts that are trained on, and who says them.
import { isObject, textOf } from '../../base/json.ts';
import { ALIASES, HISTORY_FIELDS, SPEAKER_OF, SYSTEM_FIELD, TRAINING_FORMATS } from '../formats.ts';
import type { Speaker, TrainingFormat } from '../formats.ts';

/** Longer rows aren't read: each byte may be a value. */
export const MAX_TEXT_BYTES = 1_000_000;

export type RowFields = Readonly<Record<string, unknown>>;

/** A text of a row. `by`: undefined if its role is unknown. */
export interface Said {
  by: Speaker | undefined;
  text: string;
  /** The message that it is of, if there is one. */
  message?: RowFields;
}

export interface TextRow {
  /** As it is written. */
  raw: string;
  /** Whether it has characters beyond ASCII, also as escapes. */
  isWide: boolean;
  fields: RowFields;
  format: TrainingFormat | undefined;
  /** All texts that its format has, in order. */
  said: readonly Said[];
  /** What the assistant says of it, and what others do; and texts beside: of a field for the system, of a history. */
  answers: readonly string[];
  prompts: readonly string[];
  beside: readonly string[];
  /** The last answer, as far as it has one: compared answers are none. */
  answer: string | undefined;
  /** What the system says in its conversation; undefined if that can't have a system. */
  system: string | undefined;
  /** The messages of its conversation. */
  turns: readonly unknown[];
}

/** The names of each field, aliases last. */
const NAMES_OF = (field: string): readonly string[] => [
  field,
  ...[...ALIASES].flatMap(([alias, of]) => (of === field ? alias : [])),
];
const FORMATS = TRAINING_FORMATS.map((format) => ({
  ...{ format, some: format.fields.flatMap(NAMES_OF) },
  asked: (format.prompt ?? []).map(NAMES_OF),
  compared: format.compared === undefined ? [] : format.fields.map(NAMES_OF),
}));

/** Reads a row; undefined if it is no object of JSON. */
export function textRow(raw: string): TextRow | undefined {
  try {
    const fields: unknown = JSON.parse(raw);
    return isObject(fields) ? new Reader(raw, fields) : undefined;
  } catch {
    return undefined;
  }
}

function isAnswer({ by }: Said): boolean {
  return by === 'assistant' || by === 'call';
}

class Reader implements TextRow {
  readonly raw: string;
  readonly fields: RowFields;
  readonly isWide: boolean;
  readonly format: TrainingFormat | undefined;
  readonly said: Said[] = [];
  readonly answers: readonly string[];
  readonly prompts: readonly string[];
  readonly beside: string[] = [];
  readonly answer: string | undefined;
  readonly system: string | undefined;
  turns: readonly unknown[] = [];

  constructor(raw: string, fields: RowFields) {
    this.raw = raw;
    this.fields = fields;
    this.isWide = Buffer.byteLength(raw) !== raw.length || raw.includes(String.raw`\u`);
    const has = (field: string) => Object.hasOwn(fields, field);
    const found = FORMATS.find(({ some, format }) => some.some(has) || format.orBoth?.every(has) === true);
    this.format = found?.format;
    if (found !== undefined) this.#read(found);
    for (const field of [SYSTEM_FIELD, ...HISTORY_FIELDS]) {
      const text = textOf(fields[field]);
      if (text !== undefined && text !== '') this.beside.push(text);
    }
    this.answers = this.said.filter(isAnswer).map(({ text }) => text);
    this.prompts = this.said.filter((one) => !isAnswer(one)).map(({ text }) => text);
    this.answer = this.#answer();
    this.system = this.#system();
  }

  #read({ format, asked, compared }: (typeof FORMATS)[number]): void {
    if (format.turns !== undefined) {
      const turns = this.fields[format.fields[0] ?? ''];
      if (Array.isArray(turns)) this.#addList((this.turns = turns));
      return;
    }
    const { wrapped, hasLists = false, further = [], answer = [] } = format;
    const input = wrapped && this.#valueOf([wrapped.input], true);
    // Beside answers to compare, such a list is the prompt.
    if (Array.isArray(input)) this.#addList(input);
    else for (const names of asked) this.#add(this.#valueOf(names, wrapped !== undefined), 'user', hasLists);
    for (const field of further) this.#add(this.fields[field], 'pretrain', hasLists);
    const said = answer.find((field) => Object.hasOwn(this.fields, field));
    if (said !== undefined) this.#add(this.fields[said], 'assistant', hasLists);
    for (const names of compared) this.#add(this.#valueOf(names, true), 'assistant', hasLists);
  }

  /** @param unwraps whether a list of messages can be in an object */
  #valueOf(names: readonly string[], unwraps: boolean): unknown {
    const value = this.fields[names.find((name) => Object.hasOwn(this.fields, name)) ?? ''];
    return unwraps && isObject(value) && Array.isArray(value['messages']) ? value['messages'] : value;
  }

  #add(value: unknown, by: Speaker, hasLists: boolean): void {
    if (typeof value === 'string') this.said.push({ by, text: value });
    else if (hasLists && Array.isArray(value)) this.#addList(value, by);
  }

  /** Adds messages, or strings: in a conversation, the user begins. */
  #addList(list: readonly unknown[], by?: Speaker): void {
    for (const [index, one] of list.entries())
      if (typeof one === 'string')
        this.said.push({ by: by ?? (index % 2 === 0 ? 'user' : 'assistant'), text: one });
      else if (isObject(one))
        this.said.push({
          ...{ by: SPEAKER_OF.get(one['role'] ?? one['from']), message: one },
          text: textOf(one['content'] ?? one['value']) ?? '',
        });
  }

  #answer(): string | undefined {
    const { format } = this;
    if (format === undefined || format.compared !== undefined) return undefined;
    return this.said.findLast(isAnswer)?.text || undefined;
  }

  #system(): string | undefined {
    const { fields, format, said, turns } = this;
    if (format?.turns === undefined || turns.length === 0 || typeof turns[0] === 'string') return undefined;
    const own = said.flatMap(({ by, text }) => (by === 'system' ? text : [])).join('');
    return own === '' ? (textOf(fields[SYSTEM_FIELD]) ?? '') : own;
  }
}
