import { ROLES } from './toChat.ts';

/** Calls as messages of their own, which count as the assistant's. */
const CALLS: ReadonlySet<unknown> = new Set(['function_call', 'tool_call']);

/** Returns the answer of a row, which the scanner hashes (`answerHash`): the assistant's last message, or a field. */
export function answerText(row: string): string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(row.replace(/^\uFEFF/, ''));
  } catch {
    return '';
  }
  if (!isObject(parsed)) return '';
  const turns = parsed['messages'] ?? parsed['conversations'];
  if (Array.isArray(turns)) return textOf(turns.findLast(isAnswer));
  return textOf(parsed['completion'] ?? parsed['output'] ?? parsed['response'] ?? parsed['answer']);
}

/** Whether a turn is the assistant's. Of strings, every other one is. */
function isAnswer(turn: unknown, index: number): boolean {
  if (!isObject(turn)) return index % 2 === 1;
  const speaker = turn['role'] ?? turn['from'];
  return ROLES.get(speaker) === 'assistant' || CALLS.has(speaker);
}

/** Returns the texts in a field, a message or a content. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(textOf).join('');
  return isObject(value) ? textOf(value['content'] ?? value['value'] ?? value['text']) : '';
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
