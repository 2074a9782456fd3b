import { isObject } from '../../base/json.ts';
import { kindsIf, rarerOf, type Fact } from './fact.ts';
import { callsOf } from './tools.ts';

/** A call that is written into the text, in Python's notation. */
const PYTHON = /<tool_call>\s*\{\s*'/;

export const toolArguments: Readonly<Fact> = {
  name: 'toolArguments',
  kindsOf(row) {
    const given = callsOf(row).map((call) => call['arguments']);
    return kindsIf({
      text: given.some((one) => typeof one === 'string'),
      object: given.some(isObject),
      python: row.answers.some((text) => text.includes('<tool_call>') && PYTHON.test(text)),
    });
  },
  shown: (counts) => [
    ...rarerOf(counts, ['text', 'object']),
    ...kindsIf({ python: (counts['python'] ?? 0) > 0 }),
  ],
};
