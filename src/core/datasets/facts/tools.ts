import { isObject } from '../../base/json.ts';
import { kindsIf, NONE, type Fact } from './fact.ts';
import type { Fields, TextRow } from './textRow.ts';

export const tools: Fact = {
  name: 'tools',
  kindsOf(row) {
    const calls = callsOf(row);
    if (calls.length === 0) return NONE;
    const given = listOf(row.fields['tools'] ?? row.fields['functions']);
    const names = given.flatMap((one) => nameOf(functionOf(one)) ?? []);
    return kindsIf({
      missing: given.length === 0,
      // A list of another kind says nothing of its names.
      unknown: names.length > 0 && calls.some((call) => !names.includes(nameOf(call) ?? names[0] ?? '')),
    });
  },
};

/** Returns the tools that a row calls, each with its name and arguments. */
export function callsOf({ said }: TextRow): Fields[] {
  return said.flatMap(({ by, text, message }) => {
    const calls = message?.['tool_calls'] ?? message?.['function_call'];
    if (calls === undefined && by !== 'call') return [];
    const list = Array.isArray(calls) ? calls : isObject(calls) ? [calls] : [];
    // ShareGPT has a call as the text of a message.
    return (by === 'call' && list.length === 0 ? listOf(text) : list).map(functionOf).filter(isObject);
  });
}

function functionOf(value: unknown): unknown {
  return isObject(value) ? (value['function'] ?? value) : undefined;
}

function nameOf(value: unknown): string | undefined {
  const name = isObject(value) ? value['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}

/** Returns a list, also one that is written as a text. */
function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (isObject(value)) return [value];
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return [];
  try {
    return listOf(JSON.parse(value));
  } catch {
    return [];
  }
}
