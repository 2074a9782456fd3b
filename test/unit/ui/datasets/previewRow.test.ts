import assert from 'node:assert/strict';
import type { PreviewProblem, PreviewRow } from '../../../../src/ui/datasets/protocol.ts';
import { Random } from '../../../helpers/random.ts';

/** The parts of a DOM node that drawing a row needs. */
class ElementStandIn {
  readonly attributes = new Map<string, string>();
  readonly children: ElementStandIn[] = [];
  readonly #name: string;
  className = '';
  #text = '';

  constructor(name: string, text = '') {
    this.#name = name;
    this.#text = text;
  }

  readonly classList = { add: (name: string) => (this.className += ` ${name}`) };

  get textContent(): string {
    return this.#text + this.children.map((child) => child.textContent).join('');
  }
  set textContent(text: string) {
    this.#text = text;
  }
  setAttribute(name: string, value: string): void {
    this.attributes.set(name, value);
  }
  addEventListener(): void {
    // These tests press no buttons.
  }
  append(...nodes: (ElementStandIn | string)[]): void {
    for (const node of nodes)
      this.children.push(typeof node === 'string' ? new ElementStandIn('#text', node) : node);
  }

  /** This element and all below it, without text nodes. */
  *elements(): Generator<ElementStandIn> {
    if (this.#name !== '#text') yield this;
    for (const child of this.children) yield* child.elements();
  }
}

type DrawRow = (row: PreviewRow, titleId: string, context: object) => ElementStandIn[];

const ROW_BYTES = 256 * 1024;

describe('drawRow', () => {
  let drawRow: DrawRow;

  before(async () => {
    Object.assign(globalThis, {
      document: {
        createElement: (name: string) => new ElementStandIn(name),
        createElementNS: (_space: string, name: string) => new ElementStandIn(name),
        createTextNode: (text: string) => new ElementStandIn('#text', text),
      },
    });
    const file = new URL('../../../../media/datasets/rowView.ts', import.meta.url).href;
    ({ drawRow } = (await import(file)) as { drawRow: DrawRow });
  });
  after(() => {
    Reflect.deleteProperty(globalThis, 'document');
  });

  interface Drawing {
    isOpen?: boolean;
    isSwitched?: boolean;
    problems?: PreviewProblem[];
  }
  function draw(text: string, more: Drawing = {}): ElementStandIn {
    const { isOpen = false, isSwitched = false, problems = [] } = more;
    const rest = { rest: undefined, problems, moreProblems: undefined };
    const row: PreviewRow = { row: 1, title: 'Row 1', text, ...rest };
    const drawn = new ElementStandIn('article');
    drawn.append(
      ...drawRow(row, 'title', {
        words: new Proxy({}, { get: (_, word) => `${String(word)} {0}` }),
        language: 'en',
        speakers: [],
        isOpen: (part: string) => (part === '/raw' ? isSwitched : isOpen),
        toggle: () => undefined,
        hasSource: false,
        onOpenSource: () => undefined,
        onGoTo: () => undefined,
      }),
    );
    return drawn;
  }
  const marksOf = (drawn: ElementStandIn) =>
    [...drawn.elements()]
      .filter(({ className }) => className === 'invisible')
      .map((mark) => {
        const label = mark.attributes.get('data-label');
        assert.equal(mark.attributes.get('aria-label'), label);
        assert.equal(mark.attributes.get('role'), 'img');
        return [mark.textContent, label];
      });
  const textsOf = (drawn: ElementStandIn) =>
    [...drawn.elements()].filter(({ className }) => /^text\b/.test(className)).map((one) => one.textContent);
  const long = (write: (index: number) => string, separator = ',') => {
    const parts: string[] = [];
    for (let bytes = 0; bytes < ROW_BYTES - 200; bytes += parts.at(-1)!.length + 1)
      parts.push(write(parts.length));
    return parts.join(separator);
  };

  const nested = (levels: number): string =>
    levels === 0
      ? '"LAST"'
      : `[{"role":"a","x":[${Array.from({ length: 38 }, () => '{"role":"b"}').join()}],"y":${nested(levels - 1)}}]`;
  const message = (more: string) => `{"messages":[{"role":"user",${more}}]}`;
  const marks = Array.from({ length: 170 }, (_, n) => `"f${n}":"${'x\u00ad'.repeat(499)}"`).join();
  for (const [what, text] of [
    ['fields', `{${long((n) => `"f${n}":1`)},"last":"LAST"}`],
    ['parts of a message', message(`"content":[${long(() => '1')},"LAST"]`)],
    ['tool calls', message(`"tool_calls":[${long(() => '{"function":{"name":"f"}}')},"LAST"]`)],
    ['messages', `{"messages":[${long(() => '{"role":"user","content":"x"}')},{"role":"LAST"}]}`],
    ['fields of a message', message(`${long((n) => `"f${n}":1`)},"z":"LAST"`)],
    ['messages in messages', `{"a":${nested(40)}}`],
    ['items of a list', `{"a":[${long(() => '1')},"LAST"]}`],
    ['fields with invisible characters', `{${marks},"z":"LAST"}`],
    ['invisible characters', JSON.stringify({ a: `${'x\u200b'.repeat(60_000)}LAST` })],
  ] as const)
    it(`draws 256 KiB of ${what} with few elements, and completely when expanded`, () => {
      const folded = [...draw(text).elements()].length;
      assert.ok(folded < 2_000, `${folded} elements`);
      const opened = draw(text, { isOpen: true });
      const count = [...opened.elements()].length;
      assert.ok(count < 10_000, `${count} elements when everything is opened`);
      assert.ok(opened.textContent.includes('LAST'));
    });

  it('draws a short row completely', () => {
    const drawn = draw(
      JSON.stringify({ messages: [{ role: 'user', content: 'hi', mood: 'good', more: [1, 2] }] }),
    );
    assert.deepEqual(textsOf(drawn), ['hi', 'good', '[\n  1,\n  2\n]']);
  });

  it('labels invisible characters with their codes and leaves the text unchanged', () => {
    for (const [text, marks] of [
      ['pay \u202ecba\u202c now', ['U+202E', 'U+202C']],
      ['zero\u200bwidth\u200b\u200b', ['U+200B', 'U+200B ×2']],
      ['a\u2066b\u2069\u061c\u200e\u200f', ['U+2066', 'U+2069 U+061C U+200E U+200F']],
      ['soft\u00adhyphen, \ufeffmark, \u3164filler', ['U+00AD', 'U+FEFF', 'U+3164']],
      ['hi\u{e0001}\u{e0069}\u{e0067}\u{e006e}\u{e006f}\u{e0072}\u{e0065}', ['U+E0001–U+E0065 ×7 “ignore”']],
      ['😀\u{fe0f}\u{e0101}\u{e0102}\u{e0103}\u{e0104}\u{e0105}', ['U+E0101–U+E0105 ×5']],
      ['bell\u0007, \u009b', ['U+0007', 'U+009B']],
      ['join\u200ded', ['U+200D']],
      // Variation selectors can hide data, so they are labeled unless they are usual after their character.
      ['1\ufe00 2\ufe01 #\ufe02', ['U+FE00', 'U+FE01', 'U+FE02']],
      ['葛\u{e0100} 葛\ufe0f 葛\ufe03 ❤\ufe0f\ufe0e', ['U+E0100', 'U+FE0F', 'U+FE03', 'U+FE0E']],
    ] as const) {
      const drawn = draw(JSON.stringify({ text }));
      assert.deepEqual(
        marksOf(drawn).map(([, label]) => label),
        marks,
        text,
      );
      assert.deepEqual(textsOf(drawn), [text]);
    }
  });

  it('labels invisible characters in names, roles, calls and raw text, too', () => {
    const calls = { tool_calls: [{ function: { name: 'f\u2060' } }] };
    const message = { role: 'us\u202eer', content: [{ type: 'im\u200bage' }], ...calls };
    const row = { 'fi\u200beld': 1, messages: [message] };
    const labels = (drawn: ElementStandIn) => marksOf(drawn).map(([, label]) => label);
    const all = labels(draw(JSON.stringify(row)));
    assert.equal(all.sort().join(' '), 'U+200B U+200B U+200B U+202E U+2060');
    assert.equal(labels(draw(JSON.stringify(row), { isSwitched: true })).length, 4);
    assert.deepEqual(labels(draw('not JSON \u202e')), ['U+202E']);
  });

  it('does not label emoji, joiners that shape letters, usual variants or line ends', () => {
    for (const text of [
      '👩‍💻 and ❤️‍🔥 and 👍🏽 and 🏳️‍🌈 and 1️⃣',
      'می\u200cخواهم',
      'क्\u200dष',
      '芽\ufe00',
      'a\r\n\tb\u00a0c é ñ ü “q” – — …',
    ])
      assert.deepEqual(marksOf(draw(JSON.stringify({ text }))), [], text);
  });

  /** Problems with secrets at each occurrence of some texts in a row. */
  const secretsIn = (row: string, ...secrets: string[]): PreviewProblem[] =>
    secrets.flatMap((secret) =>
      [...row.matchAll(new RegExp(secret.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'), 'g'))].map(
        ({ index: at }) => ({
          ...{
            severity: 'warning',
            text: 'Secret.',
            place: 'line 1',
            excerpt: undefined,
            repeats: undefined,
          },
          ...{ at, length: secret.length, mark: 'Possible key' },
        }),
      ),
    );
  /** The marked texts in an element, and the parts that are marked completely. */
  const secretMarks = (drawn: ElementStandIn) =>
    [...drawn.elements()]
      .filter(({ className }) => /\b(secret|marked)\b/.test(className))
      .map((one) => (one.className === 'secret' ? one.textContent : `(${one.textContent})`));
  const turnsIn = (drawn: ElementStandIn) =>
    [...drawn.elements()].filter(({ className }) => className === 'turn').map(secretMarks);

  const KEY = 'sk-abcdefghij0123456789';
  const turn = (content: string) => ({ role: 'user', content });
  for (const [what, row, secret, expected, opened = expected] of [
    [
      'in the text of its message',
      { messages: [turn('a'), turn(`\n"${KEY}" é`)] },
      KEY,
      [[], [`Possible key: ${KEY}`]],
    ],
    [
      'each time it occurs',
      { id: 7, messages: [turn(`${KEY} ${KEY}`), turn(KEY)] },
      KEY,
      [[`Possible key: ${KEY}`, `Possible key: ${KEY}`], [`Possible key: ${KEY}`]],
    ],
    [
      'on its message if it is folded away',
      { messages: [turn(KEY), turn('x'.repeat(2_000) + KEY)] },
      KEY,
      [[`Possible key: ${KEY}`], ['(Possible key)']],
      [[`Possible key: ${KEY}`], [`Possible key: ${KEY}`]],
    ],
    [
      'on its message if the row spells it with escapes',
      { messages: [turn('a'), turn('a/b')] },
      'a\\/b',
      [[], ['(Possible key)']],
    ],
    [
      'in arguments of a tool, and in other fields of a message',
      {
        messages: [
          { role: 'assistant', tool_calls: [{ function: { name: 'f', arguments: `{"k":"${KEY}"}` } }] },
          { ...turn('a'), name: KEY },
        ],
      },
      KEY,
      [[`Possible key: ${KEY}`], [`Possible key: ${KEY}`]],
    ],
    [
      'on the message whose field has it as a name',
      { messages: [turn('a'), { ...turn('b'), [KEY]: 1 }] },
      KEY,
      [[], ['(Possible key)']],
    ],
  ] as const)
    it(`marks a secret ${what}`, () => {
      const json = JSON.stringify(row).replace('a/b', 'a\\/b');
      const problems = secretsIn(json, secret);
      assert.ok(problems.length > 0);
      assert.deepEqual(turnsIn(draw(json, { problems })), expected);
      assert.deepEqual(turnsIn(draw(json, { problems, isOpen: true })), opened);
    });

  it('marks a secret in fields, numbers and lists, and on a list of messages that is folded', () => {
    const card = '4012888888881881';
    const json = `{"a":{"b":["${KEY}"]},"n":${card},"t":[${'{"role":"user","content":"x"},'.repeat(14)}{"role":"user","content":"sk-2"}]}`;
    const drawn = draw(json, { problems: secretsIn(json, KEY, card, 'sk-2') });
    assert.deepEqual(secretMarks(drawn), [`Possible key: ${KEY}`, `Possible key: ${card}`, '(Possible key)']);
    const only = `{"t":[${'{"role":"user","content":"x"},'.repeat(14)}{"role":"user","content":"sk-2"}]}`;
    assert.deepEqual(secretMarks(draw(only, { problems: secretsIn(only, 'sk-2') })), ['(Possible key)']);
  });

  it('marks a secret in the message that has it, whatever surrounds it', () => {
    const random = new Random(21);
    const piece = () =>
      random.of(['a', ' ', '"', '\\', '\n', '{', '}', '[', ']', ',', ':', 'é', '😀', '\u2028']);
    const text = () => random.several(8, piece).join('');
    for (let times = 0; times < 300; times++) {
      const messages = Array.from({ length: 1 + random.below(6) }, () => ({
        role: 'user',
        [text()]: random.of([1, [text()], { [text()]: text() }]),
        content: text(),
      }));
      const at = random.below(messages.length);
      messages[at]!.content += `${KEY} ${text()}`;
      const row = { [text()]: text(), 'a,[': [text(), { [text()]: 1 }], messages, [text()]: text() };
      const json = JSON.stringify(row);
      const drawn = draw(json, { problems: secretsIn(json, KEY) });
      assert.deepEqual(
        turnsIn(drawn),
        messages.map((_, index) => (index === at ? [`Possible key: ${KEY}`] : [])),
        json,
      );
      const escaped = json.replace(KEY, '\\u0073k-x');
      assert.deepEqual(
        turnsIn(draw(escaped, { problems: secretsIn(escaped, '\\u0073k-x') })),
        messages.map((_, index) => (index === at ? ['(Possible key)'] : [])),
        json,
      );
    }
  });

  it('marks hundreds of thousands of secrets with few elements', () => {
    const json = JSON.stringify({ a: `${KEY} `.repeat(10_000) });
    const drawn = draw(json, { problems: secretsIn(json, KEY).slice(0, 20), isOpen: true });
    assert.ok([...drawn.elements()].length < 2_000);
    assert.ok(drawn.textContent.includes(`${KEY} `.repeat(9_000)));
  });
});
