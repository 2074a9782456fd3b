import { l10n } from 'vscode';
import type { Problem, ProblemClass, ProblemCode } from '../../core/datasets/problems.ts';
import type { Summary } from '../../core/datasets/report.ts';
import { counted, sizePhrase, verdictLine, verdictPhrase, privacyPhrase } from '../shared/datasetMessages.ts';
import { formatCount } from '../shared/format.ts';

/** For the command that checks datasets. */
export const checkMessages = {
  checkingSeveral: (count: number) => l10n.t('Checking {0} datasets', formatCount(count)),
  preview: () => l10n.t('Preview'),
  submit: () => l10n.t('Submit…'),
  /** @param isDirty whether an editor has changes that are not in the checked file */
  verdict: (name: string, summary: Summary, isDirty: boolean): string => {
    const size = sizePhrase(summary.sizeBytes);
    const phrase = verdictPhrase(summary);
    const privacy = privacyPhrase(summary);
    return [
      l10n.t('{0}: {1}.', name, size === undefined ? phrase : `${phrase}, ${size}`),
      ...(privacy === undefined ? [] : [l10n.t('Includes {0}.', privacy)]),
      ...(isDirty ? [l10n.t('Unsaved changes were not checked.')] : []),
    ].join(' ');
  },
  verdicts: (summaries: readonly Summary[], failed: number): string => {
    const count = (verdict: Summary['verdict']) => summaries.filter((one) => one.verdict === verdict).length;
    const parts = [
      [count('errors'), (n: string) => l10n.t('{0} with errors', n)],
      [count('warnings'), (n: string) => l10n.t('{0} with warnings', n)],
      [count('clean'), (n: string) => l10n.t('{0} without problems', n)],
      [failed, (n: string) => l10n.t('{0} not checked', n)],
    ] as const;
    const found = parts.filter(([n]) => n > 0).map(([n, phrase]) => phrase(formatCount(n)));
    return summaries.length === 1
      ? l10n.t('1 dataset checked: {0}.', found.join(', '))
      : l10n.t('{0} datasets checked: {1}.', formatCount(summaries.length), found.join(', '));
  },
};

/** The language status of a JSONL document, and the CodeLenses above its first line. */
export interface DatasetStatus {
  name: string;
  text: string;
  detail: string;
  /** What a click does. */
  action: string;
  lens: { verdict: string; preview: string; submit: string };
}

/** @param isDirty whether the editor has changes that are not in the checked file */
export function datasetStatus(
  summary: Summary | undefined,
  isBusy: boolean,
  isDirty: boolean,
): DatasetStatus {
  const detail = isDirty && summary !== undefined ? l10n.t('as saved') : '';
  const check = summary === undefined ? l10n.t('Check Dataset') : l10n.t('Check Again');
  const verdict = isBusy ? l10n.t('Checking the dataset…') : summary && verdictLine(summary);
  return {
    name: l10n.t('Dataset Check'),
    text: verdict ?? l10n.t('Dataset not checked'),
    detail,
    action: summary === undefined || summary.verdict === 'clean' ? check : l10n.t('Show Problems'),
    lens: {
      verdict: [verdict ?? check, ...(detail === '' || isBusy ? [] : [detail])].join(' · '),
      preview: checkMessages.preview(),
      submit: checkMessages.submit(),
    },
  };
}

/** What quick fixes are called. */
export const fixMessages = {
  removeBlankLine: () => l10n.t('Remove blank line'),
  removeBlankLines: () => l10n.t('Remove all blank lines'),
  removeBom: () => l10n.t('Remove byte order mark'),
  removeBoms: () => l10n.t('Remove byte order marks from all rows'),
  removeDuplicates: () => l10n.t('Remove all duplicate rows (keep the first of each)'),
  lineFeeds: () => l10n.t('Change all line endings to LF'),
  convertArray: () => l10n.t('Convert JSON array to a new JSONL file'),
  withoutBom: () => l10n.t('Save a copy without the byte order mark'),
};

/** For the commands that write a changed copy. */
export const rewriteMessages = {
  title: (name: string) => l10n.t('Writing a copy of {0}', name),
  created: (newName: string, name: string) => l10n.t('Created {0}. {1} is unchanged.', newName, name),
  notAnArray: (name: string) =>
    l10n.t(
      '{0} is not a complete JSON array, or has a line break inside a string. Nothing was written.',
      name,
    ),
  notWritten: (name: string) =>
    l10n.t('Couldn’t write a copy of {0}. Check the folder’s permissions and free space.', name),
};

/** What the Problems panel leaves out. */
export function moreSentence(shown: number, hiddenErrors: number, hiddenWarnings: number): string {
  const hidden = [
    ...counted(hiddenErrors, l10n.t('1 more error'), l10n.t('{0} more errors', formatCount(hiddenErrors))),
    ...counted(
      hiddenWarnings,
      l10n.t('1 more warning'),
      l10n.t('{0} more warnings', formatCount(hiddenWarnings)),
    ),
  ].join(', ');
  return l10n.t(
    'Only {0} problems are listed here ({1}). The preview shows more.',
    formatCount(shown),
    hidden,
  );
}

/** What a class of problems is called where they are counted. */
export function problemClassName(problemClass: ProblemClass): string {
  return CLASSES[problemClass];
}

/** What one kind of problem is called where it is counted. */
export function problemName(code: ProblemCode): string {
  return PROBLEMS[code][0];
}

/** The problem, with its effect or what to do; never text of the row. Privacy problems quote the masked text. */
export function problemSentence({ code, detail }: Pick<Problem, 'code' | 'detail'>): string {
  const [name, advice] = PROBLEMS[code];
  return `${name}. ${typeof advice === 'string' ? advice : advice(detail ?? '')}`;
}

const CLASSES: Readonly<Record<ProblemClass, string>> = {
  grammar: l10n.t('JSON syntax'),
  encoding: l10n.t('Encoding'),
  lines: l10n.t('Lines'),
  values: l10n.t('Values'),
  shape: l10n.t('Structure'),
  duplicates: l10n.t('Duplicates'),
  privacy: l10n.t('Privacy'),
};

const NOTHING_TO_LEARN = l10n.t('The model has nothing to learn from it.');

/** Name and advice; `detail` is what the check says of this one place. */
const PROBLEMS: Readonly<Record<ProblemCode, readonly [string, string | ((detail: string) => string)]>> = {
  'unexpected-character': [l10n.t('Unexpected character'), l10n.t('The row is not valid JSON.')],
  'unexpected-end': [l10n.t('Incomplete row'), l10n.t('Each line must hold a complete JSON object.')],
  'unterminated-string': [
    l10n.t('Unterminated string'),
    l10n.t('Add the closing quote; write a line break in a string as \\n.'),
  ],
  'control-character': [l10n.t('Control character in a string'), l10n.t('Escape it, such as \\t for a tab.')],
  'bad-escape': [l10n.t('Invalid escape sequence'), l10n.t('Use \\\\ for a backslash.')],
  'bad-number': [
    l10n.t('Invalid number'),
    l10n.t('JSON allows no plus sign and no leading zeros, and needs digits on both sides of a point.'),
  ],
  'bad-literal': [
    l10n.t('Invalid literal'),
    l10n.t('Only true, false and null need no quotes; NaN, None and True are not JSON.'),
  ],
  'trailing-comma': [l10n.t('Trailing comma'), l10n.t('Remove it: JSON allows none before a bracket.')],
  'extra-value': [l10n.t('Text after the object'), l10n.t('Put each object on its own line.')],
  'single-quote': [l10n.t('Single quotes'), l10n.t('JSON needs double quotes.')],
  'key-expected': [l10n.t('Missing key'), l10n.t('Add a key in double quotes.')],
  'colon-expected': [l10n.t('Missing colon'), l10n.t('Add it between the key and its value.')],
  'comma-expected': [l10n.t('Missing comma'), l10n.t('Add a comma or a closing bracket.')],
  'invalid-utf8': [l10n.t('Invalid UTF-8'), l10n.t('Save the file as UTF-8.')],
  'bom-inside': [l10n.t('Byte order mark inside the file'), l10n.t('Remove it: it breaks the row.')],
  'not-an-object': [l10n.t('Not an object'), l10n.t('Each line must be a JSON object.')],
  'blank-line': [l10n.t('Blank line'), l10n.t('Remove it: some readers reject it.')],
  'bom-at-start': [
    l10n.t('Byte order mark at the start'),
    l10n.t('Some readers take it for part of the first row: save the file as “UTF-8”.'),
  ],
  crlf: [
    l10n.t('CRLF line ending'),
    (lines) =>
      lines === '' || lines === '1'
        ? l10n.t('Most readers accept it, but JSON Lines uses LF.')
        : l10n.t(
            'Found on {0} lines. Most readers accept it, but JSON Lines uses LF.',
            formatCount(Number(lines)),
          ),
  ],
  'duplicate-key': [l10n.t('Duplicate key'), l10n.t('Most parsers keep only the last value.')],
  'lone-surrogate': [
    l10n.t('Unpaired surrogate'),
    l10n.t('The service may reject or replace this \\u escape.'),
  ],
  'number-precision': [
    l10n.t('Number with too many digits'),
    l10n.t('Most parsers round it. If every digit matters, use a string.'),
  ],
  'too-deep': [
    l10n.t('Nested more than 512 levels'),
    l10n.t('Deeper levels are not checked for duplicate keys.'),
  ],
  'row-too-long': [l10n.t('Row longer than 64 MiB'), l10n.t('It is not checked, not even for secrets.')],
  'too-many-keys': [l10n.t('Too many keys'), l10n.t('Duplicate keys may go unnoticed.')],
  'unknown-format': [
    l10n.t('Unknown format'),
    l10n.t('The row has no training format such as chat or question/answer and may be ignored.'),
  ],
  'different-format': [l10n.t('Different format'), l10n.t('Rows unlike the majority may be ignored.')],
  'messages-not-array': [l10n.t('Messages are not an array'), l10n.t('Use an array of message objects.')],
  'messages-empty': [l10n.t('No messages'), NOTHING_TO_LEARN],
  'message-not-object': [l10n.t('Message is not an object'), l10n.t('It must have a role and content.')],
  'role-missing': [l10n.t('Missing role'), l10n.t('Add who says this message.')],
  'role-unknown': [l10n.t('Unknown role'), l10n.t('Common roles are system, user, assistant and tool.')],
  'content-missing': [l10n.t('Missing content'), l10n.t('The message has neither content nor tool calls.')],
  'content-wrong-type': [l10n.t('Invalid content type'), l10n.t('Use a string or an array of parts.')],
  'content-empty': [l10n.t('Empty content'), NOTHING_TO_LEARN],
  'no-assistant': [l10n.t('No assistant message'), l10n.t('The model learns from the assistant’s answers.')],
  'last-not-assistant': [
    l10n.t('Last message not from the assistant'),
    l10n.t('It has no answer to learn from.'),
  ],
  'field-missing': [l10n.t('Missing field'), l10n.t('Rows of this format need it.')],
  'field-wrong-type': [l10n.t('Field is not a string'), l10n.t('Rows of this format need a string here.')],
  'field-empty': [l10n.t('Empty field'), NOTHING_TO_LEARN],
  'very-long-row': [
    l10n.t('Very long row'),
    l10n.t('What exceeds the model’s context is cut, often silently.'),
  ],
  'duplicate-row': [
    l10n.t('Duplicate row'),
    (row) => l10n.t('Identical to row {0}; it counts twice in training.', row),
  ],
  'api-key': [
    l10n.t('Possible API key'),
    (masked) => l10n.t('Remove it and revoke the API key ({0}): a model can repeat it.', masked),
  ],
  'private-key': [
    l10n.t('Possible private key'),
    l10n.t('Remove it and replace the key: a model can repeat it.'),
  ],
  'email-address': [
    l10n.t('Possible email address'),
    (masked) => l10n.t('A model can repeat it ({0}).', masked),
  ],
  'card-number': [
    l10n.t('Possible payment card number'),
    (masked) => l10n.t('A model can repeat it ({0}).', masked),
  ],
};
