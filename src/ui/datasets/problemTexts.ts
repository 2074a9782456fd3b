import { l10n } from 'vscode';
import type {
  ProblemClass,
  ProblemCode,
  FileKind,
  Format,
  ShownProblem,
} from '../../core/datasets/report.ts';
import { FORMAT_NAMES, KINDS } from '../shared/datasetTexts.ts';
import { formatCount } from '../shared/format.ts';
import { TERMS } from '../shared/terms.ts';

/** Says what a file without rows is, and what to do. */
export function kindSentence(kind: Exclude<FileKind, 'rows'>): string {
  const [name, advice] = KINDS[kind];
  return [l10n.t('The file is {0}.', name), advice].join(' ');
}

/** The name of a problem where it is counted. */
export function problemName(code: ProblemCode): string {
  return PROBLEMS[code][0];
}

/** Describes a problem with its effect or fix and, if it represents several, their count. Quotes only masked text. */
export function problemSentence({
  code,
  detail = '',
  count,
}: Pick<ShownProblem, 'code' | 'detail' | 'count'>): string {
  // Each row repeats its own earlier one.
  if (code === 'duplicate-row' && count !== undefined)
    return l10n.t('{0} rows repeat earlier ones.', formatCount(count));
  const [name, advice, whole] = PROBLEMS[code];
  const what = whole?.(detail, count === undefined) ?? name;
  const counted = count === undefined ? what : withCount(what, code, formatCount(count));
  const text = typeof advice === 'string' ? advice : advice(detail);
  return text === '' ? l10n.t('{0}.', counted) : l10n.t('{0}. {1}', counted, text);
}

/** A row can contain several of these two; other problems are counted by row. */
function withCount(what: string, code: ProblemCode, count: string): string {
  return code === 'email-address' || code === 'card-number'
    ? l10n.t('{0} ({1} times)', what, count)
    : l10n.t('{0} ({1} rows)', what, count);
}

/** The names of classes of problems where they are counted. */
export const PROBLEM_CLASSES: Readonly<Record<ProblemClass, string>> = {
  grammar: l10n.t('JSON syntax'),
  encoding: l10n.t('Encoding'),
  lines: l10n.t('Lines'),
  values: l10n.t('Values'),
  shape: l10n.t('Structure'),
  duplicates: TERMS.duplicates,
  privacy: l10n.t('Privacy'),
};

const AN_ARRAY = l10n.t('Use an array of objects.');
const REMOVE = l10n.t('Remove it.');
const NOTHING_TO_LEARN = l10n.t('Nothing to learn from.');
const repeats = (masked: string) => l10n.t('A model can repeat it ({0}).', masked);

/** Roles of a tool's result. */
const RESULTS: readonly string[] = ['tool', 'function', 'observation', 'tool_response', 'ipython'];

/** Says whether a result or a call is alone. */
const aloneName = (role: string) =>
  RESULTS.includes(role) ? l10n.t('Tool result without a call') : l10n.t('Tool call without a result');

/** Text for a missing field of a pair, where the other field determined the row's format. */
const missing = (field: string, format: Format): ProblemText => [
  l10n.t('Missing “{0}”', field),
  '',
  () => l10n.t('Field “{0}” is missing; treated as {1}', field, FORMAT_NAMES[format]),
];

/** Name, advice, and a text that replaces the name in sentences, for one problem or all; `detail` comes from the check. */
type ProblemText = readonly [
  name: string,
  advice: string | ((detail: string) => string),
  fullName?: (detail: string, isOne: boolean) => string | undefined,
];
const PROBLEMS: Readonly<Record<ProblemCode, ProblemText>> = {
  'unexpected-character': [l10n.t('Unexpected character'), l10n.t('The row isn’t JSON.')],
  'unexpected-end': [l10n.t('Incomplete row'), l10n.t('Close the object on the same line.')],
  'unterminated-string': [l10n.t('Unterminated string'), l10n.t('Close it. A line break is \\n.')],
  'control-character': [l10n.t('Control character'), l10n.t('Escape it. A tab is \\t.')],
  'bad-escape': [l10n.t('Invalid escape sequence'), l10n.t('Use \\\\ for a backslash.')],
  'bad-number': [l10n.t('Invalid number'), l10n.t('Use a form such as 0.5 or -10.')],
  'bad-literal': [l10n.t('Invalid literal'), l10n.t('Use true, false, null or quotes.')],
  'trailing-comma': [l10n.t('Trailing comma'), REMOVE],
  'extra-value': [l10n.t('Text after the object'), l10n.t('Use one line per object.')],
  'comma-after-object': [
    l10n.t('Comma after the object'),
    l10n.t('Remove the comma at the end of the line.'),
  ],
  'typographic-quotes': [l10n.t('Typographic quotes'), l10n.t('Use straight double quotes.')],
  'single-quote': [l10n.t('Single quotes'), l10n.t('Use double quotes.')],
  'key-expected': [l10n.t('Missing key'), l10n.t('Add one in double quotes.')],
  'colon-expected': [l10n.t('Missing colon'), l10n.t('Add it after the key.')],
  'comma-expected': [l10n.t('Missing comma'), l10n.t('Add it, or escape quotes as \\".')],
  'invalid-utf8': [l10n.t('Invalid UTF-8'), l10n.t('Convert the file to JSONL.')],
  'bom-inside': [l10n.t('Byte order mark in a row'), REMOVE],
  'not-an-object': [l10n.t('Not an object'), l10n.t('Each line must be a JSON object.')],
  'blank-line': [l10n.t('Blank line'), REMOVE],
  'bom-at-start': [l10n.t('Byte order mark at the start'), l10n.t('Prepare Copy removes it.')],
  crlf: [l10n.t('CRLF line ending'), l10n.t('Use LF.')],
  'duplicate-key': [l10n.t('Duplicate key'), l10n.t('Most parsers keep the last.')],
  'lone-surrogate': [l10n.t('Unpaired surrogate'), l10n.t('The service may reject or replace it.')],
  'number-precision': [l10n.t('Number loses digits'), l10n.t('Use a string to keep them.')],
  'too-deep': [l10n.t('Nested over 512 levels'), l10n.t('Deeper duplicate keys aren’t detected.')],
  'row-too-long': [l10n.t('Row longer than 64 MiB'), l10n.t('Not checked, not even for secrets.')],
  'too-many-keys': [l10n.t('Too many keys'), l10n.t('Some may be duplicates.')],
  'unknown-format': [l10n.t('Unknown format'), l10n.t('Use messages, or prompt and completion.')],
  'different-format': [l10n.t('Different format'), l10n.t('Match most other rows.')],
  'messages-not-array': [l10n.t('Messages not an array'), AN_ARRAY],
  'conversations-not-array': [l10n.t('Conversations not an array'), AN_ARRAY],
  'messages-empty': [l10n.t('No messages'), NOTHING_TO_LEARN],
  'message-not-object': [l10n.t('Message not an object'), l10n.t('It needs a role and content.')],
  'role-missing': [l10n.t('Missing role'), l10n.t('Add one, such as user.')],
  'role-unknown': [l10n.t('Unknown role'), l10n.t('Use system, user, assistant or tool.')],
  'content-missing': [l10n.t('Missing content'), l10n.t('Add content or tool calls.')],
  'content-wrong-type': [l10n.t('Invalid content type'), l10n.t('Use a string or array.')],
  'content-empty': [l10n.t('Empty content'), NOTHING_TO_LEARN],
  weight: [l10n.t('Invalid weight'), l10n.t('Use 0 or 1, for assistant messages only.')],
  'no-assistant': [l10n.t('No assistant message'), l10n.t('Add one for the model to learn from.')],
  'weights-zero': [l10n.t('All answers have weight 0'), l10n.t('Give one a weight of 1.')],
  'last-not-assistant': [l10n.t('No final answer'), l10n.t('End with an assistant message.')],
  'starts-with-assistant': [l10n.t('Starts with the assistant'), l10n.t('Begin with a user message.')],
  'repeated-role': [
    l10n.t('Same role twice in a row'),
    l10n.t('Merge them; some trainers reject the row.'),
    (role, isOne) => (isOne ? l10n.t('Two {0} messages in a row', role) : undefined),
  ],
  'system-inside': [l10n.t('System message in the middle'), l10n.t('Move it to the start.')],
  'tool-order': [
    l10n.t('Unpaired tool call or result'),
    l10n.t('Put each result right after its call.'),
    (role, isOne) => (isOne ? aloneName(role) : undefined),
  ],
  'tool-arguments': [
    l10n.t('Tool arguments aren’t a JSON object'),
    l10n.t('Use an object or a string containing a JSON object.'),
  ],
  'prompt-missing': missing('prompt', 'prompt-completion'),
  'completion-missing': missing('completion', 'prompt-completion'),
  'instruction-missing': missing('instruction', 'instruction'),
  'output-missing': missing('output', 'instruction'),
  'question-missing': missing('question', 'question-answer'),
  'answer-missing': missing('answer', 'question-answer'),
  'chosen-missing': missing('chosen', 'preference'),
  'rejected-missing': missing('rejected', 'preference'),
  'field-wrong-type': [l10n.t('Invalid field type'), l10n.t('Use a string.')],
  'field-empty': [l10n.t('Empty field'), NOTHING_TO_LEARN],
  'same-answers': [l10n.t('Same chosen and rejected answer'), NOTHING_TO_LEARN],
  'very-long-row': [l10n.t('Very long row'), l10n.t('It may be truncated.')],
  'duplicate-row': [l10n.t('Duplicate row'), (row) => l10n.t('Identical to row {0}; it counts twice.', row)],
  'api-key': [
    l10n.t('Possible API key'),
    (masked) => l10n.t('Remove and revoke it ({0}). A model can repeat it.', masked),
  ],
  'private-key': [l10n.t('Possible private key'), l10n.t('Remove and revoke it. A model can repeat it.')],
  'email-address': [l10n.t('Possible email address'), repeats],
  'card-number': [l10n.t('Possible card number'), repeats],
  'cut-off': [
    l10n.t('Cut off'),
    l10n.t('Get the complete file.'),
    (row) => l10n.t('Cut off in row {0}', row),
  ],
};
