import { isObject } from '../../base/json.ts';
import { SPEAKER_OF } from '../formats.ts';
import type { Fact } from './fact.ts';

const FIELDS: readonly string[] = [
  'messages',
  'conversations',
  'chosen',
  'rejected',
  'prompt',
  'completion',
  'instruction',
];
/** Messages as Python prints them, with single quotes. */
const PYTHON = /^\s*(?:\{\s*'messages'\s*:\s*)?\[?\s*\{[^]*'(?:role|from)'\s*:\s*['"][^]*\}\s*\]?\s*\}?\s*$/;

export const messagesInText: Readonly<Fact> = {
  name: 'messagesInText',
  kindsOf: ({ fields }) => FIELDS.filter((name) => hasMessages(fields[name])),
};

function hasMessages(value: unknown): boolean {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value) || !/role|from/.test(value)) return false;
  try {
    const parsed: unknown = JSON.parse(value);
    const list = isObject(parsed) ? (parsed['messages'] ?? parsed['conversations'] ?? [parsed]) : parsed;
    return Array.isArray(list) && list.length > 0 && list.every(isMessage);
  } catch {
    return PYTHON.test(value) && /'(?:content|value)'\s*:/.test(value);
  }
}

function isMessage(value: unknown): boolean {
  if (!isObject(value) || !SPEAKER_OF.has(String(value['role'] ?? value['from']).toLowerCase())) return false;
  return ['content', 'value', 'tool_calls'].some((name) => Object.hasOwn(value, name));
}
