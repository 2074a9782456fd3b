import { isObject } from '../base/json.ts';
import { ALIASES, COMPARED_FIELDS, SPEAKER_OF, TRAINING_FORMATS, type TrainingFormat } from './formats.ts';
import { REFUSED_MARKS } from './templateMarks.ts';

/**
 * Why a row can't become a chat row without loss:
 * - `not-json`; `nested` too deeply; `key`: an object has a key twice; `chat` already; `unknown` format
 * - chat has no place for it: `preference`, `label`, `media`, `evaluation` (choices or a context), `text`
 * - `tools`: tool calls, their results, or definitions that aren't a list
 * - `template`: its text is already wrapped in a chat template
 * - `speaker`: an unknown speaker; `incomplete`: a text is missing or isn't a string
 */
export type NotConverted =
  | 'not-json'
  | 'nested'
  | 'key'
  | 'chat'
  | 'unknown'
  | 'preference'
  | 'label'
  | 'media'
  | 'evaluation'
  | 'text'
  | 'tools'
  | 'template'
  | 'speaker'
  | 'incomplete';

export interface ConvertedRow {
  /** `{"messages":[…]}`, in one line without a line end. */
  text: string;
  /** Names of the fields that were left out, of the row and of its messages. */
  dropped: readonly string[];
}

/** A message with `false` in one of these isn't to be learned. In a chat row, it gets weight 0. */
const IGNORING_FIELDS: readonly string[] = ['train', 'loss'];

type Fields = Readonly<Record<string, unknown>>;

/** A chat row. Numbers in `tools` and `weight` keep their spelling. */
interface ChatRow {
  messages: { role: string; content: string; weight?: unknown }[];
  tools?: unknown;
  weight?: unknown;
}

/** Fields with which a row is never converted, whatever else it has. */
const REFUSED_FIELDS: ReadonlyMap<string, NotConverted> = new Map([
  ...[...COMPARED_FIELDS, ...ALIASES.keys()].map((field) => [field, 'preference'] as const),
  ['label', 'label'],
  ...['image', 'images', 'audio', 'audios', 'video', 'videos'].map((field) => [field, 'media'] as const),
]);

/** `JSON.stringify` may change numbers with a fraction, an exponent, or many digits, and `-0`. */
export const UNUSUAL_NUMBER = /[[:,]\s*-?(?:\d+[.eE]|\d{16})|-0/;

/** `JSON`, with functions that TypeScript doesn't declare yet. */
const exactJson = JSON as unknown as {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): object;
  isRawJSON(value: unknown): boolean;
};

/**
 * Converts a row of another training format to a chat row. Texts, `tools` and `weight` are carried over exactly, numbers as they are
 * written. (JavaScript puts integer keys first.) Nothing else is carried over.
 * @param row the JSON text of one row, decoded without replacing invalid bytes
 */
export function toChat(row: string): ConvertedRow | NotConverted {
  let parsed: unknown;
  try {
    parsed = JSON.parse(row);
  } catch {
    return 'not-json';
  }
  if (!isObject(parsed)) return 'unknown';
  try {
    const conversion = new Conversion(parsed);
    const isExact = !conversion.hasNumbers || !UNUSUAL_NUMBER.test(row);
    return (isExact ? conversion : new Conversion(withExactNumbers(row))).result();
  } catch (error) {
    // The stack is too small: unlike parsing, writing and reading exact numbers recurse.
    if (error instanceof RangeError) return 'nested';
    throw error;
  }
}

/** Parses an object so that `JSON.stringify` writes its numbers as they were written: `1.0`, and integers beyond 2 ** 53. */
export function withExactNumbers(row: string): Fields {
  return exactJson.parse(row, (_, value, { source }) =>
    typeof value === 'number' && source !== undefined ? exactJson.rawJSON(source) : value,
  ) as Fields;
}

/** Builds the chat row that a row becomes, or finds the first reason why it can't become one. */
class Conversion {
  readonly row: Fields;
  reason: NotConverted | undefined;
  /** Whether the chat row may contain numbers. */
  hasNumbers = false;
  readonly #chat: ChatRow = { messages: [] };
  readonly #used = new Set(['system', 'tools']);
  readonly #dropped = new Set<string>();

  constructor(row: Fields) {
    this.row = row;
    const fields = Object.keys(row);
    for (const field of fields) {
      const reason = REFUSED_FIELDS.get(field);
      if (reason !== undefined && !isAbsent(row[field])) this.refuse(reason);
    }
    if (!isAbsent(row['system'])) this.add('system', row['system']);
    addTexts(this, this.#formatOf());
    this.#takeTools(row['tools']);
    if (isNumber(row['weight'])) {
      this.#chat.weight = row['weight'];
      this.hasNumbers = true;
      this.#used.add('weight');
    }
    if (this.#chat.messages.length === 0) this.refuse('incomplete');
    for (const field of fields) if (!this.#used.has(field)) this.#dropped.add(field);
  }

  result(): ConvertedRow | NotConverted {
    return this.reason ?? { text: JSON.stringify(this.#chat), dropped: [...this.#dropped] };
  }

  /** Only the first reason counts. */
  refuse(reason: NotConverted): void {
    this.reason ??= reason;
  }

  /** Returns the value of a field, and marks the field as not dropped. */
  use(field: string): unknown {
    this.#used.add(field);
    return this.row[field];
  }

  has(field: string): boolean {
    return Object.hasOwn(this.row, field);
  }

  add(role: string, content: unknown, weight?: unknown): void {
    if (typeof content !== 'string') {
      this.refuse(hasMedia(content) ? 'media' : 'incomplete');
      return;
    }
    if (REFUSED_MARKS.test(content)) {
      this.refuse('template');
      return;
    }
    this.#chat.messages.push(weight === undefined ? { role, content } : { role, content, weight });
  }

  /** Adds a message in either spelling: `from` and `value`, or `role` and `content`. */
  addMessage(message: unknown): void {
    if (!isObject(message)) {
      this.refuse('incomplete');
      return;
    }
    const [speaker, text] = Object.hasOwn(message, 'from') ? ['from', 'value'] : ['role', 'content'];
    const calls = message['tool_calls'] ?? message['function_call'];
    const role = SPEAKER_OF.get(message[speaker]);
    if (role === 'tool' || role === 'call' || !isAbsent(calls)) {
      this.refuse('tools');
      return;
    }
    if (role === undefined || role === 'pretrain') {
      this.refuse('speaker');
      return;
    }
    const ignoring = IGNORING_FIELDS.filter((field) => message[field] === false);
    const own = isNumber(message['weight']) ? message['weight'] : undefined;
    // Only what the assistant says is learned.
    const weight = role === 'assistant' ? (ignoring.length > 0 ? 0 : own) : undefined;
    if (weight !== undefined) this.hasNumbers = true;
    this.add(message[speaker] === 'developer' ? 'developer' : role, message[text], weight);
    const used = [speaker, text, ...ignoring, ...(weight === undefined ? [] : ['weight'])];
    for (const field in message) if (!used.includes(field)) this.#dropped.add(field);
  }

  /** Returns the row's format. Rows with answers to compare were refused before. */
  #formatOf(): TrainingFormat | undefined {
    const formats = TRAINING_FORMATS.filter(({ compared }) => compared === undefined);
    const found = formats.find(({ fields }) => fields.some((field) => this.has(field)));
    return found ?? formats.find(({ orBoth }) => orBoth?.every((field) => this.has(field)));
  }

  #takeTools(tools: unknown): void {
    if (Array.isArray(tools)) {
      this.#chat.tools = tools;
      this.hasNumbers = true;
    } else if (!isAbsent(tools)) this.refuse('tools');
  }
}

/** Adds the texts of a row as its format has them. */
function addTexts(conversion: Conversion, format: TrainingFormat | undefined): void {
  if (format?.toChat === 'turns') addTurns(conversion, format);
  else if (format?.toChat === 'pair') addPair(conversion, format);
  else conversion.refuse(format?.toChat ?? 'unknown');
}

/** Adds messages, or strings in turn. */
function addTurns(conversion: Conversion, { fields: [field = ''] }: TrainingFormat): void {
  const turns = conversion.use(field);
  if (!Array.isArray(turns)) {
    conversion.refuse('incomplete');
    return;
  }
  const areStrings = typeof turns[0] === 'string';
  for (const [index, turn] of turns.entries())
    if (areStrings) conversion.add(index % 2 === 0 ? 'user' : 'assistant', turn);
    else conversion.addMessage(turn);
}

/** Adds the history, if the format has one, a prompt and an answer. */
function addPair(conversion: Conversion, format: TrainingFormat): void {
  const { prompt: [asked = '', ...further] = [], answer = [], evaluation = [], hasLists } = format;
  if (evaluation.some((field) => conversion.has(field))) {
    conversion.refuse('evaluation');
    return;
  }
  const add = (role: string, value: unknown) => {
    if (hasLists && Array.isArray(value)) for (const message of value) conversion.addMessage(message);
    else conversion.add(role, value);
  };
  if (format.history !== undefined) addHistory(conversion, conversion.use(format.history) ?? []);
  // The prompt is the first field, and the first of the further ones that isn't empty.
  const first = conversion.use(asked);
  let other: unknown;
  for (const field of further) if (isAbsent(other)) other = conversion.use(field);
  const given = [first, other].filter((part) => !isAbsent(part));
  if (given.length > 1 && given.some((part) => typeof part !== 'string')) {
    conversion.refuse('incomplete');
    return;
  }
  add('user', given.length > 1 ? given.join('\n\n') : (given[0] ?? first));
  add('assistant', conversion.use(answer.find((field) => conversion.has(field)) ?? answer[0] ?? ''));
}

function addHistory(conversion: Conversion, history: unknown): void {
  for (const turn of Array.isArray(history) ? history : [undefined])
    if (Array.isArray(turn) && turn.length === 2) {
      conversion.add('user', turn[0]);
      conversion.add('assistant', turn[1]);
    } else conversion.refuse('incomplete');
}

/** Whether a field is missing or empty: rows of a table have all fields. */
function isAbsent(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() === '';
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

/** Whether it is a number, perhaps one of `withExactNumbers`. */
export function isNumber(value: unknown): boolean {
  return typeof value === 'number' || exactJson.isRawJSON(value);
}

/** Whether a content of parts has images, audio or video. */
function hasMedia(content: unknown): boolean {
  const isMedia = (part: unknown) =>
    isObject(part) && typeof part['type'] === 'string' && /image|audio|video/.test(part['type']);
  return Array.isArray(content) && content.some(isMedia);
}
