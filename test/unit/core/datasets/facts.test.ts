import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CancelledError } from '../../../../src/core/base/errors.ts';
import { FACTS, isOfFinding } from '../../../../src/core/datasets/facts/table.ts';
import { textRow } from '../../../../src/core/datasets/facts/textRow.ts';
import { findingsToRead, readFacts, type FactName } from '../../../../src/core/datasets/readFacts.ts';
import { CheckError } from '../../../../src/core/datasets/report.ts';
import { CLEAN_FILES } from '../../../helpers/cleanRows.ts';
import { ESCAPING_WRITERS, escaped, written } from '../../../helpers/jsonWriters.ts';
import { a, args, c, chat, s, t, u } from '../../../helpers/messages.ts';
import { Random } from '../../../helpers/random.ts';
import { readingOf } from '../../../helpers/reading.ts';

const ask = (text: unknown, more: object = {}) => ({ ...chat(u('Go on.'), a(text)), ...more });
const LONG = 'This is what people say, and so it goes on for a while. '.repeat(5).trim();
const tool = (name: string) => ({ type: 'function', function: { name, parameters: {} } });
const many = (count: number, ...rows: object[]) => Array.from({ length: count }, () => rows).flat();

/** For each fact: files in which it is found, with the rows (from 1), and files in which it isn't. */
const TABLE: Readonly<
  Record<
    Exclude<FactName, 'withoutSystem' | 'refusals'>,
    { found: readonly [rows: object[], found: number[]][]; clean: object[][] }
  >
> = {
  templateMarks: {
    found: [
      ...[
        '<|im_start|>user\nHi<|im_end|>',
        '<|user|>\nHi<|end|>',
        '<|start|>assistant',
        'Hi<|eot_id|>',
        '<|start_header_id|>user<|end_header_id|>',
        '<｜User｜>Hi<｜Assistant｜>',
        '<|turn>user\nHi<turn|>',
        '[SYSTEM_PROMPT]Hi[/SYSTEM_PROMPT]',
        '[AVAILABLE_TOOLS]',
        '[TOOL_CALLS]f',
        '### Human: Hi### Assistant: Yes.',
        '### User:\nHi\n\n### Assistant:\n',
        'Bye</s>',
        '<s>[INST] Hi [/INST]',
        '<start_of_turn>user\nHi<end_of_turn>',
        'Text<|endoftext|>',
        '<|START_OF_TURN_TOKEN|><|USER_TOKEN|>Hi',
        '\n\nHuman: Hi\n\nAssistant:',
        '### Instruction:\nDo it.\n\n### Response:\n',
        'USER: Hi\nASSISTANT:',
      ].map((text): [object[], number[]] => [
        [{ prompt: text, completion: 'Yes.' }, chat(u(text), a('Yes.')), ask('Fine.')],
        [1, 2],
      ]),
      [
        [{ text: 'a<|im_end|>' }, { prompt: 'x', chosen: [a('y</s>')], rejected: 'n' }],
        [1, 2],
      ],
      [[{ conversations: [{ from: 'human', value: 'x' }], system: '<<SYS>>' }], [1]],
    ],
    clean: [
      [
        ask('<p><s>old</s> new</p>'),
        ask('<b>new</b> <s class="x">old</s>\n'),
        ask('x <|y|> z'),
        ask('### Human: a species'),
        ask('f <| x |> g, a < b | c > d, x<|y'),
        ask('### Response: it is quick.'),
        ask('ASSISTANT: noun. USER: noun.'),
        chat(u('The USER: a person\nwho asks'), a('ok')),
        ask('A human: who?\nHuman: me'),
        ask('Use INST] or [inst] there.'),
        ask('``<|>`` is an operator'),
      ],
    ],
  },
  messagesInText: {
    found: [
      [
        [
          { messages: JSON.stringify([u(), a()]) },
          { chosen: JSON.stringify({ messages: [u(), a()] }), rejected: 'x' },
          { prompt: '[{"role": "user", "content": "x"}]', completion: 'y' },
          { prompt: 'x', completion: '{"role":"assistant","content":"y"}' },
          { prompt: "[{'role': 'user', 'content': 'It\\'s'}]", completion: 'y' },
          { instruction: "{'messages': [{'role': 'user', 'content': \"x\"}]}", output: 'y' },
          { conversations: '[{"from":"human","value":"x"}]' },
          { prompt: '{"conversations":[{"from":"human","value":"x"}]}', completion: 'y' },
          { prompt: '[{"role":"User","content":"x"}]', completion: 'y' },
          { prompt: 'x', completion: 'y' },
        ],
        [1, 2, 3, 4, 5, 6, 7, 8, 9],
      ],
    ],
    clean: [
      [
        { prompt: 'Make JSON.', completion: '{"role":"admin","content":"y"}' },
        { prompt: '[1, 2]', completion: '{"from":"A","to":"B"}' },
        { instruction: 'Sort [{"role":"user"}]', output: '[]' },
        ask('[{"role":"user","content":"x"}]'),
        chat(u(), c(), t('{"role":"user","content":"x"}'), a()),
        { prompt: "{'role' is a key}", completion: 'y' },
      ],
    ],
  },
  emptyWords: {
    found: [
      [
        [
          { instruction: 'Name it', input: 'nan', output: 'Blue' },
          { instruction: 'Name it', input: 'NaN', output: 'Red' },
          { instruction: 'Name it', input: 'None', output: 'Green' },
          { prompt: 'x', completion: ' nan\n' },
          ask('#N/A'),
          chat(u('null'), a('What?')),
          { question: 'undefined', answer: 'y' },
          { instruction: 'Name it', input: 'N/A', output: 'Pink' },
          { prompt: '(null)', completion: 'y' },
          ...['#REF!', 'NaT', '#DIV/0!'].map((word) => ask(word)),
          { instruction: 'Name it', input: '', output: 'White' },
        ],
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
      ],
      // In other rows, it is a label.
      [[...many(20, ask('yes'), ask('no')), { prompt: 'NaN', completion: 'yes' }], [41]],
    ],
    clean: [
      [
        ask('None'),
        ask('null'),
        ask('N/A'),
        ask('undefined'),
        ask('nan is a value'),
        chat(u('Any?'), a('Which?'), u('None'), a('Fine')),
        ask('Nan'),
      ],
      many(20, ask('nan'), ask('inf')),
    ],
  },
  escapedTwice: {
    found: [
      [
        [ask('Old pond\\nA frog\\n'), ask('one'), ask('caf\\u00e9')],
        [1, 3],
      ],
      [
        [
          ask('\\n- one\\n- two'),
          ask('“Hi.”\\r\\nBye'),
          ask('\\u4e2d\\u6587'),
          ask('"Hi," he said.\\n\\n"Yes?"'),
        ],
        [1, 2, 3, 4],
      ],
      [
        [{ prompt: 'x', completion: 'a.\\n\\nB' }, ask('1\\t2')],
        [1, 2],
      ],
    ],
    clean: [
      [
        ask('$\\nabla f$ and \\neq'),
        ask('Use \\nabla here, or \\theta.'),
        ask('Print "a\\n".'),
        ask('`\\n` is LF'),
        ask('C:\\New\\u0041'),
        ask('{"a": "b\\nC"}'),
        ask('printf(a\\n)'),
      ],
      // These are code or about escapes, not escaped twice.
      ...[
        ...['Use \\n for LF.', 'The escape \\t is a tab.', 'LF is \\n, CR is \\r.', 'Twice (\\n), \\u0041'],
        ...['x = "One\\nTwo"', 'puts "A\\nB"', "cat('A\\tB')", '"A\\nB".split', 'a:\n  "A\\tB"'],
        ...['(\\r\\n|\\n)', '/\\n{2,}/', '\\u00C0-\\u017F', '(?<=\\n)\\S', 's/\\t/ /g', 'awk -F\\t x'],
        ...['\\text{a}\\n', 'xargs -d \\n'],
      ].map((text) => [ask(text)]),
      [...many(99, ask('fine')), ask('Old\\nNew')],
    ],
  },
  entities: {
    found: [
      [
        ['&bull; one', '&laquo;Oui&raquo;', '2 &times; 3', '1&frac12;', '&iquest;Y?'].map((text) =>
          ask(text),
        ),
        [1, 2, 3, 4, 5],
      ],
      [
        [ask('Fish &amp; chips'), ask('it&#39;s'), ask('fine'), ask('f&uuml;r &quot;x&quot;')],
        [1, 2, 4],
      ],
    ],
    clean: [
      [
        ask('<p>Fish &amp; chips</p>'),
        ask('AT&T; R&D;'),
        ask('In HTML, write &lt;.'),
        ask('`&amp;`'),
        chat(u('&amp;'), a('x')),
      ],
    ],
  },
  mojibake: {
    found: [
      [
        [
          ask('cafÃ© au lait'),
          ask('donâ€™t'),
          ask('Ã¼ber'),
          ask('ðŸ˜€'),
          ask('20Â°C'),
          ask('ÐŸÑ€Ð¸Ð²ÐµÑ‚'),
          ask('æ—¥æœ¬èªž'),
          chat(u('naÃ¯ve'), a('x')),
          ask('café'),
        ],
        [1, 2, 3, 4, 5, 6, 7, 8],
      ],
      [
        ['Táº¥t', '5 â‚¬', 'Itâ\u0080\u0099s', 'ð\u009f\u0098\u0080', 'РџСЂРёРІРµС‚', '縺ｮ縺吶縺ｹ'].map(
          (text) => ask(text),
        ),
        [1, 2, 3, 4, 5, 6],
      ],
    ],
    clean: [
      [
        ask('NÃO, AMANHÃ! IRMÃ»'),
        ask('A letra «Ã», “Ã” e Ã.'),
        ask('“Ñ” y “Ü”'),
        ask('“café”»'),
        ask('voilà…» à «bientôt»'),
        ask('Â l’ancienne, AMANHÃ\u00a0!'),
        ask('РСФСР, Рік, Сіль, РІСІ'),
        ask('日本語 Привет ελληνικά'),
      ],
    ],
  },
  controls: {
    found: [
      [
        [ask('a\bb'), ask('a\u0000'), ask('a\u0093b\u0094'), ask('ok'), chat(u('\u0001'), a('x'))],
        [1, 2, 3, 5],
      ],
    ],
    clean: [[ask('a\tb\nc\rd\fe\u001b[0m\u0085')]],
  },
  replacement: {
    found: [
      [
        [ask('caf\ufffd'), ask('x'), chat(u('\ufffd'), a('x'))],
        [1, 3],
      ],
    ],
    clean: [[ask('?'), ask('�'.normalize().replace('\ufffd', '□'))]],
  },
  openFences: {
    found: [
      [
        [
          ask('```python\nprint(1)\n'),
          ask('Do:\n1. x\n   ```js\n   a()\n'),
          ask('````md\n```\n'),
          ask('~~~\nx'),
          ask('```\na\n```\n```\nb'),
          ask('```\na\n```'),
        ],
        [1, 2, 3, 4, 5],
      ],
    ],
    clean: [
      [
        ask('```\na\n```\n\n```c\nb\n```'),
        ask('````md\n```js\nx\n```\n````'),
        ask('Inline ```x``` is code.'),
        ask('> ```\n> a\n> ```'),
        ask('This is it: ```python\nprint(1)\n```'),
        ask('```python\nprint(1)```\nDone.'),
        ask('- ```sh\n  ls\n  ```\n- next'),
        ask('Title\n~~~~~\ntext'),
        { prompt: 'Go on:\n```python\n', completion: 'print(1)\n```' },
        chat(u('```'), a('x')),
      ],
    ],
  },
  cutAnswers: {
    found: [
      [
        [...many(20, ask(`${LONG} Yes.`)), ask(`${LONG} And then we`), ask(`${LONG} First, it is,`)],
        [21, 22],
      ],
      [[...many(20, ask('自由と平等。'.repeat(50))), ask(`${'自由と平等。'.repeat(50)}そして`)], [21]],
    ],
    clean: [
      many(20, ask(`${LONG} #### 18`)),
      many(9, ask('short one'), ask('yes')),
      [
        ...many(20, ask(`${LONG} Yes.`)),
        ask(`${LONG}\n- one\n- two`),
        ask(`${LONG}\n\nBest regards,\nAnna`),
        ask(`${LONG} See https://example.com/a`),
        ask(`${LONG}\n| a | b`),
        ask(`${LONG} (so)`),
        ask(`${LONG} “Yes.”`),
      ],
      [
        ...many(200, ask(`${LONG} Yes.`)),
        ...[' The answer is 42', ' #so #it', ' www.example.com/a', ' See example.com/docs'].map((end) =>
          ask(LONG + end),
        ),
        ...['(a) ', 'iv) ', '→ ', '✅ ', 'Step 3: ', 'Source: ', '© ', 'Salt and flour\nPepper, '].map(
          (begin) => ask(`${LONG}\n\n${begin}one two three four five six seven eight nine ten`),
        ),
      ],
      many(20, ask('ทุกคนเกิดมามีอิสระ'.repeat(20))),
    ],
  },
  boilerplate: {
    found: [
      [
        [
          ask('As an AI language model, I like it.'),
          ask('Blue. I hope this helps!'),
          ask(`${LONG}${LONG} I hope that helps.`),
          ask('As of my last knowledge update in 2021, no.'),
          ask('Als KI-Sprachmodell kann ich das.'),
          ask('作为一个人工智能语言模型，好的。'),
          ask('Blue. If you have any other questions, feel free to ask.'),
          ...['Hope this helps!', 'As an artificial intelligence, no.', 'Als KI habe ich das nicht.'].map(
            (text) => ask(text),
          ),
          ...['En tant qu’IA, non.', 'Como um modelo de linguagem, não.', 'AIとして、'].map((text) =>
            ask(text),
          ),
          ask('Blue.'),
        ],
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13],
      ],
    ],
    clean: [
      [
        ask('As an AI therapist, I listen.'),
        ask('I hope this finds you well.'),
        ask('A language model predicts words.'),
        ask('Please let me know if you have questions about the invoice.'),
        chat(u('As an AI language model, say hi'), a('Hi')),
      ],
    ],
  },
  thinking: {
    found: [
      [[...many(3, ask('<think>a</think>b')), ask('b')], [4]],
      [[ask('<think>a</think>b'), ...many(3, ask('b'))], [1]],
      [many(2, ask('<think>\n\n</think>b')), [1, 2]],
      [[...many(2, ask('<think>a</think>b')), ask('<think>a')], [3]],
      [[...many(2, ask('<think>a</think>b')), ask('[THINK]a[/THINK]b')], [3]],
      ...[
        ...['<Thinking>a</Thinking>b', '<ns:think>a</ns:think>b', '◁think▷a◁/think▷b', 'a\n</think>\n\nb'],
        ...['<|START_THINKING|>a<|END_THINKING|>b', 'Here is my thought process: a Here is my response: b'],
        '<|begin_of_thought|>a<|end_of_thought|>b',
      ].map((text): [object[], number[]] => [[...many(2, ask('b')), ask(text)], [3]]),
      [[...many(2, chat(u(), a('b', { reasoning_content: 'a' }))), ask('b')], [3]],
      [[...many(2, ask('<|channel|>analysis<|message|>a<|end|>b')), ask('b')], [3]],
    ],
    clean: [
      many(3, ask('<think>a</think>b')),
      many(3, ask('I think, so <think> is a tag')),
      [ask('Here is my thought process: first, I look.'), ask('b'), ask('The tag </think> ends it.')],
      many(3, chat(u(), a('b', { reasoning_content: 'a' }))),
      many(2, chat(u(), a('b', { reasoning_content: '' }))),
    ],
  },
  toolArguments: {
    found: [
      [[...many(3, chat(u(), c('{}'))), chat(u(), c({}))], [4]],
      [[ask("<tool_call>\n{'name': 'f', 'arguments': {}}\n</tool_call>"), ask('x')], [1]],
      [
        ["<tool_call>[{'name': 'f'}]", "<function_call>{'name': 'f'}", "[TOOL_CALLS] [{'name': 'f'}]"].map(
          (text) => ask(text),
        ),
        [1, 2, 3],
      ],
      [
        [
          {
            conversations: [
              { from: 'human', value: 'x' },
              { from: 'function_call', value: "{'name': 'f'}" },
            ],
            tools: [tool('f')],
          },
        ],
        [1],
      ],
      [
        [chat(u(), a(null, { function_call: { name: 'f', arguments: {} } })), ...many(2, chat(u(), c('{}')))],
        [1],
      ],
    ],
    clean: [
      many(3, chat(u(), c('{}'))),
      many(3, chat(u(), c({ a: 1 }))),
      [ask('<tool_call>{"name": "f", "arguments": {}}</tool_call>')],
      [ask("{'name': 'f', 'arguments': {}}"), chat(u("<tool_call>{'name': 'f'}"), a('x'))],
    ],
  },
  tools: {
    found: [
      [
        [
          { ...chat(u(), c()), tools: [tool('f')] },
          { ...chat(u(), c()), tools: [tool('g')] },
          chat(u(), c()),
          { ...chat(u(), c()), tools: [] },
          { ...chat(u(), c()), tools: JSON.stringify([tool('g')]) },
          {
            conversations: [
              { from: 'human', value: 'x' },
              { from: 'function_call', value: '{"name":"f"}' },
            ],
          },
          { ...chat(u(), c()), functions: [{ name: 'g' }] },
        ],
        [2, 3, 4, 5, 6, 7],
      ],
    ],
    clean: [
      [
        { ...chat(u(), c()), tools: JSON.stringify([tool('f')]) },
        { ...chat(u(), c()), tools: [{ name: 'f' }] },
        { ...chat(u(), c()), functions: [{ name: 'f' }] },
        { ...chat(u(), a(null, { ...args('{}') })), tools: [tool('g'), tool('f')] },
        { ...ask('x'), tools: [tool('g')] },
        { ...chat(u(), c()), tools: [{ type: 'web_search' }] },
        ask('x'),
      ],
    ],
  },
  columns: {
    found: [
      [[...many(3, ask('x', { year: 1990 })), ask('x', { year: '1990' })], [4]],
      [[...many(3, ask('x', { meta: { tags: ['a'] } })), ask('x', { meta: { tags: 'a' } })], [4]],
      [[ask('x', { id: '7' }), ...many(2, ask('x', { id: 7 })), ask('x', { id: null })], [1]],
    ],
    clean: [
      [ask('x', { year: 1990 }), ask('x', { year: null }), ask('x'), ask('x', { year: 1.5 })],
      [ask('x', { tools: [] }), ask('x', { tools: '[]' })],
      [
        { prompt: 'x', completion: 'y' },
        { prompt: [u()], completion: [a()] },
      ],
    ],
  },
};

describe('the facts about texts', () => {
  const foundIn = (rows: readonly (object | string)[], name?: string) =>
    findingsToRead(readingOf(rows).findings).filter((one) => name === undefined || one.name === name);

  for (const [name, { found, clean }] of Object.entries(TABLE)) {
    it(`${name}: finds its rows, however they are written, and says which they are of`, () => {
      for (const [rows, expected] of found) {
        for (const write of [JSON.stringify, (row: object) => escaped(JSON.stringify(row))])
          for (const escape of [undefined, ...Object.values(ESCAPING_WRITERS)]) {
            const lines = rows.map((row) => rewritten(write(row), escape));
            const [one] = foundIn(lines, name);
            assert.deepEqual(one?.rows, expected, lines.join('\n'));
            assert.equal(one.total, expected.length, lines.join('\n'));
            const of = lines.flatMap((line, at) => (isOfFinding(one, textRow(line)!) ? at + 1 : []));
            assert.deepEqual(of, expected, lines.join('\n'));
          }
      }
    });

    it(`${name}: finds nothing else`, () => {
      for (const rows of clean) for (const one of foundIn(rows, name)) assert.fail(JSON.stringify(one));
    });
  }

  it('are a test for each of the table', () =>
    assert.deepEqual(
      FACTS.map(({ name }) => name).filter((name) => !(name in TABLE)),
      ['withoutSystem', 'refusals'],
    ));

  it('are found of rows that the scanner calls broken, and never throw', () => {
    for (const row of [
      '[]',
      '1',
      'null',
      '{"messages":null}',
      '{"messages":[null,1,[],{}]}',
      '{"messages":[{"role":5,"content":{"a":1},"tool_calls":{"function":null}}]}',
      '{"prompt":{},"completion":[[]]}',
      '{"chosen":{"messages":null},"input":{"messages":[1]}}',
      '{"__proto__":{"a":1},"toString":"x"}',
    ])
      foundIn([row, row]);
  });
});

/** Returns JSON as another program writes it. */
function rewritten(json: string, escape: ((character: string) => string | undefined) | undefined): string {
  if (escape === undefined) return json;
  const texts = /"(?:[^"\\]|\\.)*"/g;
  return json.replaceAll(texts, (text) => `"${written(JSON.parse(text) as string, escape)}"`);
}

describe('clean data', () => {
  const findings = (rows: readonly (object | string)[]) =>
    findingsToRead(readingOf(rows).findings).map(({ name, total, rows: [first = 0] }) => [
      name,
      total,
      JSON.stringify(rows[first - 1]).slice(0, 300),
    ]);

  it('has no finding: 60 files of many shapes and languages', () => {
    assert.ok(Object.keys(CLEAN_FILES).length >= 60);
    for (const [name, rows] of Object.entries(CLEAN_FILES)) assert.deepEqual(findings(rows), [], name);
  });

  it('has no finding: the sample and the datasets that are valid, but for calls without tools and mixed forms', async () => {
    const root = path.join(import.meta.dirname, '../../../fixtures');
    const found: Record<string, string[]> = {};
    for (const folder of ['sample', 'jsonl/datasets'])
      for (const name of await readdir(path.join(root, folder))) {
        if (!name.endsWith('.jsonl')) continue;
        const lines = (await readFile(path.join(root, folder, name), 'utf8')).split('\n');
        const names = findings(lines).map(([one]) => String(one));
        if (names.length > 0) found[name] = names;
      }
    assert.deepEqual(found, {
      'preference-lists.jsonl': ['thinking', 'tools'],
      'tool-calls.jsonl': ['tools'],
      'tools-ms-swift.jsonl': ['tools'],
      'tools-openai.jsonl': ['thinking', 'toolArguments', 'tools'],
      'tools-sharegpt.jsonl': ['tools'],
    });
  });
});

describe('readFacts', () => {
  let folder: string;
  before(async () => (folder = await mkdtemp(path.join(tmpdir(), 'facts-test-'))));
  after(() => rm(folder, { recursive: true }));

  const write = async (lines: readonly string[]) => {
    const file = path.join(folder, 'rows.jsonl');
    await writeFile(file, lines.join('\n'));
    return file;
  };

  it('counts everything else, however many names of columns there are', async () => {
    const lines = Array.from({ length: 3_000 }, (_, at) => JSON.stringify({ ...ask('x'), [`id ${at}`]: 1 }));
    const long = JSON.stringify(ask(`<|im_start|> ${'x'.repeat(40_000)}`));
    const { findings, tokens } = await readFacts(await write([...lines, long]));
    assert.deepEqual(findings.find(({ name }) => name === 'templateMarks')?.rows, [3_001]);
    assert.equal(tokens.rowsOver8192, 1);
  });

  it('reads in two threads what one pass reads, and counts rows that are too long', async function () {
    this.timeout(120_000);
    const random = new Random(52);
    const lines = Array.from({ length: 9_000 }, (_, at) => {
      if (at % 1_000 === 7) return '';
      if (at === 2_500) return `{"text":"${'x'.repeat(1_048_600)}"}`;
      const answer = random.chance(0.01) ? 'nan' : `${random.of(['a', 'ж', '自由'])} ${at % 5_000}`;
      const more = random.chance(0.01) ? ' &amp; so' : '';
      return JSON.stringify(
        chat(s(random.of(['x', 'y'])), u('q'.repeat(random.below(4_000))), a(`${answer}${more}`)),
      );
    });
    const file = await write([`\uFEFF${lines[0]}`, ...lines.slice(1)]);
    const { path: read, sizeBytes, mtimeMs, ctimeMs, ...found } = await readFacts(file);
    assert.ok(sizeBytes > 16_000_000 && mtimeMs > 0 && ctimeMs > 0 && read === file);
    const expected = readingOf(lines.map((line, at) => (at === 2_500 ? '' : line)));
    assert.deepEqual(found, { ...expected, unread: 1 });
    assert.deepEqual(
      findingsToRead(found.findings).map(({ name }) => name),
      ['emptyWords', 'entities'],
    );
  });

  it('ends when it is canceled, at a change, and without the file', async () => {
    const lines = Array.from({ length: 100_000 }, (_, at) => JSON.stringify(ask(`${at}`.repeat(20))));
    const file = await write(lines);
    const stop = new AbortController();
    const canceled = readFacts(file, { signal: stop.signal, onProgress: () => stop.abort() });
    await assert.rejects(canceled, CancelledError);
    const touch = () => utimes(file, 1, 1);
    await assert.rejects(readFacts(file, { onProgress: () => void touch() }), CheckError);
    await assert.rejects(readFacts(path.join(folder, 'none.jsonl')), CheckError);
  });
});
