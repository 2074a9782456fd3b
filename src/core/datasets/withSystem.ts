import { isObject } from '../base/json.ts';
import type { TextRow } from './facts/textRow.ts';

/** Strings and brackets of JSON. */
const TOKENS = /"[^"\\]*(?:\\[^][^"\\]*)*"|[{}[\]]/g;

/** Adds a system message at the beginning of a conversation that has messages, but none of the system. All other bytes stay. */
export function withSystem({ raw, format, turns }: TextRow, content: string): string {
  const field = format?.fields[0];
  let [depth, key, start] = [0, '', 0];
  for (const { 0: token, index } of raw.matchAll(TOKENS))
    if (token === '}' || token === ']') depth--;
    else if (token.length > 1) key = depth === 1 ? token : key;
    // If the field occurs twice, the last one counts.
    else if (++depth === 2 && token === '[' && JSON.parse(key) === field) start = index + 1;
  const isShareGpt = isObject(turns[0]) && Object.hasOwn(turns[0], 'from');
  const message = isShareGpt ? { from: 'system', value: content } : { role: 'system', content };
  return `${raw.slice(0, start)}${JSON.stringify(message)},${raw.slice(start)}`;
}
