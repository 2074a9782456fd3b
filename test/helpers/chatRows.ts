import { Random } from './random.ts';

/** A row's bytes without the line end, and its fault, if any: the class of problem that a check must find. */
export interface ChatRow {
  bytes: Buffer;
  fault?: { kind: string; expected: 'json' | 'utf8' | 'warning' | 'shape' | 'blank' };
}

const WORDS =
  'the of and to in is that for with as it on model data train value function return error request server field token string number array object update explain code example result because however question answer user python const await async import export class select where order'.split(
    ' ',
  );
const FOREIGN = 'Привет модель 训练数据 日本語 한국어 café naïve 😀 👩‍💻 € — “quoted” مرحبا नमस्ते 𝒳 ß'.split(
  ' ',
);
/** Produces about one backslash per 60 bytes of JSON. */
const SEPARATORS = [
  ...Array<string>(14).fill(' '),
  ...[', ', '. ', ': ', ' (', ') ', '; '],
  ...['\n', '\n\n- ', ' "', '" ', '\t'],
];
const SYSTEM = 'You are a senior software engineer. Answer briefly.';

const bytesOf = (text: string) => Buffer.from(text);
/** Inserts bytes at the start of a row's first content. */
const inText = (row: Buffer, bytes: Buffer) => {
  const at = row.indexOf('"content":"') + 11;
  return Buffer.concat([row.subarray(0, at), bytes, row.subarray(at)]);
};
type Damage = (row: Buffer, random: Random) => Buffer;
const into =
  (...bytes: number[]): Damage =>
  (row) =>
    inText(row, Buffer.from(bytes));
const instead =
  (text: string): Damage =>
  () =>
    bytesOf(text);

const FAULTS: readonly (readonly [string, NonNullable<ChatRow['fault']>['expected'], Damage])[] = [
  ['truncated', 'json', (row, random) => row.subarray(0, row.length - 1 - random.below(20))],
  ['trailing comma', 'json', (row) => Buffer.concat([row.subarray(0, -1), bytesOf(',}')])],
  ['single quotes', 'json', instead("{'messages':[]}")],
  ['bare word', 'json', instead('{"messages":NaN}')],
  ['control character', 'json', into(0x09)],
  ['NUL', 'json', into(0x00)],
  ['bad escape', 'json', (row) => inText(row, bytesOf('\\x41'))],
  ['two values', 'json', (row) => Buffer.concat([row, bytesOf(' {}')])],
  ['byte order mark inside', 'json', (row) => Buffer.concat([bytesOf('\uFEFF'), row])],
  ['overlong form', 'utf8', into(0xc0, 0xaf)],
  ['sequence cut short', 'utf8', into(0xe2, 0x82)],
  ['surrogate', 'utf8', into(0xed, 0xa0, 0x80)],
  ['lone-surrogate', 'warning', (row) => inText(row, bytesOf('\\ud800'))],
  ['duplicate-key', 'warning', (row) => Buffer.concat([bytesOf('{"messages":[],'), row.subarray(1)])],
  ['array', 'shape', instead('[1,2,3]')],
  ['scalar', 'shape', instead('"hello"')],
  ['null', 'shape', instead('null')],
  ['no messages', 'shape', instead('{"prompt":"a","completion":"b"}')],
  ['messages not an array', 'shape', instead('{"messages":{"role":"user"}}')],
  ['content a number', 'shape', instead('{"messages":[{"role":"user","content":5}]}')],
  ['bad role', 'shape', instead('{"messages":[{"role":"bot","content":"x"}]}')],
  ['no assistant', 'shape', instead('{"messages":[{"role":"user","content":"x"}]}')],
  ['__proto__', 'shape', instead('{"__proto__":{"messages":[{"role":"assistant","content":"y"}]}}')],
  ['blank', 'blank', instead('')],
  ['blank with spaces', 'blank', instead('   ')],
];

/** Endless chat rows, determined by the seed. A few are duplicates, and a `faulty` fraction has a fault. */
export function* chatRows(seed: number, faulty = 0): Generator<ChatRow> {
  const random = new Random(seed);
  const pool = (words: readonly string[]) =>
    Array.from({ length: 200_000 }, () => random.of(words) + random.of(SEPARATORS));
  const pools = [pool(WORDS), pool([...WORDS, ...FOREIGN, ...FOREIGN])] as const;
  const text = (characters: number): string => {
    const from = random.chance(0.92) ? pools[0] : pools[1];
    let made = '';
    for (let at = random.below(from.length); made.length < characters; at++) made += from[at % from.length]!;
    return made;
  };
  // Most texts are short, a few are very long.
  const length = (exponent: number) =>
    Math.exp(exponent + random.fraction() + random.fraction() * random.fraction() * 3);
  const sound = (): Buffer => {
    const messages = random.chance(0.6) ? [{ role: 'system', content: SYSTEM }] : [];
    for (let turns = random.chance(0.75) ? 1 : 1 + random.below(6); turns > 0; turns--)
      messages.push(
        { role: 'user', content: text(length(4)) },
        { role: 'assistant', content: text(length(5)) },
      );
    return bytesOf(JSON.stringify({ messages }));
  };
  let repeated = sound();
  for (;;) {
    if (random.chance(0.01)) repeated = sound();
    const row = random.chance(0.002) ? repeated : sound();
    if (random.chance(1 - faulty)) {
      yield { bytes: row };
      continue;
    }
    const [kind, expected, damage] = random.of(FAULTS);
    yield { bytes: damage(row, random), fault: { kind, expected } };
  }
}
