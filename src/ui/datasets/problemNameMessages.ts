import { l10n } from 'vscode';
import type { ProblemClass, ProblemCode } from '../../core/datasets/problems.ts';

/** What a class of problems is called where they are counted. */
export function problemClassName(problemClass: ProblemClass): string {
  switch (problemClass) {
    case 'grammar':
      return l10n.t('JSON grammar');
    case 'encoding':
      return l10n.t('Encoding');
    case 'lines':
      return l10n.t('Lines');
    case 'values':
      return l10n.t('Values');
    case 'shape':
      return l10n.t('Shape');
    case 'duplicates':
      return l10n.t('Duplicates');
    case 'privacy':
      return l10n.t('Privacy');
  }
}

/** What one kind of problem is called where it is counted. */
export function problemName(code: ProblemCode): string {
  return NAMES[code]();
}

const NAMES: Readonly<Record<ProblemCode, () => string>> = {
  'unexpected-character': () => l10n.t('Unexpected character'),
  'unexpected-end': () => l10n.t('Row ends too early'),
  'unterminated-string': () => l10n.t('Text without closing quote'),
  'control-character': () => l10n.t('Control character'),
  'bad-escape': () => l10n.t('Unknown escape'),
  'bad-number': () => l10n.t('Not a JSON number'),
  'bad-literal': () => l10n.t('Unknown word'),
  'trailing-comma': () => l10n.t('Trailing comma'),
  'extra-value': () => l10n.t('Text after the row'),
  'single-quote': () => l10n.t('Single quotes'),
  'key-expected': () => l10n.t('Missing key'),
  'colon-expected': () => l10n.t('Missing colon'),
  'comma-expected': () => l10n.t('Missing comma'),
  'invalid-utf8': () => l10n.t('Invalid UTF-8'),
  'bom-inside': () => l10n.t('Byte order mark inside'),
  'not-an-object': () => l10n.t('Not an object'),
  'blank-line': () => l10n.t('Blank line'),
  'bom-at-start': () => l10n.t('Byte order mark at the start'),
  crlf: () => l10n.t('CR LF line end'),
  'duplicate-key': () => l10n.t('Repeated key'),
  'lone-surrogate': () => l10n.t('Half a character'),
  'number-precision': () => l10n.t('Too many digits'),
  'too-deep': () => l10n.t('Nested too deep'),
  'row-too-long': () => l10n.t('Row too long to check'),
  'too-many-keys': () => l10n.t('Too many keys to compare'),
  'unknown-format': () => l10n.t('Unknown format'),
  'different-format': () => l10n.t('Differs from most rows'),
  'messages-not-array': () => l10n.t('Conversation is no list'),
  'messages-empty': () => l10n.t('Conversation without turns'),
  'message-not-object': () => l10n.t('Turn is no object'),
  'role-missing': () => l10n.t('Missing role'),
  'role-unknown': () => l10n.t('Unusual role'),
  'content-missing': () => l10n.t('Missing content'),
  'content-wrong-type': () => l10n.t('Content of another type'),
  'content-empty': () => l10n.t('Empty content'),
  'no-assistant': () => l10n.t('No assistant turn'),
  'last-not-assistant': () => l10n.t('Last turn not the assistant’s'),
  'field-missing': () => l10n.t('Missing field'),
  'field-wrong-type': () => l10n.t('Field is no text'),
  'field-empty': () => l10n.t('Empty field'),
  'very-long-row': () => l10n.t('Very long row'),
  'duplicate-row': () => l10n.t('Duplicate row'),
  'api-key': () => l10n.t('API key'),
  'private-key': () => l10n.t('Private key'),
  'email-address': () => l10n.t('E-mail address'),
  'card-number': () => l10n.t('Payment card number'),
};
