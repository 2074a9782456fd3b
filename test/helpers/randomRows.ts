// Random rows for comparisons: JSON with rare constructs, and such rows with some bytes changed.
import type { Random } from './random.ts';

const words = (text: string) => text.split(' ');

const PIECES = [
  ...words('a é ß 模型 Привет 😀 👩‍💻 \u2028 \u2029 \u0085 \ufeff \u007f { } [ ] ,'),
  ...words(String.raw`\n \" \\ \/ \u00e9 \uD83D\uDE00 \ud800 \udc00 \u0000 \t \u0061 ' service_`),
  ...['the answer ', ' '],
];
const KEYS = words(
  String.raw`a b \u0061 \u0062 é \u00e9 \u00E9  __proto__ messages text prompt 😀 \ud83d\ude00 \ud83d \/ /`,
);
const NUMBERS = words(
  '0 -0 1 10 -12.5 0.1 1e5 1E+5 1e-5 9007199254740991 9007199254740992 9007199254740993 ' +
    '12345678901234567890 18014398509481984 100000000000000000000000 1e23 6.02214076e23 1e308 1e309 -1e400 ' +
    '1.7976931348623157e308 1.7976931348623158e308 1.7976931348623159e308 4.9e-324 2e-324 1e-400 0e999 0.0 ' +
    '0.1234567890123456 0.12345678901234567 0.123456789012345678 3.14159265358979323846 ' +
    '1.0000000000000000000 123456789012345.50 9007199254740993.0 1152921504606846976 0.1e1 100e-2 ' +
    '0.000000000000000000001',
);
const SPACES = ['', '', '', '', ' ', '  ', '\t', '\r', ' \r '];

/** A JSON text, nested at most `depth` levels inside its top-level object. */
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

/** In hexadecimal: invalid UTF-8 sequences, a byte order mark, and bytes with a meaning in JSON. */
const INSERTED = words(
  'c0af e282 eda080 f09f98 f0808080 f4908080 ff 80 efbbbf 00 09 0d 22 5c 2c 7b 7d 5b 5d 3a 27 31 2e 65 75',
).map((bytes) => Buffer.from(bytes, 'hex'));

/** Changes some bytes of a row, none of them to a line end. */
export function mutated(random: Random, row: Buffer): Buffer {
  let bytes = row;
  for (let times = 1 + random.below(3); times > 0; times--) {
    const at = random.below(bytes.length + 1);
    const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
    const [first, second] = [after.subarray(0, 1), after.subarray(1, 2)];
    const flipped = first.map((byte) => byte ^ (1 << random.below(8)));
    const changes = [
      [before, random.of(INSERTED), after],
      [before, after.subarray(1 + random.below(3))],
      [before, flipped, after.subarray(1)],
      [before],
      [before, second, first, after.subarray(2)],
      [before, bytes.subarray(random.below(bytes.length + 1))],
    ];
    bytes = Buffer.concat(random.of(changes));
  }
  return Buffer.from(bytes.map((byte) => (byte === 0x0a ? 0x20 : byte)));
}
