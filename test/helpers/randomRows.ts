// Rows for tests that compare: JSON with everything that is rare in it, and such rows with some bytes changed.
import type { Random } from './random.ts';

const PIECES = [
  ...[
    'a',
    'the answer ',
    'é',
    'ß',
    '模型',
    'Привет',
    '😀',
    '👩‍💻',
    '\u2028',
    '\u2029',
    '\u0085',
    '\ufeff',
    '\u007f',
    '{',
    '}',
    '[',
    ']',
    ',',
  ],
  ...[
    '\\n',
    '\\"',
    '\\\\',
    '\\/',
    '\\u00e9',
    '\\uD83D\\uDE00',
    '\\ud800',
    '\\udc00',
    '\\u0000',
    '\\t',
    '\\u0061',
    ' ',
    "'",
    'service_',
  ],
];
const KEYS = [
  'a',
  'b',
  '\\u0061',
  '\\u0062',
  'é',
  '\\u00e9',
  '\\u00E9',
  '',
  '__proto__',
  'messages',
  'text',
  'prompt',
  '😀',
  '\\ud83d\\ude00',
  '\\ud83d',
  '\\/',
  '/',
];
const NUMBERS = [
  ...[
    '0',
    '-0',
    '1',
    '10',
    '-12.5',
    '0.1',
    '1e5',
    '1E+5',
    '1e-5',
    '9007199254740991',
    '9007199254740992',
    '9007199254740993',
  ],
  ...[
    '12345678901234567890',
    '18014398509481984',
    '100000000000000000000000',
    '1e23',
    '6.02214076e23',
    '1e308',
    '1e309',
    '-1e400',
  ],
  ...[
    '1.7976931348623157e308',
    '1.7976931348623158e308',
    '1.7976931348623159e308',
    '4.9e-324',
    '2e-324',
    '1e-400',
    '0e999',
    '0.0',
  ],
  ...[
    '0.1234567890123456',
    '0.12345678901234567',
    '0.123456789012345678',
    '3.14159265358979323846',
    '1.0000000000000000000',
    '123456789012345.50',
  ],
  ...['9007199254740993.0', '1152921504606846976', '0.1e1', '100e-2', '0.000000000000000000001'],
];
const SPACES = ['', '', '', '', ' ', '  ', '\t', '\r', ' \r '];

/** A JSON text of up to some depth. */
export function randomJson(random: Random, depth = 4): string {
  const space = () => random.of(SPACES);
  const string = () => `"${random.several(random.chance(0.1) ? 40 : 6, () => random.of(PIECES)).join('')}"`;
  const value = (left: number): string => {
    const kind = random.below(left > 0 ? 6 : 4);
    if (kind === 0) return random.of(['true', 'false', 'null']);
    if (kind === 1) return random.chance(0.7) ? random.of(NUMBERS) : randomNumber(random);
    if (kind < 4) return string();
    const members = random.several(4, () => {
      const key = kind === 4 ? `${space()}"${random.of(KEYS)}"${space()}:` : '';
      return `${key}${space()}${value(left - 1)}${space()}`;
    });
    return kind === 4 ? `{${members.join(',') || space()}}` : `[${members.join(',') || space()}]`;
  };
  return `${space()}${random.chance(0.9) ? `{"messages":${value(depth)},"n":${value(depth)}}` : value(depth)}${space()}`;
}

function randomNumber(random: Random): string {
  const digits = (most: number) =>
    Array.from({ length: 1 + random.below(most) }, () => random.below(10)).join('');
  const integer = digits(24).replace(/^0+(?=\d)/, '');
  const fraction = random.chance(0.4) ? `.${digits(20)}` : '';
  const exponent = random.chance(0.3) ? `e${random.of(['', '-', '+'])}${random.below(400)}` : '';
  return `${random.chance(0.3) ? '-' : ''}${integer}${fraction}${exponent}`;
}

const INSERTED = [
  [0xc0, 0xaf],
  [0xe2, 0x82],
  [0xed, 0xa0, 0x80],
  [0xf0, 0x9f, 0x98],
  [0xf0, 0x80, 0x80, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0xff],
  [0x80],
  [0xef, 0xbb, 0xbf],
  [0],
  [9],
  [0x0d],
  [0x22],
  [0x5c],
  [0x2c],
  [0x7b],
  [0x7d],
  [0x5b],
  [0x5d],
  [0x3a],
  [0x27],
  [0x31],
  [0x2e],
  [0x65],
  [0x75],
];

/** A row with some of its bytes changed, none to a line end. */
export function mutated(random: Random, row: Buffer): Buffer {
  let bytes = row;
  for (let times = 1 + random.below(3); times > 0; times--) {
    const at = random.below(bytes.length + 1);
    const changed = Buffer.from(bytes);
    switch (random.below(6)) {
      case 0:
        bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from(random.of(INSERTED)), bytes.subarray(at)]);
        break;
      case 1:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random.below(3))]);
        break;
      case 2:
        if (at < bytes.length) changed[at] = changed[at]! ^ (1 << random.below(8));
        bytes = changed;
        break;
      case 3:
        bytes = bytes.subarray(0, at);
        break;
      case 4:
        if (at + 1 < bytes.length) [changed[at], changed[at + 1]] = [bytes[at + 1]!, bytes[at]!];
        bytes = changed;
        break;
      default:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(random.below(bytes.length + 1))]);
    }
  }
  return Buffer.from(bytes.map((byte) => (byte === 0x0a ? 0x20 : byte)));
}
