import { isObject, textOf } from '../base/json.ts';
import { splitThinking } from './thinking.ts';

// Texts of a row are untrusted: they are only ever shown as text, and never stored or logged.

/** The most messages of a prompt; the page draws each of them. */
const MAX_MESSAGES = 1_000;

/** One message of the prompt. */
export interface Message {
  /** Undefined if the file doesn't say who speaks. */
  role: string | undefined;
  text: string;
}

/** How an answer ended, if not normally: at the limit of tokens, or because the program failed. */
export type AnswerEnd = 'length' | 'error';

/** The two sides that are compared: the base model, and the base model with the adapter. */
export type ComparedSide = 'base' | 'adapter';

export interface AnswerRow extends Readonly<Record<ComparedSide, string>> {
  /** Its line in the file, from 1. */
  line: number;
  /** The prompt: the messages before the answer. */
  messages: readonly Message[];
  expected: string;
  ends: Readonly<Partial<Record<ComparedSide, AnswerEnd>>>;
}

/** Why a line isn't an answer, in the order of the checks. `too-long`: over 1,000 messages. */
export type UnusableLine = 'not-json' | 'too-long' | 'no-messages' | 'no-expected' | 'no-base' | 'no-adapter';

/**
 * Reads the object of a line. Contents may be strings or lists of parts with text; further fields are ignored. An
 * expected answer has text besides thinking; the other two may be empty.
 * @param number from 1
 */
export function answerRowOf(row: ReturnType<typeof parseObject>, number: number): AnswerRow | UnusableLine {
  if (row === undefined) return 'not-json';
  if (Array.isArray(row['messages']) && row['messages'].length > MAX_MESSAGES) return 'too-long';
  const messages = messagesOf(row);
  if (messages === undefined) return 'no-messages';
  const [expected, base, adapter] = [textOf(row['expected']), textOf(row['base']), textOf(row['adapter'])];
  if (expected === undefined || splitThinking(expected).answer.trim() === '') return 'no-expected';
  if (base === undefined) return 'no-base';
  if (adapter === undefined) return 'no-adapter';
  const ends = { base: endOf(row['base_end']), adapter: endOf(row['adapter_end']) };
  return { line: number, messages, expected, base, adapter, ends };
}

/** Returns the messages of a row, of answers or of a chat dataset; undefined if it has none. */
export function messagesOf(row: Readonly<Record<string, unknown>>): Message[] | undefined {
  const messages = row['messages'];
  if (!Array.isArray(messages) || messages.length === 0) return undefined;
  const read = messages.map((message: unknown) => {
    const role = isObject(message) ? (message['role'] ?? message['from']) : undefined;
    return { role: typeof role === 'string' ? role : undefined, text: textOf(message) ?? '' };
  });
  return read.some(({ role, text }) => role !== undefined || text !== '') ? read : undefined;
}

/** Whether a line may be an object. Unlike `JSON.parse`, this is cheap in a file of millions of other lines. */
export function beginsObject(line: string): boolean {
  return /^\uFEFF?[ \t\r]*(\{|$)/.test(line);
}

/** Returns the object in a line, or undefined. */
export function parseObject(line: string): Readonly<Record<string, unknown>> | undefined {
  if (!beginsObject(line)) return undefined;
  try {
    return JSON.parse(line.replace(/^\uFEFF/, '')) as Readonly<Record<string, unknown>>;
  } catch {
    return undefined;
  }
}

function endOf(value: unknown): AnswerEnd | undefined {
  return value === 'length' || value === 'error' ? value : undefined;
}
