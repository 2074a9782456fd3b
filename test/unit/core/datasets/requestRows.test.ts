import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync } from 'node:fs';
import { appendFile, open, readdir, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { mock } from 'node:test';
import { kindByFirstRow } from '../../../../src/core/answers/answersFile.ts';
import {
  convertDataset,
  MAX_REQUESTS,
  type ConvertCounts,
  type ConvertError,
} from '../../../../src/core/datasets/convert.ts';
import { convertRows } from '../../../../src/core/datasets/convertRows.ts';
import { inspectDataset } from '../../../../src/core/datasets/fileKind.ts';
import { useFolder } from '../../../helpers/folder.ts';
import { Random } from '../../../helpers/random.ts';
import { weekly } from '../../../helpers/weekly.ts';

const WORKER = path.join(import.meta.dirname, '../../../../src/core/datasets/convertWorker.ts');
const ASKED = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Is 7 prime?' },
];
const MESSAGE = { role: 'assistant', content: 'Yes.', refusal: null, annotations: [] };
const completion = (message: unknown = MESSAGE, finish_reason = 'stop') => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1764200000,
  model: 'gpt-4o-mini',
  choices: [{ index: 0, message, logprobs: null, finish_reason }],
  usage: { prompt_tokens: 18, completion_tokens: 2, total_tokens: 20 },
});
const CHAT = { messages: [...ASKED, { role: 'assistant', content: 'Yes.' }] };
const request = (more: object = {}) => ({ model: 'gpt-4o-mini', messages: ASKED, temperature: 0.2, ...more });
const asked = (id: string, more: object = {}) => ({
  ...{ custom_id: id, method: 'POST', url: '/v1/chat/completions' },
  body: request(more),
});
const answered = (id: string, body: unknown = completion(), more: object = {}) => ({
  ...{ id: `batch_req_${id}`, custom_id: id },
  response: { status_code: 200, request_id: 'req_1', body },
  ...{ error: null, ...more },
});

/** A row for each line of the table of shapes. All become `CHAT`. */
const SHAPES: Readonly<Record<string, object>> = {
  'a batch that carries its request': { ...answered('a'), body: request() },
  'a proxy that keeps both bodies': {
    request: { url: '/v1', body: request() },
    response: { body: completion() },
  },
  'a proxy that keeps both': { request: request(), response: completion() },
  'camel case': { ts: 1764200000, requestBody: request(), responseBody: completion() },
  'snake case': { request_body: request(), response_body: completion() },
  payloads: { requestedAt: 1, reqPayload: request(), respPayload: completion(), statusCode: 200 },
  'a callback’s log': { model: 'm', messages: ASKED, response: completion(), cost: 0.00001 },
  'a log of its own': { messages: ASKED, choices: completion().choices },
  'an observation': { type: 'GENERATION', input: ASKED, output: { role: 'assistant', content: 'Yes.' } },
  'an observation of an object': { input: { messages: ASKED }, output: completion() },
  'a run': { run_type: 'llm', inputs: { messages: ASKED }, outputs: completion(), error: null },
  'a span': { object: 'trace.span', span_data: { type: 'generation', input: ASKED, output: [MESSAGE] } },
};

const line = (row: unknown) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`;
const lines = (rows: readonly unknown[]) => rows.map(line).join('');

describe('requests and answers', function () {
  const folder = useFolder();

  /** Converts in this thread. */
  async function convert(
    content: string | Uint8Array,
    input?: string | Uint8Array,
    maxBytes = Infinity,
  ): Promise<{ rows: unknown[]; text: string; counts: ConvertCounts }> {
    const at = mkdtempSync(path.join(folder(), 'run-'));
    const file = (name: string) => path.join(at, name);
    await writeFile(file('in'), content);
    await writeFile(file('input'), input ?? '');
    const [source, requests, output] = [
      await open(file('in')),
      await open(file('input')),
      await open(file('out'), 'w'),
    ];
    try {
      const counts = await convertRows({
        ...{ inputFd: source.fd, sizeBytes: Buffer.byteLength(content), extension: '.jsonl' },
        ...{ outputFd: output.fd, maxBytes },
        ...(input !== undefined && {
          batchInput: { inputFd: requests.fd, sizeBytes: Buffer.byteLength(input) },
        }),
      });
      const text = readFileSync(file('out'), 'utf8');
      return {
        text,
        counts,
        rows: text
          .split('\n')
          .slice(0, -1)
          .map((row) => JSON.parse(row) as unknown),
      };
    } finally {
      for (const handle of [source, requests, output]) await handle.close();
    }
  }

  const leftOut = async (content: string, input?: string) => (await convert(content, input)).counts.leftOut;
  const kindOf = async (content: string | Uint8Array) => {
    const file = path.join(folder(), 'kind.jsonl');
    await writeFile(file, content);
    return kindByFirstRow(file);
  };

  for (const [shape, row] of Object.entries(SHAPES))
    it(`are found in ${shape}`, async () => {
      const { rows, counts } = await convert(lines([row, row]));
      assert.deepEqual(rows, [CHAT, CHAT]);
      assert.deepEqual([counts.leftOut, counts.isChat], [{}, true]);
      assert.equal(await kindOf(lines([row])), 'requests');
    });

  it('of a batch are joined by their ID, whatever the order; the last request of an ID counts', async () => {
    const input = lines([
      asked('b', { messages: [{ role: 'user', content: 'first' }] }),
      { custom_id: 'a', body: request() }, // as Groq and Together take it
      asked('b', { messages: [{ role: 'user', content: 'second' }] }),
      'no JSON',
      asked('never answered'),
    ]);
    const output = lines([answered('b'), answered('a'), answered('c'), answered('a')]);
    const { rows, counts } = await convert(output, input);
    const second = { messages: [{ role: 'user', content: 'second' }, CHAT.messages[2]] };
    assert.deepEqual(rows, [second, CHAT, CHAT]);
    assert.deepEqual(counts.leftOut, { 'no-request': 1 });
  });

  it('of a batch of 200 whose input lacks 10 become 190 rows', async () => {
    const ids = Array.from({ length: 200 }, (_, at) => `request-${at}`);
    const input = ids.slice(10).map((id) => asked(id));
    const { counts } = await convert(lines(ids.map((id) => answered(id))), lines(input.reverse()));
    assert.deepEqual([counts.rows, counts.leftOut], [190, { 'no-request': 10 }]);
  });

  it('of a batch need the input only if an answer can be used', async () => {
    const failed = answered('a', undefined, { response: null, error: { code: 'batch_expired' } });
    assert.deepEqual(await leftOut(lines([failed, failed])), { failed: 2 });
    await assert.rejects(convert(lines([failed, answered('b')])), { code: 'needs-input' });
    await assert.rejects(convert(lines([asked('a'), asked('b')])), { code: 'only-requests' });
    // The batch's output is chosen as its own input.
    assert.deepEqual(await leftOut(lines([answered('a')]), lines([answered('a')])), { 'no-request': 1 });
  });

  it('are left out with the reason', async () => {
    const error = { message: 'Rate limit', type: 'requests' };
    const embeddings = { object: 'list', data: [{ embedding: [0.1, -0.2] }], model: 'e' };
    const langchain = { lc: 1, type: 'constructor', id: ['langchain', 'schema', 'HumanMessage'], kwargs: {} };
    for (const [reason, row] of [
      ['failed', answered('a', undefined, { response: null, error })],
      ['failed', answered('a', completion(), { error })],
      ['failed', answered('a', { error }, { response: { status_code: 429, body: { error } } })],
      ['failed', answered('a', {}, { response: null })],
      ['failed', { request: request(), response: { error } }],
      ['failed', { messages: ASKED, response: null }],
      ['failed', { request: request(), response: completion(), status_code: 500 }],
      ['failed', { request: request(), response: completion(), status_code: '400' }],
      ['failed', answered('a', undefined, { response: { status_code: '429', body: completion() } })],
      ['empty', answered('a', completion({ role: 'assistant', content: null, function_call: null }))],
      ['cut-off', answered('a', completion(MESSAGE, 'length'))],
      ['cut-off', { request: request(), response: completion(MESSAGE, 'length') }],
      ['filtered', answered('a', completion(MESSAGE, 'content_filter'))],
      ['refused', answered('a', completion({ role: 'assistant', content: null, refusal: 'I can’t.' }))],
      ['refused', answered('a', completion({ role: 'assistant', refusal: 'No' }))],
      ['empty', answered('a', completion({ role: 'assistant', content: null }))],
      ['empty', answered('a', completion({ role: 'assistant', content: ' \n', tool_calls: [] }))],
      ['empty', answered('a', completion({ role: 'assistant', content: [{ type: 'text', text: '' }] }))],
      ['empty', answered('a', { ...completion(), choices: [] })],
      ['empty', { input: ASKED, output: { role: 'assistant', content: '' } }],
      ['no-request', answered('nobody')],
      ['no-request', answered('no messages')],
      ['unrecognized', answered('a', embeddings)],
      ['unrecognized', answered('a', { object: 'response', output: [{ type: 'message' }] })],
      ['unrecognized', answered('a', { choices: [{ text: 'Yes.', finish_reason: 'stop' }] })],
      ['empty', { request: request(), response: { object: 'response', output: [] } }],
      ['unrecognized', { messages: ASKED }],
      ['unrecognized', { error }],
      ['unrecognized', { inputs: { messages: [[langchain]] }, outputs: { generations: [] } }],
      ['unrecognized', { input: [langchain], output: { role: 'assistant', content: 'Yes.' } }],
      ['unrecognized', { trace: { id: 'a' }, observations: [{ input: ASKED, output: MESSAGE }] }],
      ['unrecognized', { input: ASKED, output: [MESSAGE, { role: 'user', content: 'And 8?' }] }],
      ['unrecognized', { input: ASKED, output: ['Yes.', MESSAGE] }],
      ['unrecognized', { input: ASKED, output: 'Yes.' }],
      ['unrecognized', { messages: ['Is 7 prime?'], choices: completion().choices }],
      ['unrecognized', { messages: [{ role: 'user' }], choices: completion().choices }],
      ['unrecognized', { messages: [], choices: completion().choices }],
      ['unrecognized', answered('a', null)],
      ['unrecognized', { ...answered('a'), custom_id: 7 }],
      ['unrecognized', [answered('a')]],
      ['unrecognized', 'null'],
      ['not-json', '{"custom_id":"a"'],
      ['not-json', `${JSON.stringify(answered('a'))} {}`],
    ] as const) {
      const text = lines([answered('a'), row]);
      const input = lines([asked('a'), { custom_id: 'no messages', body: { prompt: 'text' } }]);
      const { rows, counts } = await convert(text, input);
      assert.deepEqual(rows, [CHAT], line(row));
      assert.deepEqual(counts.leftOut, { [reason]: 1 }, line(row));
    }
  });

  it('keep tools, tool calls, parts and what messages have besides, and nothing else', async () => {
    const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"n":7}' } };
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
    const messages = [
      { role: 'user', content: [{ type: 'text', text: 'Is 7 prime?' }], name: 'ben' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: 'true' },
    ];
    const message = { role: 'assistant', content: null, tool_calls: [call], refusal: null, audio: null };
    const { rows } = await convert(
      lines([
        answered('a', completion(message, 'tool_calls')),
        { request: { messages, tools: [], functions: [] }, response: completion() },
        { input: { messages, tools }, output: [...messages.slice(1), MESSAGE] },
        { input: ASKED, output: { ...MESSAGE, tool_calls: null } },
      ]),
      lines([asked('a', { messages, tools, tool_choice: 'auto' })]),
    );
    const answer = { role: 'assistant', content: 'Yes.' };
    assert.deepEqual(rows, [
      { messages: [...messages, { role: 'assistant', content: null, tool_calls: [call] }], tools },
      { messages: [...messages, answer] },
      // An answer of several steps keeps all of them.
      { messages: [...messages, ...messages.slice(1), answer], tools },
      CHAT,
    ]);
  });

  it('keep functions and their calls, the older form of tools', async () => {
    const call = { name: 'f', arguments: '{"n":7}' };
    const functions = [{ name: 'f', parameters: { type: 'object', minimum: 1 } }];
    const messages = [
      ASKED[1],
      { role: 'assistant', function_call: call },
      { role: 'function', name: 'f', content: 'true' },
    ];
    const message = { role: 'assistant', content: null, function_call: call };
    const { rows, counts } = await convert(
      lines([
        {
          request: { messages, functions, function_call: 'auto' },
          response: completion(message, 'function_call'),
        },
        { request: request({ functions: [] }), response: { ...completion(), status_code: '200' } },
      ]),
    );
    assert.deepEqual(rows, [{ messages: [...messages, message], functions }, CHAT]);
    assert.deepEqual(counts.leftOut, {});
  });

  it('keep numbers as they were written, of the batch’s input as well', async () => {
    const tools = '[{"minimum":1.0,"max":12345678901234567890,"step":1e400,"zero":-0,"few":7}]';
    const messages = '[{"role":"user","content":"1.0","weight":1.0}]';
    const body = `{"temperature":0.70,"messages":${messages},"tools":${tools}}`;
    const answer = JSON.stringify(completion());
    const [expected] = [
      `{"messages":[{"role":"user","content":"1.0","weight":1.0},{"role":"assistant","content":"Yes."}],"tools":${tools}}\n`,
    ];
    // With exact numbers, a number is an object in memory. It must not be taken for an object of the row.
    const odd = '"error":0.5,"output":1.5,"response":';
    for (const [text, input] of [
      [`{"request":${body},${odd}${answer}}`, undefined],
      [`{"input":${body},"request":1.5,"response":2.5,"output":${answer}}`, undefined],
      [JSON.stringify(answered('a')), `\uFEFF{"custom_id":"a","body":${body}}`],
    ] as const)
      assert.equal((await convert(text, input)).text, expected, text);
  });

  it('keep the first of several answers, and count such rows', async () => {
    const other = { index: 1, message: { role: 'assistant', content: 'No.' }, finish_reason: 'stop' };
    const several = { ...completion(), choices: [...completion().choices, other] };
    const cut = { ...several, choices: [{ ...other, finish_reason: 'length' }, other] };
    const { rows, counts } = await convert(
      lines([answered('a', several), answered('a', cut), answered('a')]),
      lines([asked('a')]),
    );
    assert.deepEqual(rows, [CHAT, CHAT]);
    assert.deepEqual([counts.leftOut, counts.several], [{ 'cut-off': 1 }, 1]);
  });

  it('are read in UTF-16, with a byte order mark, CRLF, blank rows, and no end of line', async () => {
    const text = `\r\n${JSON.stringify(answered('é😀'))}\r\n\r\n \t\r\n${JSON.stringify(answered('b'))}`;
    const input = `\uFEFF${lines([asked('é😀')])}\r\n${JSON.stringify(asked('b'))}`;
    const wide = Buffer.from(text, 'utf16le');
    const marked = Buffer.from(`\uFEFF${text}`, 'utf16le');
    for (const content of [text, `\uFEFF${text}`, marked, Buffer.from(marked).swap16(), wide]) {
      const { rows, counts } = await convert(content, input);
      assert.deepEqual(rows, [CHAT, CHAT]);
      assert.deepEqual([counts.leftOut, counts.rows], [{}, 2]);
    }
    const invalid = Buffer.concat([
      Buffer.from(lines([answered('b')])),
      Buffer.from('{"a":"\xe9"}', 'latin1'),
    ]);
    await assert.rejects(convert(invalid, input), { code: 'needs-encoding' });
  });

  it('are each written or left out by a reason, however their rows are changed', async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    const random = new Random(seed);
    const seeds = [...Object.values(SHAPES), answered('a'), answered('zzz'), asked('a'), CHAT];
    const odd: unknown[] = [
      null,
      0,
      -0.5,
      '',
      'length',
      [],
      {},
      [null],
      { role: 'assistant' },
      true,
      [[]],
      '__proto__',
      { toString: 1 },
    ];
    const mutate = (value: unknown): unknown => {
      if (random.chance(0.06)) return random.of(odd);
      if (Array.isArray(value)) return value.map(mutate).slice(random.chance(0.1) ? 1 : 0);
      if (typeof value !== 'object' || value === null) return value;
      const fields = Object.entries(value).filter(() => !random.chance(0.03));
      return Object.fromEntries(
        fields.map(([name, one]) => [
          random.chance(0.01) ? random.of(['__proto__', 'error']) : name,
          mutate(one),
        ]),
      );
    };
    for (let turn = 0; turn < 60; turn++) {
      const rows = Array.from({ length: 40 }, () => {
        const text = JSON.stringify(mutate(random.of(seeds)));
        return random.chance(0.05) ? text.slice(0, random.below(text.length)) : text;
      });
      const content = lines([random.of(Object.values(SHAPES)), ...rows]);
      const found = await convert(content, lines([mutate(asked('a')), asked('b')]));
      const reasons = Object.values(found.counts.leftOut);
      const all = content.split('\n').filter((row) => row.trim() !== '').length;
      const sum = reasons.reduce((one, other) => one + other, found.counts.rows);
      assert.equal(sum, all, `with the seed ${seed}`);
      assert.equal(found.rows.length, found.counts.rows, `with the seed ${seed}`);
      for (const row of found.rows as { messages: { role: unknown }[] }[])
        assert.equal(row.messages.at(-1)?.role, 'assistant');
    }
  });

  it('do no harm with names of prototypes, long IDs or deep nesting', async () => {
    const id = '__proto__';
    const own = JSON.parse('{"role":"user","content":"a","__proto__":{"role":"system"}}') as object;
    const proto = await convert(lines([answered(id)]), lines([asked(id, { messages: [own] })]));
    assert.match(
      proto.text,
      /^\{"messages":\[\{"role":"user","content":"a","__proto__":\{"role":"system"\}\},/,
    );
    const long = 'x'.repeat(1_000_000);
    const ids = Array.from({ length: 30 }, (_, at) => `${long}${at}`);
    const many = await convert(lines(ids.map((one) => answered(one))), lines(ids.map((one) => asked(one))));
    assert.equal(many.counts.rows, 30);
    const deep = (levels: number) => `{"x":${'['.repeat(levels)}1.5${']'.repeat(levels)}}`;
    const nested = (where: string) =>
      `{"messages":[{"role":"user","content":${where}}],"choices":${JSON.stringify(completion().choices)}}`;
    const row = lines([SHAPES['a log of its own'], nested(deep(1_000_000)), nested('"a"')]);
    assert.deepEqual(await leftOut(row), { unrecognized: 1 });
    await assert.rejects(convert(lines([answered('a')]), lines([asked('a')]), 50), { code: 'too-large' });
  });

  it('leave out a row without end, and don’t keep it in memory', async () => {
    const file = path.join(folder(), 'endless.jsonl');
    const row = line(SHAPES['a log of its own']);
    const sizeBytes = 600_000_000;
    await writeFile(file, row.repeat(500));
    await truncate(file, sizeBytes); // sparse
    const [source, output] = [await open(file), await open(path.join(folder(), 'out'), 'w')];
    let mostBytes = 0;
    try {
      const before = process.memoryUsage.rss();
      const job = { inputFd: source.fd, outputFd: output.fd, sizeBytes, extension: '.jsonl', maxBytes: 1e9 };
      const { rows, leftOut } = await convertRows(job, () => {
        mostBytes = Math.max(mostBytes, process.memoryUsage.rss() - before);
      });
      assert.deepEqual([rows, leftOut], [500, { 'too-long': 1 }]);
    } finally {
      await source.close();
      await output.close();
    }
    assert.ok(mostBytes < 300_000_000, `${mostBytes}`);
  });

  it('of a batch are counted against the limit of its requests', async () => {
    const requests = lines([asked('a')]);
    const count = mock.getter(Map.prototype, 'size', () => MAX_REQUESTS);
    try {
      assert.deepEqual((await convert(lines([answered('a')]), requests)).rows, [CHAT]);
      count.mock.mockImplementation(() => MAX_REQUESTS + 1);
      await assert.rejects(convert(lines([answered('a')]), requests), { code: 'too-many-requests' });
    } finally {
      count.mock.restore();
    }
  });

  weekly(() =>
    it('of a batch have at most a million requests', async () => {
      const ids = Array.from({ length: 1_000_001 }, (_, at) => `{"custom_id":"${at}"}\n`);
      await assert.rejects(convert(lines([answered('a')]), ids.join('')), { code: 'too-many-requests' });
    }),
  );

  it('are recognized by the first row alone', async () => {
    const { error, ...rest } = answered('a');
    for (const row of [
      answered('a'),
      rest,
      asked('a'),
      { custom_id: 'a', error },
      { custom_id: 'a', body: 1 },
    ])
      assert.equal(await kindOf(`\uFEFF\r\n${lines([row, CHAT])}`), 'requests', line(row));
    const failed = { request: request(), response: null, error: { message: 'timeout' } };
    assert.equal(await kindOf(lines([failed])), 'requests');
    const long = { request: request({ user: 'u'.repeat(200_000) }), response: completion() };
    assert.equal(await kindOf(lines([long])), 'requests');
    assert.equal(await kindOf(JSON.stringify(long)), 'requests');
    for (const row of [
      CHAT,
      { ...CHAT, response: null },
      { ...CHAT, error: { message: '' } },
      { ...CHAT, response: 'Yes.' },
      { ...CHAT, choices: ['A', 'B'] },
      { messages: ASKED, choices: null },
      { input: ASKED, output: 'Yes.' },
      { input: 'Is 7 prime?', output: 'Yes.' },
      { input: { messages: ASKED }, preferred_output: [MESSAGE], non_preferred_output: [MESSAGE] },
      { instruction: 'a', input: [], output: [] },
      { custom_id: 'a', prompt: 'b', completion: 'c' },
      { custom_id: 1, body: {} },
      { messages: ASKED, expected: 'Yes.', base: 'No.', adapter: 'Yes.', choices: completion().choices },
      [answered('a')],
    ])
      assert.notEqual(await kindOf(lines([row, answered('a')])), 'requests', line(row));
    // Such a file isn't converted to chat either.
    assert.equal((await convert(lines([CHAT, answered('a')]))).counts.isChat, false);
  });

  it('become a new file beside them, in a thread, or none if no row has an answer', async () => {
    const file = (name: string) => path.join(folder(), name);
    const inspected = async (name: string) => {
      const found = await inspectDataset(file(name), Infinity);
      assert.ok(typeof found === 'object');
      return found;
    };
    await writeFile(file('batch_output.jsonl'), lines([answered('a'), answered('b')]));
    await writeFile(file('batch_input.jsonl'), lines([asked('a')]));
    const source = await inspected('batch_output.jsonl');
    const batchInput = await inspected('batch_input.jsonl');
    const options = { batchInput };
    await assert.rejects(convertDataset(source, WORKER, 1e9), { code: 'needs-input' });
    const { path: made, rows, leftOut } = await convertDataset(source, WORKER, 1e9, options);
    assert.deepEqual([made, rows], [file('batch_output.chat.jsonl'), 1]);
    assert.deepEqual(leftOut, { 'no-request': 1 });
    assert.equal(readFileSync(made, 'utf8'), line(CHAT));
    await writeFile(file('errors.jsonl'), lines([answered('a', {}, { error: { code: 'x' } })]));
    await assert.rejects(
      convertDataset(await inspected('errors.jsonl'), WORKER, 1e9, options),
      ({ code, counts }: ConvertError) => code === 'no-answers' && counts?.leftOut.failed === 1,
    );
    // The requests must be those that were chosen.
    await writeFile(file('batch_input.jsonl'), lines([asked('a', { seed: 1 })]));
    await assert.rejects(convertDataset(source, WORKER, 1e9, options), { code: 'changing' });
    await writeFile(file('batch_output.jsonl'), lines(Array<object>(20_000).fill(answered('a'))));
    let changed: Promise<void> | undefined;
    const onProgress = () => void (changed ??= appendFile(file('batch_input.jsonl'), '\n'));
    const all = { batchInput: await inspected('batch_input.jsonl'), onProgress };
    const large = convertDataset(await inspected('batch_output.jsonl'), WORKER, 1e9, all);
    await assert.rejects(large, { code: 'changing' });
    await changed;
    assert.deepEqual((await readdir(folder())).sort(), [
      ...['batch_input.jsonl', 'batch_output.chat.jsonl', 'batch_output.jsonl', 'errors.jsonl'],
    ]);
  });
});
