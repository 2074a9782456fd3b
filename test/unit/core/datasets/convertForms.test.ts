import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync } from 'node:fs';
import { open, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { kindByFirstRow } from '../../../../src/core/answers/answersFile.ts';
import type { ConvertAnswers, ConvertCounts } from '../../../../src/core/datasets/convert.ts';
import { convertRows } from '../../../../src/core/datasets/convertRows.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { weekly } from '../../../helpers/weekly.ts';

const REPORTS = path.join(import.meta.dirname, '../../../fixtures/datasets/reports');

type Row = Readonly<Record<string, unknown>>;
const chat = (...turns: readonly string[]): Row => ({
  messages: turns.map((turn) => {
    const [role, content] = turn.split(': ');
    return { role, content };
  }),
});
const each = (count: number, row: (at: number) => Row) => Array.from({ length: count }, (_, at) => row(at));
const brief = (at: number) => chat('system: Be brief.', `user: Q${at}`, `assistant: A${at}`);
const text = (rows: unknown) => JSON.stringify(rows);
const lines = (...rows: readonly unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

/** Files that people reported, and what they become. */
const REPORTED: Readonly<Record<string, readonly Row[]>> = {
  'd06-flat-turns.json': [
    {
      conversations: [
        { from: 'human', value: 'Teach me a card trick.' },
        { from: 'gpt', value: 'Gladly. Take a deck.' },
        { from: 'human', value: 'Which deck?' },
        { from: 'gpt', value: 'Any deck of 52.' },
      ],
    },
  ],
  'd06b-array-of-conversations.json': each(3, (at) => ({
    conversations: [
      { from: 'human', value: `Hi ${at}` },
      { from: 'gpt', value: 'Hello!' },
    ],
  })),
  'd14-chatgpt-export.json': each(2, (at) => chat(`user: Question ${at}`, `assistant: Answer ${at}`)),
  'd15-vertex-batch.jsonl': each(4, (at) => chat(`user: Q${at}`, `assistant: A${at}`)),
  'd16-openai-responses-batch-output.jsonl': each(4, brief),
  'd18-csv-messages-json.csv': each(4, (at) => ({
    id: String(at),
    ...chat(`user: Q${at}, please`, `assistant: A${at}`),
  })),
  'd19-csv-nan.csv': each(10, (at) => ({
    instruction: `Name color ${at}`,
    input: at % 2 === 0 ? 'NaN' : 'nan',
    output: { 4: 'nan', 5: 'None', 6: '#N/A' }[at] ?? `Blue ${at}`,
  })),
  'd23-long-table.csv': each(3, (at) => chat(`user: Question ${at}`, `assistant: Answer ${at}`)),
  'd24-columns.json': each(5, (at) => ({ instruction: `Do ${at}`, output: `Done ${at}` })),
  'd25-wrapper.json': each(5, (at) => ({ instruction: `Do ${at}`, output: `Done ${at}` })),
  'd27-cohere-roles.jsonl': each(5, brief),
  'd27b-gemini-contents.jsonl': each(5, brief),
  'd27d-capital-roles.jsonl': each(5, (at) => chat(`user: Q${at}`, `assistant: A${at}`)),
};

const HI = chat('user: Hi', 'assistant: Hello');
const TURNS = HI['messages'] as readonly Row[];
const PAIR = { prompt: 'a', completion: 'b' };
const gemini = (role: string, ...parts: unknown[]) => ({ role, parts });
const anthropic = (content: unknown, more: object = {}) => ({
  ...{
    custom_id: 'a',
    result: { type: 'succeeded', message: { role: 'assistant', content, stop_reason: 'end_turn', ...more } },
  },
});
const node = (id: string, parent: string | null, role?: string, parts?: unknown[], more: object = {}) => ({
  [id]: {
    ...{ id, parent, children: [] },
    message:
      role === undefined ? null : { author: { role }, content: { content_type: 'text', parts }, ...more },
  },
});
const said = (uuid: string, parent: string, sender: string, said: string, more: object = {}) => ({
  ...{
    uuid,
    sender,
    text: said,
    parent_message_uuid: parent,
    content: [{ type: 'text', text: said }],
    ...more,
  },
});

type Case = readonly [
  title: string,
  file: string,
  content: string | Buffer,
  rows: readonly Row[],
  leftOut?: ConvertCounts['leftOut'],
  answers?: ConvertAnswers & { input?: string },
];
/** Further files of each kind. */
const SIBLINGS: readonly Case[] = [
  // Arrays
  ['an array of turns', 'a.json', text(TURNS), [HI]],
  [
    'an array of turns and something else',
    'a.json',
    text([...TURNS, { note: 1 }]),
    [HI],
    { unrecognized: 1 },
  ],
  ['an array in JSONL', 'a.jsonl', ` [\n${TURNS.map(text).join(',\n')}]\n`, [HI]],
  ['a line for each array', 'a.jsonl', lines(TURNS, TURNS), [HI, HI]],
  ['arrays, one of them no turns', 'a.json', text([TURNS, [1], TURNS]), [HI, HI], { unrecognized: 1 }],
  [
    'roles in capitals in an array',
    'a.json',
    text([
      [
        { role: 'USER', content: 'Hi' },
        { role: 'Bot', content: 'Hello' },
      ],
    ]),
    [HI],
  ],
  ['an array of rows', 'a.json', text([PAIR, HI]), [PAIR, HI]],
  // Wrappers
  ['a wrapper in one line', 'a.json', `\uFEFF${text({ n: 1, rows: [PAIR, PAIR] })}`, [PAIR, PAIR]],
  ['a wrapper in many lines', 'a.json', JSON.stringify({ a: [1, '['], 'b "q"': [PAIR] }, null, 2), [PAIR]],
  ['a wrapper of turns', 'a.json', text({ data: TURNS }), [HI]],
  ['a wrapper of arrays', 'a.json', text({ data: [TURNS, TURNS] }), [HI, HI]],
  ['a chosen part', 'a.json', text({ train: [HI], test: [PAIR] }), [PAIR], {}, { part: 'test' }],
  ['a row alone', 'a.json', JSON.stringify(HI, null, 2), [HI]],
  [
    'a row beside a list',
    'a.json',
    text({ ...PAIR, sources: [{ a: 1 }] }),
    [{ ...PAIR, sources: [{ a: 1 }] }],
  ],
  // Columns
  [
    'columns as lists',
    'a.json',
    text({ prompt: ['a', 'c'], completion: ['b', 'd'] }),
    [PAIR, { prompt: 'c', completion: 'd' }],
  ],
  [
    'columns of messages',
    'a.json',
    text({ messages: [TURNS, TURNS], n: [1.5, 2] }),
    [
      { ...HI, n: 1.5 },
      { ...HI, n: 2 },
    ],
  ],
  [
    'columns of unequal lengths',
    'a.json',
    text({ prompt: ['a', 'c'], completion: ['b'] }),
    [{ prompt: ['a', 'c'], completion: ['b'] }],
  ],
  // Cells
  [
    'JSON in lines',
    'a.csv',
    'messages,n\n"[{""role"":""user"",\n""content"":""Hi""}]",1\n,2\n',
    [
      { messages: [{ role: 'user', content: 'Hi' }], n: '1' },
      { messages: null, n: '2' },
    ],
  ],
  [
    'numbers and words',
    'a.csv',
    'prompt,completion\n42,true\nnull,1.0\n',
    [
      { prompt: '42', completion: 'true' },
      { prompt: 'null', completion: '1.0' },
    ],
  ],
  [
    'JSON in some rows',
    'a.csv',
    'prompt,completion\n[1],b\n[x,b\n',
    [
      { prompt: '[1]', completion: 'b' },
      { prompt: '[x', completion: 'b' },
    ],
  ],
  [
    'roles in cells',
    'a.csv',
    'messages\n"[{""role"":""Human"",""content"":""Hi""},{""role"":""AI"",""content"":""Hello""}]"\n',
    [HI],
  ],
  // Conversations by their ID
  [
    'messages of a thread, scattered',
    'a.jsonl',
    lines(
      { thread_id: 7, ...TURNS[0], at: 1 },
      { thread_id: 8, ...TURNS[0] },
      { thread_id: 7, ...TURNS[1] },
      { ...TURNS[1] },
      { thread_id: 8, role: 'Assistant', content: 'Hello' },
      { thread_id: 8, text: 'b' },
    ),
    [HI, HI],
    { incomplete: 1, unrecognized: 1 },
  ],
  [
    'messages by another name of their conversation',
    'a.csv',
    'Thread ID,role,content\n1,user,Hi\n1,assistant,Hello\n',
    [HI],
  ],
  ['conversations by their IDs', 'a.json', text({ abc: TURNS, def: TURNS }), [HI, HI]],
  [
    'an export in an object',
    'a.json',
    text({
      conversations: [
        {
          uuid: 'a',
          chat_messages: [
            { uuid: 'b', sender: 'human', text: 'Hi' },
            { uuid: 'c', sender: 'assistant', text: 'Hello' },
          ],
        },
      ],
    }),
    [HI],
  ],
  [
    'messages in a table',
    'a.csv',
    'Session_ID,from,value\n1,human,Hi\n1,gpt,Hello\n,gpt,b\n1\n',
    [
      {
        conversations: [
          { from: 'human', value: 'Hi' },
          { from: 'gpt', value: 'Hello' },
        ],
      },
    ],
    { incomplete: 1, ragged: 1 },
  ],
  // Roles and forms
  [
    'a role in capitals after others',
    'a.jsonl',
    `${lines(PAIR)}{"messages":[{"role":"USER","content":"Hi"},\n {"role":"Chatbot","content":"Hello","weight":1.0}]}`,
    [PAIR, { messages: [TURNS[0], { ...TURNS[1], weight: 1 }] }],
  ],
  [
    'ShareGPT in capitals',
    'a.jsonl',
    lines({
      conversations: [
        { from: 'Human', value: 'Hi' },
        { from: 'Chatbot', value: 'Hello' },
      ],
    }),
    [
      {
        conversations: [
          { from: 'human', value: 'Hi' },
          { from: 'assistant', value: 'Hello' },
        ],
      },
    ],
  ],
  [
    'pairs in capitals',
    'a.jsonl',
    lines({ prompt: [{ role: 'User', content: 'Hi' }], chosen: 'a', rejected: 'b' }),
    [{ prompt: [TURNS[0]], chosen: 'a', rejected: 'b' }],
  ],
  [
    'an unknown role',
    'a.jsonl',
    lines({ messages: [{ role: 'Ben', content: 'Hi' }] }),
    [{ messages: [{ role: 'Ben', content: 'Hi' }] }],
  ],
  [
    'developer and tools',
    'a.jsonl',
    lines({
      messages: [
        { role: 'Developer', content: 'Hi' },
        { role: 'Tool', content: 'b' },
      ],
    }),
    [chat('developer: Hi', 'tool: b')],
  ],
  [
    'contents with pictures and calls',
    'a.jsonl',
    lines(
      {
        contents: [
          gemini('user', { text: 'H' }, { text: 'i' }),
          gemini('model', { text: 'hm', thought: true }, { text: 'Hello' }),
        ],
      },
      { contents: [gemini('user', { inlineData: { data: '' } }), gemini('model', { text: 'a' })] },
      { contents: [gemini('user', { text: 'a' }), gemini('model', { functionCall: { name: 'f' } })] },
    ),
    [HI],
    { media: 1, tools: 1 },
  ],
  [
    'segments',
    'a.jsonl',
    lines(
      {
        segments: [
          { label: false, text: 'H' },
          { label: false, text: 'i' },
          { label: true, text: 'Hello' },
        ],
      },
      {
        segments: [
          { label: false, text: '<|im_start|>user' },
          { label: true, text: 'Hello' },
        ],
      },
      { segments: [{ start: 1, text: 'no label' }] },
    ),
    [HI, { segments: [{ start: 1, text: 'no label' }] }],
    { template: 1 },
  ],
  // Columns of its own
  [
    'chosen columns',
    'a.csv',
    'Frage;Antwort;Ton\nHi;Hello;\na;<|user|>;\n',
    [HI],
    { template: 1 },
    { columns: { prompt: 'Frage', answer: 'Antwort', system: 'Ton' } },
  ],
  [
    'chosen columns of JSON',
    'a.json',
    text([{ q: 'Hi', a: 'Hello', s: 'Be brief.' }, { q: 'a' }, { q: 'Hi', a: 7, s: ' ' }]),
    [chat('system: Be brief.', 'user: Hi', 'assistant: Hello'), chat('user: Hi', 'assistant: 7')],
    { incomplete: 1 },
    { columns: { prompt: 'q', answer: 'a', system: 's' } },
  ],
  [
    'all columns',
    'a.csv',
    'Frage;Antwort\nHi;Hello\n',
    [{ Frage: 'Hi', Antwort: 'Hello' }],
    {},
    { columns: 'all' },
  ],
  // Batches
  [
    'Anthropic’s results',
    'a.jsonl',
    lines(
      anthropic([
        { type: 'thinking', thinking: 'hm' },
        { type: 'text', text: 'Hello' },
      ]),
      anthropic([{ type: 'text', text: 'Hel' }], { stop_reason: 'max_tokens' }),
      anthropic([{ type: 'tool_use', id: 't', name: 'f', input: {} }]),
      anthropic([{ type: 'text', text: '' }]),
      { custom_id: 'a', result: { type: 'expired' } },
      { custom_id: 'a', result: { type: 'errored', error: { type: 'error' } } },
    ),
    [chat('system: Be brief.', 'user: Hi', 'assistant: Hello')],
    { 'cut-off': 1, tools: 1, empty: 1, failed: 2 },
    {
      input: lines({
        custom_id: 'a',
        params: { system: [{ type: 'text', text: 'Be brief.' }], messages: [TURNS[0]] },
      }),
    },
  ],
  [
    'Anthropic’s results with requests in an object',
    'a.jsonl',
    lines(anthropic('Hello')),
    [HI],
    {},
    {
      input: JSON.stringify(
        {
          requests: [
            {
              custom_id: 'a',
              params: { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }], model: 'm' },
            },
          ],
        },
        null,
        2,
      ).replace(/\[\s*\{\s*"type": "text",\s*"text": "Hi"\s*\}\s*\]/, '"Hi"'),
    },
  ],
  [
    'parts that are OpenAI’s',
    'a.jsonl',
    lines({
      messages: [{ role: 'user', content: [{ type: 'input_audio' }] }],
      choices: [{ message: TURNS[1] }],
    }),
    [{ messages: [{ role: 'user', content: [{ type: 'input_audio' }] }, TURNS[1] ?? {}] }],
  ],
  [
    'tools of other services',
    'a.jsonl',
    lines(anthropic('Hello'), anthropic('Hello', { stop_reason: 'refusal' })),
    [],
    { tools: 1, refused: 1 },
    {
      input: lines({
        custom_id: 'a',
        params: { tools: [{ name: 'f', input_schema: {} }], messages: [TURNS[0]] },
      }),
    },
  ],
  [
    'Anthropic’s results with requests in an array',
    'a.jsonl',
    lines(anthropic('Hello')),
    [HI],
    {},
    { input: JSON.stringify([{ custom_id: 'a', params: { messages: [TURNS[0]] } }], null, 2) },
  ],
  [
    'Vertex',
    'a.jsonl',
    lines(
      {
        request: { contents: [gemini('user', { text: 'Hi' })] },
        response: { candidates: [{ content: gemini('model', { text: 'Hello' }), finishReason: 'STOP' }] },
      },
      {
        request: { contents: [gemini('user', { text: 'Hi' })] },
        response: { candidates: [{ content: gemini('model', { text: 'Hel' }), finishReason: 'MAX_TOKENS' }] },
      },
      {
        request: { contents: [gemini('user', { text: 'Hi' })] },
        response: { candidates: [{ finishReason: 'SAFETY' }] },
      },
      {
        request: { contents: [gemini('user', { text: 'Hi' })] },
        response: { promptFeedback: { blockReason: 'OTHER' } },
      },
      { status: 'Bad Request', request: { contents: [gemini('user', { text: 'Hi' })] }, response: {} },
    ),
    [HI],
    { 'cut-off': 1, filtered: 2, failed: 1 },
  ],
  [
    'responses',
    'a.jsonl',
    lines(
      ...(['completed', 'incomplete'] as const).map((status) => ({
        custom_id: 'a',
        response: {
          status_code: 200,
          body: {
            status,
            incomplete_details: status === 'completed' ? null : { reason: 'max_output_tokens' },
            output: [
              { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] },
            ],
          },
        },
      })),
      {
        custom_id: 'a',
        response: {
          status_code: 200,
          body: { output: [{ type: 'function_call', name: 'f', arguments: '{}' }] },
        },
      },
      {
        custom_id: 'a',
        response: {
          status_code: 200,
          body: {
            output: [{ type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No' }] }],
          },
        },
      },
      {
        custom_id: 'b',
        response: {
          status_code: 200,
          body: {
            output: [
              { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] },
            ],
          },
        },
      },
    ),
    [HI],
    { 'cut-off': 1, tools: 1, refused: 1, media: 1 },
    {
      input: lines(
        {
          custom_id: 'a',
          body: { input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }] },
        },
        {
          custom_id: 'b',
          body: { input: [{ role: 'user', content: [{ type: 'input_image', image_url: '' }] }] },
        },
      ),
    },
  ],
  // Exports
  [
    'ChatGPT’s branches',
    'conversations.json',
    text([
      {
        mapping: {
          ...node('r', null),
          ...node('s', 'r', 'system', ['x'], { metadata: { is_visually_hidden_from_conversation: true } }),
          ...node('a', 's', 'user', ['Hi']),
          ...node('b', 'a', 'assistant', ['Other']),
          ...node('c', 'a', 'assistant', ['search()'], { recipient: 'browser' }),
          ...node('t', 'c', 'tool', ['found']),
          ...node('d', 't', 'assistant', ['Hello']),
        },
        current_node: 'd',
      },
      { mapping: { ...node('a', null, 'user', ['Hi']) } },
      {
        mapping: {
          ...node('a', null, 'user', ['Hi', { asset_pointer: 'x' }]),
          ...node('b', 'a', 'assistant', ['b']),
        },
        current_node: 'b',
      },
      {
        mapping: { ...node('a', 'b', 'user', ['Hi']), ...node('b', 'a', 'assistant', ['Hello']) },
        current_node: 'b',
      },
    ]),
    [HI, HI],
    { empty: 1, media: 1 },
  ],
  [
    'Claude’s branches',
    'conversations.json',
    text([
      {
        uuid: 'x',
        chat_messages: [
          said('a', '0', 'human', 'Hi'),
          said('b', 'a', 'assistant', 'Other'),
          said('c', 'a', 'assistant', 'Hello', {
            content: [{ type: 'tool_use' }, { type: 'text', text: 'Hello' }],
          }),
        ],
      },
      {
        uuid: 'y',
        chat_messages: [
          { sender: 'human', text: 'Hi' },
          { sender: 'assistant', text: 'Hello', content: [] },
        ],
      },
      { uuid: 'z', chat_messages: [] },
      {
        uuid: 'f',
        chat_messages: [
          said('a', '0', 'human', 'Hi', { attachments: [{ file_name: 'a' }] }),
          said('b', 'a', 'assistant', 'b'),
        ],
      },
    ]),
    [HI, HI],
    { empty: 1, media: 1 },
  ],
];

describe('Other forms', () => {
  const folder = useFolder();

  async function convert(
    name: string,
    content: string | Buffer,
    { input, ...answers }: ConvertAnswers & { input?: string | Buffer } = {},
  ) {
    const file = (one: string) => path.join(at, one);
    const at = mkdtempSync(path.join(folder(), 'run-'));
    await writeFile(file(name), content);
    await writeFile(file('input'), input ?? '');
    const handles = await Promise.all([open(file(name)), open(file('input')), open(file('out'), 'w')]);
    const [source, requests, output] = handles;
    try {
      const counts = await convertRows({
        ...{ inputFd: source.fd, sizeBytes: Buffer.byteLength(content), extension: path.extname(name) },
        ...{ outputFd: output.fd, maxBytes: Infinity, ...answers },
        batchInput:
          input === undefined ? undefined : { inputFd: requests.fd, sizeBytes: Buffer.byteLength(input) },
      });
      const rows = readFileSync(file('out'), 'utf8').split('\n').slice(0, -1);
      return { rows: rows.map((row) => JSON.parse(row) as unknown), counts };
    } finally {
      for (const handle of handles) await handle.close();
    }
  }

  for (const [name, expected] of Object.entries(REPORTED))
    it(`are read in ${name}`, async () => {
      const content = await readFile(path.join(REPORTS, name));
      const input = await readFile(path.join(REPORTS, 'd16-openai-responses-batch-input.jsonl'));
      const { rows, counts } = await convert(name, content, { input });
      assert.deepEqual(rows, expected);
      assert.deepEqual(counts.leftOut, {});
    });

  for (const [title, name, content, expected, leftOut = {}, answers] of SIBLINGS)
    it(`are read: ${title}`, async () => {
      const { rows, counts } = await convert(name, content, answers);
      assert.deepEqual(rows, expected);
      assert.deepEqual(counts.leftOut, leftOut);
      assert.equal(counts.rows, expected.length);
    });

  it('count what of an export isn’t in its rows', async () => {
    const ofChatGpt = SIBLINGS.find(([title]) => title.startsWith('ChatGPT’s'));
    const ofClaude = SIBLINGS.find(([title]) => title.startsWith('Claude’s'));
    assert.equal((await convert('a.json', ofChatGpt?.[2] ?? '')).counts.hidden, 3);
    assert.equal((await convert('a.json', ofClaude?.[2] ?? '')).counts.hidden, 1);
  });

  it('are recognized by the first row', async () => {
    const file = path.join(folder(), 'kind.jsonl');
    const kindOf = async (content: string | Buffer) => {
      await writeFile(file, content);
      return kindByFirstRow(file);
    };
    for (const [name, kind] of [
      ['d15-vertex-batch.jsonl', 'requests'],
      ['d16-openai-responses-batch-output.jsonl', 'requests'],
      ['d27-cohere-roles.jsonl', 'other-form'],
      ['d27b-gemini-contents.jsonl', 'other-form'],
      ['d27d-capital-roles.jsonl', 'other-form'],
      ['d26-template-marks.jsonl', undefined],
    ] as const)
      assert.equal(await kindOf(await readFile(path.join(REPORTS, name))), kind, name);
    for (const row of [
      HI,
      PAIR,
      { ...HI, contents: [] },
      { text: 'a', segments: [] },
      { conversation: ['a'] },
      TURNS[0],
    ])
      assert.equal(
        await kindOf(lines(row, { segments: [{ label: true, text: 'a' }] })),
        undefined,
        text(row),
      );
  });

  it('are asked about where more than one reading is right', async () => {
    for (const [name, content, code, choices] of [
      ['a.json', text({ train: [HI], validation: [HI] }), 'needs-part', ['train', 'validation']],
      ['a.csv', 'Frage;Antwort\na;b\n', 'needs-columns', ['Frage', 'Antwort']],
      ['a.json', text([{ q: 'a', n: 1, a: 'b', o: {} }]), 'needs-columns', ['q', 'n', 'a']],
      ['a.csv', 'prompt,reply\na,b\n', 'needs-columns', ['prompt', 'reply']],
      ['a.csv', 'text,label\na,b\n', 'needs-columns', ['text', 'label']],
      ['a.json', text([{ Category: 'b', text: 'a' }]), 'needs-columns', ['Category', 'text']],
    ] as const)
      await assert.rejects(convert(name, content), { code, choices: [...choices] }, content);
  });

  weekly(() =>
    it('are grouped and unpacked up to a limit of memory', async () => {
      const large = text({ data: [HI], more: 'x'.repeat(64 * 1024 * 1024) });
      await assert.rejects(convert('a.json', large), { code: 'too-much' });
      const row = { thread_id: 1, role: 'user', content: 'x'.repeat(15_000_000) };
      await assert.rejects(convert('a.jsonl', lines(...Array<Row>(8).fill(row))), { code: 'too-much' });
    }),
  );

  it('say that a column has Python’s notation', async () => {
    const csv = (value: string) => `id,messages\n1,"${value}"\n`;
    const { counts } = await convert('a.csv', csv(`[{'role': 'user', 'content': 'Hi'}]`));
    assert.equal(counts.python, 'messages');
    assert.equal((await convert('a.csv', csv('[see above]'))).counts.python, undefined);
  });
});

describe('A file that isn’t UTF-8', () => {
  const folder = useFolder();

  async function convert(content: Buffer, answers: ConvertAnswers = {}, name = 'a.csv'): Promise<string> {
    await writeFile(path.join(folder(), name), content);
    const handles = [
      await open(path.join(folder(), name)),
      await open(path.join(folder(), 'out'), 'w'),
    ] as const;
    try {
      await convertRows({
        ...{ inputFd: handles[0].fd, sizeBytes: content.length, extension: path.extname(name) },
        ...{ outputFd: handles[1].fd, maxBytes: Infinity, ...answers },
      });
      return readFileSync(path.join(folder(), 'out'), 'utf8');
    } finally {
      for (const handle of handles) await handle.close();
    }
  }

  const SAMPLES = [
    ['windows-1252', 'Größe „5 €“', [0x47, 0x72, 0xf6, 0xdf, 0x65, 0x20, 0x84, 0x35, 0x20, 0x80, 0x93]],
    ['windows-1250', 'Żółw', [0xaf, 0xf3, 0xb3, 0x77]],
    ['windows-1251', 'Привет', [0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]],
    ['gbk', '你好', [0xc4, 0xe3, 0xba, 0xc3]],
    ['shift_jis', 'こんソ', [0x82, 0xb1, 0x82, 0xf1, 0x83, 0x5c]],
  ] as const;
  const csv = (bytes: readonly number[]) =>
    Buffer.concat([Buffer.from('prompt,completion\nplain,b\n'), Uint8Array.from(bytes), Buffer.from(',b\n')]);

  for (const [at, [encoding, expected, bytes]] of SAMPLES.entries())
    it(`is asked about, and read as ${encoding}`, async () => {
      for (const [name, content] of [
        ['a.csv', csv(bytes)],
        [
          'a.json',
          Buffer.concat([
            Buffer.from('[{"prompt":"'),
            Uint8Array.from(bytes),
            Buffer.from(' ","completion":"b"}]'),
          ]),
        ],
      ] as const) {
        if (encoding === 'shift_jis' && name === 'a.json') continue;
        await assert.rejects(
          convert(content, {}, name),
          ({ code, choices }: { code: string; choices: string[] }) => {
            assert.ok(choices[at]?.includes(expected), choices[at]);
            return code === 'needs-encoding';
          },
        );
        assert.ok((await convert(content, { encoding }, name)).includes(expected), name);
      }
    });

  it('shows the first three lines that aren’t UTF-8, and only these', async () => {
    const rows = ['é1', 'ASCII', 'é2', 'é3', 'é4'].map(
      (one) => `${'x'.repeat(50)}${one}${'y'.repeat(100)}${one.charAt(0)},b\n`,
    );
    await assert.rejects(
      convert(Buffer.from(`prompt,completion\n${rows.join('')}`, 'latin1')),
      ({ choices }: { choices: string[] }) => {
        assert.deepEqual(
          choices[0]?.split('\n').map((line) => line.replace(/x+|y+/g, '')),
          ['é1', 'é2', 'é3'],
        );
        return true;
      },
    );
  });

  it('shows each part of a long line that isn’t UTF-8', async () => {
    const content = Buffer.from(`[{"prompt":"é1","completion":"${'x'.repeat(100_000)}é2"}]`, 'latin1');
    await assert.rejects(convert(content, {}, 'a.json'), ({ choices }: { choices: string[] }) => {
      assert.deepEqual(
        choices[0]?.split('\n').map((line) => /é\d/.exec(line)?.[0]),
        ['é1', 'é2'],
      );
      return true;
    });
  });

  it('is refused if it isn’t what was chosen', async () => {
    await assert.rejects(convert(csv([0xff]), { encoding: 'gbk' }), { code: 'not-encoding' });
  });
});
