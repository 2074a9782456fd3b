import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { compareScripts } from '../../../../src/core/adapters/compareRecipe.ts';
import { SPEAKERS, TRAINING_FORMATS } from '../../../../src/core/datasets/formats.ts';
import { toChat } from '../../../../src/core/datasets/toChat.ts';
import { useFolder } from '../../../helpers/folder.ts';

const FIXTURES = path.join(import.meta.dirname, '../../../fixtures');
const hasPython = spawnSync('python3', ['--version']).status === 0;

type Read = { messages: object[]; tools: object[]; expected: string } | string;

function scriptsOf(holdOut?: string): string[] {
  const loading = ['import peft_that_is_not_installed'];
  const both = { here: holdOut, vllm: holdOut };
  const compared = { base: 'a/b', name: 'my-run', run: undefined, scale: 1, loading, holdOut: both };
  return Object.values(compareScripts(compared)).map((lines) => lines.join('\n'));
}

/** The part of a script that reads rows. */
function readingOf(script: string): string {
  return script.slice(script.indexOf('import json'), script.indexOf('if not asked:'));
}

/** Runs `question` of the scripts. @returns a prompt with tools and the expected answer, or why there is none */
function readLines(lines: readonly string[]): Read[] {
  const [script = ''] = scriptsOf();
  const reading = readingOf(script);
  const driver = `${reading.slice(0, reading.indexOf('asked, refused'))}
for line in json.load(sys.stdin):
    try:
        print(json.dumps(dict(zip(("messages", "tools", "expected"), question(line))), allow_nan=False))
    except AssertionError as error:
        print(json.dumps(str(error)))
    except Exception as error:
        print(json.dumps("an unknown form"))
`;
  const { stdout, stderr } = spawnSync('python3', ['-c', driver], {
    input: JSON.stringify(lines),
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  assert.equal(stderr, '');
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Read);
}

const user = (content: string) => ({ role: 'user', content });
const assistant = (content: string) => ({ role: 'assistant', content });
const system = (content: string) => ({ role: 'system', content });
const callOf = (name: string, given: string, id = 'call00000') => ({
  id,
  type: 'function',
  function: { name, arguments: given },
});
const calling = (content: string, ...calls: object[]) => ({ role: 'assistant', content, tool_calls: calls });
const result = (content: string, id = 'call00000') => ({ role: 'tool', content, tool_call_id: id });
const LAMP = { name: 'lamp', parameters: {} };
const TOOL = { type: 'function', function: LAMP };
const lampOn = (given: unknown) => ({
  function: { name: 'lamp', arguments: given },
  id: 'c',
  type: 'function',
});
const OF_LAMP = '[{"name": "lamp", "arguments": {"on": 1}}]';

/** A row in each form, and the prompt, the expected answer and the tools that it has. */
const ASKED: readonly (readonly [row: object, messages: object[], expected: string, tools?: object[]])[] = [
  // Chat
  [{ messages: [system('S'), user('Q'), assistant('A')] }, [system('S'), user('Q')], 'A'],
  [
    { messages: [{ role: 'developer', content: 'S' }, user('Q'), assistant('A')] },
    [{ role: 'developer', content: 'S' }, user('Q')],
    'A',
  ],
  [
    {
      messages: [
        { role: 'User', content: 'Q' },
        { role: 'Assistant', content: 'A' },
      ],
    },
    [user('Q')],
    'A',
  ],
  [{ system: 'S', messages: [user('Q'), { ...assistant('A'), weight: 1 }] }, [system('S'), user('Q')], 'A'],
  [
    {
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'Q' }, 'R', { text: 'S' }] },
        { role: 'assistant', content: [{ type: 'text', value: 'A' }] },
      ],
    },
    [user('QRS')],
    'A',
  ],
  [{ messages: JSON.stringify([user('Q'), assistant('A')]) }, [user('Q')], 'A'],
  [
    { messages: [user('Q'), assistant('A'), { role: 'user', content: 'R', name: 'Ada' }, assistant('B')] },
    [user('Q'), assistant('A'), { ...user('R'), name: 'Ada' }],
    'B',
  ],
  // Tools, their calls and results
  [
    {
      messages: [user('Q'), { role: 'assistant', content: null, tool_calls: [lampOn('{"on":1}')] }],
      tools: [TOOL],
    },
    [user('Q')],
    OF_LAMP,
    [TOOL],
  ],
  [
    {
      messages: [user('Q'), { role: 'assistant', tool_calls: [lampOn({ on: 1 })] }],
      tools: JSON.stringify([LAMP]),
    },
    [user('Q')],
    OF_LAMP,
    [TOOL],
  ],
  [
    {
      messages: [user('Q'), { role: 'assistant', content: 'Yes.', tool_calls: [lampOn('{"on":1}')] }],
      functions: [LAMP],
    },
    [user('Q')],
    `Yes.\n${OF_LAMP}`,
    [TOOL],
  ],
  [
    {
      messages: [
        user('Q'),
        { role: 'assistant', content: null, function_call: { name: 'lamp', arguments: '{"on":1}' } },
      ],
    },
    [user('Q')],
    OF_LAMP,
  ],
  [
    {
      messages: [
        user('Q'),
        { role: 'assistant', content: null, tool_calls: [lampOn('{"on": 1}')] },
        { role: 'tool', tool_call_id: 'c', content: 'ok' },
        assistant('A'),
      ],
      tools: [],
    },
    [user('Q'), calling('', callOf('lamp', '{"on": 1}', 'c')), result('ok', 'c')],
    'A',
  ],
  [
    {
      messages: [
        user('Q'),
        assistant('Yes.'),
        { role: 'tool_call', content: '{"name":"lamp","arguments":{"on":1}}' },
        { role: 'tool_call', content: '{"name":"lamp","arguments":{"on":2}}' },
        { role: 'tool_response', content: 'ok' },
        assistant('A'),
      ],
    },
    [user('Q'), calling('Yes.', callOf('lamp', '{"on": 1}'), callOf('lamp', '{"on": 2}')), result('ok')],
    'A',
  ],
  [
    {
      messages: [user('Q'), { role: 'assistant', tool_calls: [lampOn(null)] }, assistant('A')],
    },
    [user('Q'), calling('', callOf('lamp', '{}', 'c'))],
    'A',
  ],
  // Prompt and completion
  [{ prompt: 'Q', completion: 'A' }, [user('Q')], 'A'],
  [{ prompt: [user('Q')], completion: [assistant('A')] }, [user('Q')], 'A'],
  [
    { system: 'S', prompt: 'Q', completion: 'A', label: true, input: 'not of this form' },
    [system('S'), user('Q')],
    'A',
  ],
  // Instruction
  [{ instruction: 'Q', output: 'A' }, [user('Q')], 'A'],
  [{ instruction: 'Q', input: 'I', output: 'A', system: '' }, [user('Q\n\nI')], 'A'],
  [{ instruction: 'Q', input: ' ', context: 'C', response: 'A' }, [user('Q\n\nC')], 'A'],
  [{ input: 'I', output: 'A' }, [user('I')], 'A'],
  [{ instruction: '', input: 'I', output: 'A' }, [user('I')], 'A'],
  [{ instruction: 'R', output: 'B', history: [['Q', 'A']] }, [user('Q'), assistant('A'), user('R')], 'B'],
  // ShareGPT
  [
    {
      conversations: [
        { from: 'system', value: 'S' },
        { from: 'human', value: 'Q' },
        { from: 'gpt', value: 'A' },
      ],
    },
    [system('S'), user('Q')],
    'A',
  ],
  [{ conversations: [user('Q'), assistant('A')] }, [user('Q')], 'A'],
  [
    { conversations: ['Q', 'A', 'R', 'B'], system: 'S' },
    [system('S'), user('Q'), assistant('A'), user('R')],
    'B',
  ],
  [
    {
      conversations: [
        { from: 'human', value: 'Q' },
        { from: 'function_call', value: '{"name":"lamp","arguments":{"on":1}}' },
        { from: 'observation', value: 'ok' },
        { from: 'gpt', value: 'A' },
      ],
      tools: '[{"name":"lamp","parameters":{}}]',
    },
    [user('Q'), calling('', callOf('lamp', '{"on": 1}')), result('ok')],
    'A',
    [TOOL],
  ],
  [
    {
      conversations: [
        { from: 'human', value: 'Q' },
        { from: 'function_call', value: '{"name":"lamp","arguments":{"on":1}}' },
      ],
    },
    [user('Q')],
    OF_LAMP,
  ],
  // Question and answer
  [{ question: 'Q', answer: 'A' }, [user('Q')], 'A'],
  [{ question: 'Q', context: 'C', answer: 'A' }, [user('Q\n\nC')], 'A'],
];

const NOT_ASKED: readonly (readonly [line: string, reason: string])[] = [
  ['{"messages":', 'not an object'],
  ['[1]', 'not an object'],
  ['['.repeat(100_000), 'not an object'],
  ['{}', 'no prompt with an answer'],
  ['{"text":"T"}', 'no prompt with an answer'],
  ['{"prompt":"Q","chosen":"A","rejected":"B"}', 'no prompt with an answer'],
  ['{"question":"Q","choices":["A","B"],"answer":"A"}', 'no prompt with an answer'],
  ['{"prompt":"Q","completion":"A","label":false}', 'an answer that is labeled as bad'],
  ['{"messages":[]}', 'no prompt with an answer'],
  ['{"messages":"Q"}', "messages or tools that aren't a list"],
  [
    '{"messages":[{"role":"user","content":"Q"},{"role":"assistant","content":"A"}],"tools":{"a":1}}',
    "messages or tools that aren't a list",
  ],
  ['{"messages":[{"role":"user","content":"Q"}]}', 'no answer at the end'],
  ['{"messages":[{"role":"user","content":"Q"},{"role":"assistant","content":" "}]}', 'no answer at the end'],
  ['{"messages":[{"role":"assistant","content":"A"}]}', 'no prompt'],
  ['{"prompt":" ","completion":"A"}', 'no prompt'],
  ['{"messages":[{"role":"critic","content":"Q"},{"role":"assistant","content":"A"}]}', 'an unknown role'],
  [
    '{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{}}]},{"role":"assistant","content":"A"}]}',
    "a content that isn't text",
  ],
  ['{"question":"Q","answer":5}', "a content that isn't text"],
  ['{"prompt":"Q","completion":"A","images":["a.png"]}', 'images, audio or video'],
  ['{"messages":[7]}', 'an unknown form'],
  ['{"instruction":"Q","output":"A","history":[["Q"]]}', 'an unknown form'],
];

describe('the scripts that compare', function () {
  const folder = useFolder();

  before(function () {
    if (!hasPython) this.skip();
  });

  it('read a row in each form of a dataset', () => {
    const read = readLines(ASKED.map(([row]) => JSON.stringify(row)));
    for (const [index, [row, messages, expected, tools = []]] of ASKED.entries())
      assert.deepEqual(read[index], { messages, tools, expected }, JSON.stringify(row));
  });

  it('say why a row isn’t asked', () => {
    const read = readLines(NOT_ASKED.map(([line]) => line));
    for (const [index, [line, reason]] of NOT_ASKED.entries())
      assert.equal(read[index], reason, line.slice(0, 90));
  });

  it('read rows as a conversion to chat does', () => {
    const files = ['conversions', 'datasets'].flatMap((name) =>
      readdirSync(path.join(FIXTURES, 'jsonl', name)).map((file) => path.join(FIXTURES, 'jsonl', name, file)),
    );
    const lines = files.flatMap((file) =>
      readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => /\S/.test(line)),
    );
    const read = readLines(lines);
    let compared = 0;
    for (const [index, line] of lines.entries()) {
      const converted = toChat(line);
      const found = read[index];
      if (typeof converted === 'string' || typeof found !== 'object') continue;
      const { messages } = JSON.parse(converted.text) as { messages: { role: string; content: string }[] };
      const asked = [...found.messages, assistant(found.expected)];
      assert.deepEqual(
        asked,
        messages.map(({ role, content }) => ({ role, content })),
        line,
      );
      compared++;
    }
    assert.ok(compared >= 30, String(compared));
  });

  it('know the names of the formats and speakers', () => {
    const rows = [
      ...SPEAKERS.filter(([speaker]) => ['user', 'system'].includes(speaker)).flatMap(([, ...names]) =>
        names.flat().map((from) => ({
          conversations: [
            { from, value: 'Q' },
            { from: 'gpt', value: 'A' },
          ],
        })),
      ),
      ...SPEAKERS.filter(([speaker]) => speaker === 'assistant').flatMap(([, ...names]) =>
        names.flat().map((from) => ({
          conversations: [
            { from: 'human', value: 'Q' },
            { from, value: 'A' },
          ],
        })),
      ),
      ...TRAINING_FORMATS.filter(({ toChat: how }) => how === 'pair').flatMap(
        ({ prompt = [], answer = [] }) =>
          prompt.slice(0, 1).flatMap((asked) => answer.map((name) => ({ [asked]: 'Q', [name]: 'A' }))),
      ),
    ];
    for (const [index, read] of readLines(rows.map((row) => JSON.stringify(row))).entries())
      assert.equal(typeof read, 'object', JSON.stringify(rows[index]));
    assert.ok(rows.length > 15);
  });

  it('ask the hold-outs of the reports, with their tools', () => {
    const reports = path.join(FIXTURES, 'answers/reports');
    for (const [name, expected, tools] of [
      ['pairs', 'On 0', 0],
      ['instruction', 'On 0', 0],
      ['sharegpt', 'On 0', 0],
      ['tools', '[{"name": "set_lamp", "arguments": {"lamp": 0}}]', 1],
    ] as const) {
      const read = readLines(
        readFileSync(path.join(reports, `e05-${name}.holdout.jsonl`), 'utf8')
          .trimEnd()
          .split('\n'),
      );
      assert.equal(read.length, 10);
      const [first] = read;
      assert.ok(typeof first === 'object');
      assert.deepEqual([first.expected, first.tools.length], [expected, tools], name);
    }
  });

  it('end with a sentence and no file if nothing can be asked, and count why', () => {
    const holdOut = path.join(folder(), 'train.holdout.jsonl');
    writeFileSync(holdOut, '\ufeff{"text":"T"}\r\n\r\n{"text":"U"}\n{"messages":\n');
    for (const script of scriptsOf(holdOut)) {
      const { status, stderr } = spawnSync('python3', ['-c', script], { encoding: 'utf8' });
      assert.deepEqual(
        [status, stderr.trimEnd().split('\n')],
        [
          1,
          [
            'Not asked: 2 (no prompt with an answer)',
            'Not asked: 1 (not an object)',
            `Nothing was asked: ${holdOut} has no row with a prompt and an answer.`,
          ],
        ],
      );
    }
    assert.deepEqual(readdirSync(folder()), ['train.holdout.jsonl']);
  });
});

describe('the text of the scripts', () => {
  it('reads rows by one text, and begins with what may be changed', () => {
    const scripts = scriptsOf('/a/train.holdout.jsonl');
    assert.equal(new Set(scripts.map(readingOf)).size, 1);
    for (const script of scripts)
      assert.match(
        script,
        /^max_tokens = 1024\nthinking = \{\}\n# thinking = \{.*"enable_thinking": False\}.*\nrows = "\/a\/train\.holdout\.jsonl"\n/,
      );
  });
});
