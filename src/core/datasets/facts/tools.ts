import { isObject } from '../../base/json.ts';
import { kindsIf, NONE, type Fact } from './fact.ts';
import type { RowFields, TextRow } from './textRow.ts';

export const tools: Readonly<Fact> = {
  name: 'tools',
  kindsOf(row) {
    const calls = callsOf(row);
    if (calls.length === 0) return NONE;
    const given = functionsOf(row.fields['tools'] ?? row.fields['functions']);
    const names = new Set(given.map(({ name }) => name));
    names.delete(undefined);
    // If the list has no names, no call is known to be wrong.
    const isUnknown = ({ name }: RowFields) => names.size > 0 && name !== undefined && !names.has(name);
    return kindsIf({ missing: given.length === 0, unknown: calls.some(isUnknown) });
  },
};

/** Returns the calls of a row, each with name and arguments. In ShareGPT, the text of a message can be a call. */
export function callsOf({ said }: TextRow): readonly RowFields[] {
  return said.flatMap(({ by, text, message }) => {
    const calls = message?.['tool_calls'] ?? message?.['function_call'];
    return calls === undefined && by !== 'call' ? [] : functionsOf(calls ?? text);
  });
}

/** Returns the functions of a list, or a single one. The value may be JSON in a string. */
function functionsOf(value: unknown): readonly RowFields[] {
  if (Array.isArray(value)) return value.flatMap(functionsOf);
  if (isObject(value)) return [isObject(value['function']) ? value['function'] : value];
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return [];
  try {
    return functionsOf(JSON.parse(value));
  } catch {
    return [];
  }
}
