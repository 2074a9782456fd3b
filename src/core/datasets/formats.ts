import type { ProblemCode } from './problems.ts';

/** Message roles, in the order of the scanner's numbers. */
export const ROLES = ['system', 'user', 'assistant', 'tool', 'other'] as const;
export type Role = (typeof ROLES)[number];

/** How a format becomes chat messages (`turns`: a conversation; `pair`: prompt and answer), or why it can't. */
type ToChat = 'turns' | 'pair' | 'chat' | 'preference' | 'text';

/** A training format, for example `{"prompt":"Hi","completion":"Hello"}`. */
export interface TrainingFormat {
  name: string;
  /** The scanner's number, from 1. Reports list formats in this order. */
  number: number;
  /** A row with one of these fields has this format, unless an earlier format of the table matches. */
  fields: readonly string[];
  /** A row with both of these fields has it as well. */
  orBoth?: readonly [string, string];
  /** Set if the only field is a list of messages with prompt and answer: the problem to report if it isn't a list. */
  turns?: ProblemCode;
  /** Whether that list may consist of strings. The user begins. */
  hasStrings?: true;
  /** The fields of the prompt, the most important one first. */
  prompt?: readonly string[];
  /** A field of the prompt that may be null or empty, or contain all of the prompt. */
  optional?: string;
  /** The field of the answer; the second one is used if only that is there. */
  answer?: readonly string[];
  /** Set if `fields` are two answers to compare. `beside`: a field with the rejected answer as a text, beside a conversation. */
  compared?: { beside: string };
  /** Other names of its fields. */
  aliases?: Readonly<Record<string, string>>;
  /** Set if lists of messages may be in an object: `{"messages":[…]}`. `input`: a field that is the prompt if it is such an object. */
  wrapped?: { input: string };
  /** Fields with further texts. */
  further?: readonly string[];
  /** The problems if the prompt's first field, or the answer, is missing. For answers to compare: if either is missing. */
  missing?: readonly [ProblemCode, ProblemCode];
  /** Prompts and answers can be lists of messages. */
  hasLists?: true;
  /** Whether files for other purposes often have such rows, so that the format alone doesn't make a dataset. */
  isCommon?: true;
  toChat: ToChat;
  /** A field with earlier questions and answers. */
  history?: string;
  /** A row with one of these fields is for evaluation, not for training. */
  evaluation?: readonly string[];
}

/**
 * The training formats, in the order of recognition. Everything about a format is here, except its name for
 * users (`ui/shared/datasetTexts.ts`) and its problems (`problems.ts`).
 */
const TABLE = [
  { name: 'chat', number: 1, fields: ['messages'], turns: 'messages-not-array', toChat: 'chat' },
  {
    name: 'sharegpt',
    number: 7,
    fields: ['conversations'],
    turns: 'conversations-not-array',
    hasStrings: true, // LIMA
    toChat: 'turns',
  },
  {
    name: 'preference',
    number: 6,
    fields: ['chosen', 'rejected'],
    prompt: ['prompt'],
    compared: { beside: 'rejected_response' },
    aliases: { preferred_output: 'chosen', non_preferred_output: 'rejected' }, // OpenAI
    wrapped: { input: 'input' }, // OpenAI; of `chosen` and `rejected`: Fireworks
    missing: ['chosen-missing', 'rejected-missing'],
    hasLists: true,
    toChat: 'preference',
  },
  {
    name: 'prompt-completion',
    number: 2,
    fields: ['prompt', 'completion'],
    prompt: ['prompt'],
    answer: ['completion'],
    missing: ['prompt-missing', 'completion-missing'],
    hasLists: true,
    toChat: 'pair',
  },
  {
    name: 'instruction',
    number: 3,
    fields: ['instruction'],
    orBoth: ['input', 'output'],
    prompt: ['instruction', 'input', 'context'], // Alpaca has `input` and `output`, Dolly the others
    optional: 'input',
    answer: ['output', 'response'],
    missing: ['instruction-missing', 'output-missing'],
    history: 'history', // LLaMA-Factory
    toChat: 'pair',
  },
  {
    name: 'question-answer',
    number: 4,
    fields: ['question', 'answer'],
    prompt: ['question', 'context'],
    answer: ['answer'],
    missing: ['question-missing', 'answer-missing'],
    isCommon: true,
    evaluation: ['context', 'choices', 'options'],
    toChat: 'pair',
  },
  { name: 'text', number: 5, fields: ['text'], further: ['text'], toChat: 'text' },
] as const satisfies readonly TrainingFormat[];

export type Format = 'unknown' | (typeof TABLE)[number]['name'];

/** The table, typed with its optional properties. */
export const TRAINING_FORMATS: readonly (TrainingFormat & { name: Format })[] = TABLE;

/** The names of all formats, by the scanner's numbers. */
export const FORMATS: readonly Format[] = [
  'unknown',
  ...TABLE.toSorted((one, other) => one.number - other.number).map(({ name }) => name),
];

/** The fields of all formats, in the order of the table. */
export const FIELDS: readonly string[] = [
  ...new Set(
    TRAINING_FORMATS.flatMap(({ prompt = [], fields, orBoth = [], answer = [], further = [] }) =>
      [prompt, fields, orBoth, answer, further].flat(),
    ),
  ),
];

/** Fields with answers to compare. Beside a conversation, they have its answers. */
export const COMPARED_FIELDS: readonly string[] = TRAINING_FORMATS.flatMap(({ compared, fields }) =>
  compared === undefined ? [] : [...fields, compared.beside],
);

/** Fields with earlier questions and answers. */
export const HISTORY_FIELDS: readonly string[] = TRAINING_FORMATS.flatMap(({ history }) => history ?? []);

/** A system message beside a conversation (LLaMA-Factory). */
export const SYSTEM_FIELD = 'system';

/** Further names of fields, each with the field. */
export const ALIASES: ReadonlyMap<string, string> = new Map(
  TRAINING_FORMATS.flatMap(({ aliases = {} }) => Object.entries(aliases)),
);

/** Names of the fields of a message, by the scanner's numbers from 1 (`PART_ROLE` and so on in `scanner/names.ts`). */
export const MESSAGE_FIELDS: readonly (readonly string[])[] = [
  ...[['role'], ['content'], ['tool_calls', 'function_call'], ['from'], ['value']],
  ...[['reasoning', 'reasoning_content', 'thinking'], ['prefix', 'name'], ['weight'], ['train', 'loss']],
];

/** The speaker of a message. `call`: a tool call of the assistant. `pretrain`: text outside of a conversation. */
export type Speaker = Exclude<Role, 'other'> | 'call' | 'pretrain';

/** The names of each speaker, and further ones that only ShareGPT has. */
export const SPEAKERS: readonly (readonly [Speaker, readonly string[], readonly string[]])[] = [
  ['system', ['system', 'developer'], []],
  ['user', ['user'], ['human']],
  ['assistant', ['assistant'], ['gpt', 'chatgpt', 'bard', 'bing', 'claude', 'model', 'ai', 'bot']],
  ['tool', ['tool', 'function', 'ipython', 'tool_response'], ['observation']],
  ['call', ['tool_call'], ['function_call']],
  ['pretrain', ['pretrain'], []],
];

/** The speaker of each name. */
export const SPEAKER_OF: ReadonlyMap<unknown, Speaker> = new Map(
  SPEAKERS.flatMap(([speaker, ...names]) => names.flat().map((name) => [name, speaker] as const)),
);
