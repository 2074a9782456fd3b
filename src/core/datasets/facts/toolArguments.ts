import { isObject } from '../../base/json.ts';
import { kindsIf, rarerOf, type Fact } from './fact.ts';
import { callsOf } from './tools.ts';

/** How calls in Python's notation begin: inside a text, and if the text is the call. */
const PYTHON = /(?:<(?:tool|function)_?calls?>|\[TOOL_CALLS\])\s*\[?\s*\{\s*'/;
const ALONE = /^\s*\[?\s*\{\s*'/;

export const toolArguments: Readonly<Fact> = {
  name: 'toolArguments',
  kindsOf(row) {
    const given = callsOf(row).map((call) => call['arguments']);
    return kindsIf({
      text: given.some((one) => typeof one === 'string'),
      object: given.some(isObject),
      python: row.said.some(
        ({ by, text }) =>
          (by === 'call' && ALONE.test(text)) ||
          (by === 'assistant' && (text.includes('call') || text.includes('CALLS]')) && PYTHON.test(text)),
      ),
    });
  },
  shown: (counts) => [
    ...rarerOf(counts, ['text', 'object']),
    ...kindsIf({ python: (counts['python'] ?? 0) > 0 }),
  ],
};
