// What a row says, by its format: the texts that are trained on, and who says them.
import { isObject, textOf } from '../../base/json.ts';
import { ALIASES, HISTORY_FIELDS, SPEAKER_OF, SYSTEM_FIELD, TRAINING_FORMATS } from '../formats.ts';
import type { Speaker, TrainingFormat } from '../formats.ts';

/** Longer rows aren't read: each byte may be a value, which takes memory. */
export const MAX_TEXT_BYTES = 1_000_000;

export type RowFields = Readonly<Record<string, unknown>>;

/** A text of a row. `by`: the speaker; undefined if the role is unknown. */
export interface Said {
  by: Speaker | undefined;
  text: string;
  /** The message that has the text, if it is in one. */
  message?: RowFields;
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

/** Reads a row; undefined if it isn't a JSON object. */
export function textRow(raw: string): TextRow | undefined {
  try {
    const fields: unknown = JSON.parse(raw);
    return isObject(fields) ? new TextRow(raw, fields) : undefined;
  } catch {
    return undefined;
  }
}

function isAnswer({ by }: Said): boolean {
  return by === 'assistant' || by === 'call';
}

/** What a row says. */
export class TextRow {
  /** The row as it is written. */
  readonly raw: string;
  readonly fields: RowFields;
  /** Whether it has characters beyond ASCII, perhaps as escapes. */
  readonly isWide: boolean;
  readonly format: TrainingFormat | undefined;
  /** All texts that its format has, in order. */
  readonly said: Said[] = [];
  /** The texts of the assistant, and those of all others. */
  readonly answers: readonly string[];
  readonly prompts: readonly string[];
  /** The texts of the fields `system` and `history`. */
  readonly beside: string[] = [];
  /** The last answer; undefined if there is none, or if there are two answers to compare. */
  readonly answer: string | undefined;
  /** The system message; undefined if the row can't have one. */
  readonly system: string | undefined;
  /** The messages of its conversation. */
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
    // Beside answers to compare, a list of messages in `input` is the prompt.
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

  /** Adds messages, or strings. Strings of a conversation take turns; the user begins. */
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
