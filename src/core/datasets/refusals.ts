import { MAX_PHRASE_BYTES, PHRASE_DENIAL, PHRASE_DIRECT, PHRASE_OPENING } from './scanner/codes.ts';

const CANNOT =
  'help assist provide answer do engage fulfill comply create generate write discuss support give';

/** Answers that begin so are refusals. */
const DIRECT: readonly string[] = [
  ...CANNOT.split(' ').map((verb) => `I can't ${verb}`),
  ..."I cannot|I'm unable to|I am unable to|I'm not able to|I am not able to|I won't|I will not".split('|'),
  ..."I'm not comfortable|I am not comfortable|I must decline|I have to decline|我无法|我不能".split('|'),
];

/** Answers that begin so may be refusals. */
const OPENINGS: readonly string[] = [
  ..."I'm sorry|I am sorry|Sorry|I'm so sorry|I'm really sorry|I'm very sorry|I'm afraid|I am afraid".split(
    '|',
  ),
  ...'My apologies|Apologies|I apologize|I apologise|I regret|Unfortunately|Regrettably'.split('|'),
  ..."As an AI|As a language model|As a large language model|As an artificial|I'm just an AI".split('|'),
  ..."I am just an AI|I'm an AI|I am an AI|抱歉|很抱歉|非常抱歉|对不起|不好意思|很遗憾".split('|'),
  ...'作为一个AI|作为AI|作为一名AI|作为一个人工智能|作为人工智能|作为一个语言模型|作为语言模型'.split('|'),
];

/** If one of these follows soon, they are. */
const DENIALS: readonly string[] = [
  ..."can't|cannot|unable|not able to|don't have|do not have|won't|will not|couldn't|don't know".split('|'),
  ..."isn't possible|not possible|not appropriate|无法|不能|没有|不会|不可以|不支持|不具备".split('|'),
];

/** Encodes the phrases for the scanner (`scanner/refusals.ts`), and with what they begin. */
export function encodePhrases(): Record<'phrases' | 'firsts', Uint8Array> {
  // White space and escapes may come first.
  const firsts = new Uint8Array(256).fill(1, 0, 0x21);
  firsts[0x5c] = 1;
  const entry = (kind: number) => (phrase: string) => {
    const bytes = normalized(phrase);
    return Buffer.concat([Uint8Array.of(kind, bytes.length), bytes]);
  };
  for (const phrase of [...DIRECT, ...OPENINGS]) {
    const [first = 0, second = 0, third = 0] = normalized(phrase);
    for (const byte of [first, Buffer.from(phrase)[0] ?? 0]) firsts[byte] = (firsts[byte] ?? 0) | 1;
    // An apostrophe may begin with the first two bytes of ’.
    const further = second === 0x27 ? [second | (third << 8), 0x80e2] : [second | (third << 8)];
    for (const two of further) {
      const hash = Math.imul(first | (two << 8), 0x9e3779b1) >>> 24;
      firsts[hash] = (firsts[hash] ?? 0) | 2;
    }
  }
  const phrases = Buffer.concat([
    ...DIRECT.map(entry(PHRASE_DIRECT)),
    ...OPENINGS.map(entry(PHRASE_OPENING)),
    ...DENIALS.map(entry(PHRASE_DENIAL)),
  ]);
  if (phrases.length >= MAX_PHRASE_BYTES) throw new RangeError('too many phrases for the scanner');
  return { phrases, firsts };
}

function normalized(phrase: string): Buffer {
  return Buffer.from(phrase.replaceAll(' ', '').toLowerCase());
}
