import { l10n } from 'vscode';
import type { Problem, ProblemCode } from '../../core/datasets/problems.ts';
import { formatCount } from '../shared/format.ts';

/**
 * What is wrong, why it matters or what to do; never text of the row. Privacy problems quote what was masked; CR LF tells
 * how many lines have it, if that is its detail.
 */
export function problemSentence({ code, detail }: Pick<Problem, 'code' | 'detail'>): string {
  return SENTENCES[code](detail ?? '');
}

const SENTENCES: Readonly<Record<ProblemCode, (detail: string) => string>> = {
  'unexpected-character': () =>
    l10n.t('This character cannot stand here in JSON. The row cannot be read: correct or remove it.'),
  'unexpected-end': () =>
    l10n.t('The row ends in the middle of its JSON. Each row must be whole, on one line: complete it.'),
  'unterminated-string': () =>
    l10n.t('This text has no closing quote on its line. Close it; a line break inside it is written as \\n.'),
  'control-character': () =>
    l10n.t('A control character inside a text. JSON wants it escaped: a tab, for example, as \\t.'),
  'bad-escape': () =>
    l10n.t('After this backslash comes no escape that JSON knows. A backslash itself is written as \\\\.'),
  'bad-number': () =>
    l10n.t(
      'Not a number as JSON writes it: no plus sign, no leading zeros, digits on both sides of a point.',
    ),
  'bad-literal': () =>
    l10n.t('Only true, false and null stand without quotes. NaN, None, True and the like are not JSON.'),
  'trailing-comma': () => l10n.t('A comma before a closing bracket. JSON allows none there: remove it.'),
  'extra-value': () =>
    l10n.t('Something follows the end of the row. Each line holds one object: put it on a line of its own.'),
  'single-quote': () => l10n.t('Single quotes. JSON wants double quotes around keys and texts.'),
  'key-expected': () => l10n.t('A key in double quotes is missing here.'),
  'colon-expected': () => l10n.t('A colon between a key and its value is missing here.'),
  'comma-expected': () => l10n.t('A comma or a closing bracket is missing here.'),
  'invalid-utf8': () =>
    l10n.t('Bytes that are no UTF-8: another encoding, or a character cut in two. Save the file as UTF-8.'),
  'bom-inside': () =>
    l10n.t('A byte order mark inside the file, as when files are joined. It breaks the row: remove it.'),
  'not-an-object': () =>
    l10n.t('The row is JSON, but no object. A row begins with a brace and ends with one.'),
  'blank-line': () => l10n.t('A blank line. Some readers take it for a broken row: remove it.'),
  'bom-at-start': () =>
    l10n.t(
      'The file begins with a byte order mark. Some readers take it for a part of the first row: save the file as “UTF-8”.',
    ),
  crlf: (lines) =>
    lines === '' || lines === '1'
      ? l10n.t('The line ends with CR LF, as on Windows. Most readers take it, but JSON Lines asks for LF.')
      : l10n.t(
          '{0} lines end with CR LF, as on Windows. Most readers take it, but JSON Lines asks for LF.',
          formatCount(Number(lines)),
        ),
  'duplicate-key': () =>
    l10n.t('This key stands in the object already. Readers keep only one of the values, mostly the last.'),
  'lone-surrogate': () =>
    l10n.t(
      'Half of a character: an unpaired \\u escape. It is no valid text, and may be refused or replaced.',
    ),
  'number-precision': () =>
    l10n.t('A number with more digits than most readers keep. If each digit matters, write it as a text.'),
  'too-deep': () =>
    l10n.t('Brackets are nested more than 512 deep. Repeated keys are not looked for further inside.'),
  'row-too-long': () =>
    l10n.t('The row is longer than 64 MiB. It is not checked, and no secrets are looked for in it.'),
  'too-many-keys': () =>
    l10n.t('More keys than are compared with each other. Repeated ones may go unnoticed.'),
  'unknown-format': () =>
    l10n.t('The row has no known format, such as chat or question/answer. It may not be used in training.'),
  'different-format': () =>
    l10n.t('The row has another format than most rows. Keep to one format: the others may be left out.'),
  'messages-not-array': () => l10n.t('The conversation is no list. It has to be a list of turns.'),
  'messages-empty': () =>
    l10n.t('The conversation has no turns. There is nothing to learn from it: remove the row.'),
  'message-not-object': () => l10n.t('This turn is no object. A turn has a role and content.'),
  'role-missing': () => l10n.t('This turn does not say who speaks: its role is missing.'),
  'role-unknown': () => l10n.t('An unusual role. Usual are system, user, assistant and tool.'),
  'content-missing': () => l10n.t('This turn has neither content nor tool calls.'),
  'content-wrong-type': () => l10n.t('The content of this turn is neither a text nor a list of parts.'),
  'content-empty': () => l10n.t('The content of this turn is empty. There is nothing to learn from it.'),
  'no-assistant': () => l10n.t('No turn is the assistant’s. The model learns from its answers: add one.'),
  'last-not-assistant': () => l10n.t('The last turn is not the assistant’s. It has no answer to learn from.'),
  'field-missing': () => l10n.t('A field that rows of this format have is missing.'),
  'field-wrong-type': () => l10n.t('This field is no text, as rows of this format have it.'),
  'field-empty': () => l10n.t('This field is empty. There is nothing to learn from it.'),
  'very-long-row': () =>
    l10n.t('A very long row. Training cuts what is longer than the model’s context, often silently.'),
  'duplicate-row': (row) =>
    l10n.t(
      'The same as row {0}, byte for byte. A repeated row weighs more: remove it unless that is meant.',
      row,
    ),
  'api-key': (masked) =>
    l10n.t(
      'This looks like an API key ({0}). A model can repeat what it learned. Remove it, and revoke the API key.',
      masked,
    ),
  'private-key': () =>
    l10n.t(
      'This looks like a private key. A model can repeat what it learned. Remove it, and replace the key.',
    ),
  'email-address': (masked) =>
    l10n.t('This looks like an e-mail address ({0}). A model can repeat what it learned.', masked),
  'card-number': (masked) =>
    l10n.t('This looks like a payment card number ({0}). A model can repeat what it learned.', masked),
};
