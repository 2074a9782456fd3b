import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { verdictOf } from '../../../../../src/core/datasets/report.ts';
import { codesOf, problemsOf, useChecker } from '../../../../helpers/checker.ts';
import { a, args, c, chat, d, s, says, t, u } from '../../../../helpers/messages.ts';
import { Random } from '../../../../helpers/random.ts';

const FIXTURES = path.join(import.meta.dirname, '../../../../fixtures/jsonl/datasets');
/** Fixtures whose rows have problems of their own. */
const FAULTY = ['broken-rows.jsonl'];

const older = (value: unknown) => a(null, { function_call: { name: 'f', arguments: value } });
/** ShareGPT: `human:x` and so on. */
const turns = (...texts: readonly string[]) => ({
  conversations: texts.map((text) => ({ from: text.split(':')[0], value: text.split(':')[1] ?? 'x' })),
});

const openAi = (messages: readonly object[]) => ({
  input: { messages },
  preferred_output: [a('x')],
  non_preferred_output: [a('y')],
});

/** Rows and their problem, if any. */
const ROWS: Readonly<Record<string, readonly [row: object, code: string][]>> = {
  'starts with the assistant': [
    [chat(a(), u(), a()), 'starts-with-assistant'],
    [chat(s(), d(), a(), u(), a()), 'starts-with-assistant'],
    [turns('gpt', 'human', 'gpt'), 'starts-with-assistant'],
    [turns('function_call', 'observation', 'human', 'gpt'), 'starts-with-assistant'],
    // Text to continue, or answers in another field.
    [chat(a()), ''],
    [chat(s(), a()), ''],
    [chat(c(), t(), a()), ''],
    [
      chat({ role: 'assistant', content: 'x' }, { role: 'critic', content: 'y' }, u(), a()),
      'role-unknown starts-with-assistant',
    ],
  ],
  'has the same role twice in a row': [
    [chat(u(), u(), a()), 'repeated-role'],
    [chat(u(), a(), a()), 'repeated-role'],
    // A text, and then its call.
    [chat(u(), a(), c(), t(), a()), ''],
    [chat(u(), a(), a('x', args('{}')), t(), a()), ''],
    [chat(u(), a(), older('{}'), { role: 'function', content: '1' }, a()), ''],
    [chat(u(), a(), a('x', { tool_calls: [] })), 'repeated-role'],
    [turns('human', 'user', 'gpt'), 'repeated-role'],
    [turns('human', 'gpt', 'chatgpt'), 'repeated-role'],
    [chat(s(), s(), u(), a()), ''],
    [chat(u(), c(), t(), t(), a()), ''],
    ...['weight', 'train', 'loss', 'prefix', 'name'].flatMap((name): [object, string][] => [
      [chat(u(), u('x', { [name]: 0 }), a()), name === 'weight' ? name : ''],
      [chat(u(), a('x', { [name]: 0 }), a()), ''],
      [chat(u(), a('x', { [name]: null }), a()), 'repeated-role'],
      [chat(u(), a('x', { [`${name}s`]: 1 }), a()), 'repeated-role'],
    ]),
    // A call as a message of its own.
    [turns('human', 'gpt', 'function_call', 'observation', 'gpt'), ''],
    [chat(u(), { role: 'assistant', content: 'x', meta: { weight: 1 } }, a()), 'repeated-role'],
  ],
  'has a system message in the middle': [
    [chat(u(), s(), a()), 'system-inside'],
    [chat(s(), u(), a(), d(), u(), a()), 'system-inside'],
    [turns('human', 'system', 'gpt'), 'system-inside'],
    [chat(s(), d(), s(), u(), a()), ''],
  ],
  'has a tool result without its call': [
    [chat(u(), t(), a()), 'tool-order'],
    [chat(t(), u(), a()), 'tool-order'],
    [chat(s(), t(), u(), a()), 'tool-order'],
    [turns('human', 'observation', 'gpt'), 'tool-order'],
    [turns('human', 'tool_response', 'gpt'), 'tool-order'],
    [turns('human', 'ipython', 'gpt'), 'tool-order'],
    [chat(u(), a('f()'), t(), a(), u(), c(), t(), a()), 'tool-order'],
    [chat(u(), c(), t(), a('f()'), t(), a()), 'tool-order'],
    [chat(u(), older('{}'), { role: 'function', content: '1' }, u(), t(), a()), 'tool-order'],
    // A call as text.
    [chat(u(), a('f()'), t(), t(), a()), ''],
    [chat(u(), c(), t(), t(), t(), a()), ''],
    [chat(u(), older('{}'), { role: 'function', content: '1' }, a()), ''],
    [turns('human', 'function_call', 'observation', 'observation', 'gpt'), ''],
    [chat(u(), { role: 'tool_call', content: '{}' }, { role: 'tool_response', content: '1' }, a()), ''],
  ],
  'has a tool call without a result': [
    [chat(u(), c(), a()), 'tool-order'],
    [chat(u(), c(), u(), a()), 'tool-order'],
    [chat(u(), c(), s(), a()), 'system-inside tool-order'],
    [chat(u(), c(), c(), t(), a()), 'tool-order'],
    [chat(u(), older('{}'), a()), 'tool-order'],
    [turns('human', 'function_call', 'gpt'), 'tool-order'],
    [chat(u(), { role: 'tool_call', content: '{}' }, u(), a()), 'tool-order'],
    [chat(u(), c()), ''],
    [chat(u(), older('{}')), ''],
    [turns('human', 'function_call'), ''],
    [turns('human', 'function_call', 'function_call', 'observation', 'gpt'), ''],
    [chat(u(), a('x', { tool_calls: [] }), u(), a()), ''],
    [chat(u(), a('x', { tool_calls: null, function_call: null }), u(), a()), ''],
    [chat(u(), a('x', { calls: [{ name: 'f' }] }), u(), a()), ''],
    [chat(u('x', args('{}')), u(), a()), 'repeated-role'],
  ],
  'has tool arguments that are no object': [
    ...['x', '[]', '{', '}', '{"a":1', '"a":1}', 'a {}', '{} x', '{}{', '\\{}', '1', 'null', '  x '].flatMap(
      (text): [object, string][] => [
        [chat(u(), c(text)), 'tool-arguments'],
        [chat(u(), older(text)), 'tool-arguments'],
        [chat(u(), a(null, { tool_calls: [{ name: 'f', arguments: text }] })), 'tool-arguments'],
      ],
    ),
    ...['', ' \n\t', '{}', ' {"a":"b"}\r\n', '\u00a0{"a":{}}\u3000', '{not read}'].map(
      (text): [object, string] => [chat(u(), c(text)), ''],
    ),
    ...[null, {}, { arguments: 'x' }, { function: { arguments: 'x' } }, 5, ['x']].flatMap(
      (value): [object, string][] => [
        [chat(u(), c(value)), ''],
        [chat(u(), older(value)), ''],
        [chat(u(), a(null, { tool_calls: [{ name: 'f', arguments: value }] })), ''],
      ],
    ),
    [chat(u(), a(null, { tool_calls: [{ input: { arguments: 'x' } }] })), ''],
    [chat(u(), a(null, { tool_calls: [[{ arguments: 'x' }]] })), ''],
    [chat(u(), a('x', { arguments: 'x', meta: { function: { arguments: 'x' } } })), ''],
    [turns('human', 'function_call:x', 'observation', 'gpt'), ''],
    [chat(u(), a(null, { tool_calls: [{ function: {}, meta: { arguments: 'x' } }] })), ''],
    [
      chat(u(), a(null, { tool_calls: [{ meta: { function: 1 }, function: { arguments: 'x' } }] })),
      'tool-arguments',
    ],
    [chat(u(), a(null, { tool_calls: [{ function: {}, arguments: 'x' }] })), 'tool-arguments'],
    [chat(u(), a(null, { function_call: { meta: { arguments: {} }, name: 'x' } })), ''],
    [chat(u(), a(null, { function_call: { arguments: { function: 'x' }, name: 'x' } })), ''],
    [chat(u(), c({}), t(), c('x')), 'tool-arguments'],
    [
      chat(u(), a(null, { tool_calls: [{ function: { arguments: {} } }, { function: { arguments: 'x' } }] })),
      'tool-arguments',
    ],
  ],
  'has the same chosen and rejected answer': [
    [{ chosen: 'a', rejected: 'a' }, 'same-answers'],
    [{ rejected: 'a', prompt: 'a', chosen: 'a' }, 'same-answers'],
    [{ chosen: [a('x')], rejected: [a('x')] }, 'same-answers'],
    [
      { ...turns('human', 'gpt', 'human'), chosen: { from: 'gpt' }, rejected: { from: 'gpt' } },
      'same-answers',
    ],
    [{ chosen: 'a', rejected: 'b' }, ''],
    [{ chosen: 'a', rejected: 'a ' }, ''],
    [{ chosen: [a('x')], rejected: [a('y')] }, ''],
    [{ chosen: '[]', rejected: [] }, ''],
    [{ prompt: 'a', completion: 'a', chosen: 'b', rejected: 'c' }, ''],
    [{ chosen: 5, rejected: 5, id: 1 }, 'field-wrong-type'],
    [{ chosen: null, rejected: null }, 'field-wrong-type'],
    [{ meta: { chosen: 'a', rejected: 'a' }, text: 'x' }, ''],
  ],
  'has no order of roles to check': [
    // Without an assistant, only this is reported.
    [chat(u(), u(), s(), t()), 'no-assistant'],
    ...['chosen', 'rejected'].map((name): [object, string] => [
      { ...chat(a(), u(), u(), s(), t(), c('x'), u()), [name]: 'x' },
      '',
    ]),
    [{ rejected_response: 'x', ...chat(a(), u(), u(), s(), t(), c('x'), u()) }, ''],
    [{ ...chat(u()), chosen: null, rejected: 'x' }, ''],
    [{ ...chat(u()), rejected_responses: 'x' }, 'no-assistant'],
    // Tools in the contents.
    ...[{ type: 'tool_use' }, { type: 'tool_call', value: '{}' }, { toolUse: {} }, { functionCall: {} }].map(
      (part): [object, string] => [
        chat(a(), u(), a([part]), u([{ type: 'tool_result' }]), u(), s(), t()),
        'last-not-assistant',
      ],
    ),
    [chat(u(), u([{ type: 'text', text: 'tool_use', tools: 1 }, { type: 'a tool' }]), a()), ''],
    [chat(u(), u([{ type: 'text', text: 'tool_use' }, { type: 'a tool' }]), a()), 'repeated-role'],
    [
      chat(u('x', { type: 'tool_use', tool_use: { tool: [{ type: 'tool_use' }] } }), u(), a()),
      'repeated-role',
    ],
    // Inside these lists, only roles and contents count.
    ...['prompt', 'completion'].map((name): [object, string] => [
      { prompt: 'x', completion: 'y', [name]: [a(), u(), u(), s(), t(), c('x'), u()] },
      '',
    ]),
    [{ prompt: [u()], chosen: [a(), u(), u()], rejected: [t(), s()] }, ''],
    [{ prompt: [u(), says('me')()], completion: 'x' }, 'role-unknown'],
    [{ prompt: 'x', completion: [{ content: 'x' }] }, 'role-missing'],
    [{ chosen: [{ role: 'assistant' }], rejected: 'x' }, 'content-missing'],
    [{ chosen: 'x', rejected: [u(), a(5)] }, 'content-wrong-type'],
    // A list in an object is as deep as the list alone.
    [openAi([a(), u(), u(), s(), c('x'), t()]), ''],
    [openAi([u(), says('me')()]), 'role-unknown'],
    [openAi([{ content: 'x' }]), 'role-missing'],
    [openAi([u([{ type: 'text', text: ' ' }])]), 'content-empty'],
    [openAi([u([{ type: 'text', text: 'x' }])]), ''],
    [{ chosen: { messages: [a(5)] }, rejected: 'x' }, 'content-wrong-type'],
    [{ chosen: { messages: [says('robot')('x')] }, rejected: { messages: [a('x')] } }, 'role-unknown'],
    [{ ...openAi([says('robot')()]), non_preferred_output: { messages: [a('z')] } }, 'role-unknown'],
    [{ input: { messages: 'x' }, ...chat([1], u()) }, 'message-not-object no-assistant'],
    [{ chosen: 'x', rejected: [u(), a([' '])] }, 'content-empty'],
    [{ chosen: 'x', rejected: [a('', { tool_calls: [{}] })] }, ''],
    [{ prompt: { role: 'me', content: [{ text: '' }] }, completion: 'x' }, 'field-wrong-type'],
    [{ prompt: ['x', [['y']], 5, null], completion: 'x' }, ''],
    [{ prompt: 'x', completion: 'y', input: [{ role: 'me' }] }, ''],
  ],
  'has weights that are neither 0 nor 1, or not of the assistant': [
    ...[0.5, 2, -1, '1', '', true, [1], { a: 0 }].map((weight): [object, string] => [
      chat(u(), a('x', { weight })),
      'weight',
    ]),
    ...[u, s, t].map((of): [object, string] => [
      chat(s(), u(), c(), of(), of('x', { weight: 1 }), a()),
      ['weight', ...(of === t ? [] : ['tool-order']), ...(of === s ? ['system-inside'] : [])].join(' '),
    ]),
    ...[0, 1].map((weight): [object, string] => [chat(u(), a('x'), u(), a('y', { weight })), '']),
    [chat({ weight: 1, content: 'x', role: 'user' }, a()), 'weight'],
    [chat({ weight: 1, content: 'x', role: 'assistant' }), ''],
    [chat(u(), a('x', { weight: null })), ''],
    [chat(u('x', { weight: null }), a()), ''],
    [chat(u('x', { loss: false }), a('x', { loss: true, prefix: true, name: 'b' })), ''],
    [chat(u(), says('critic')('x', { weight: 1 }), a()), 'role-unknown'],
    [chat(u(), a('x', { weights: 2, meta: { weight: 2 } })), ''],
    [
      {
        conversations: [
          { from: 'human', value: 'x', weight: 0 },
          { from: 'gpt', value: 'x' },
        ],
      },
      'weight',
    ],
    [{ prompt: [u()], completion: [a('x', { weight: '0' })] }, 'weight'],
    [{ weight: 0.5, ...chat(u(), a()) }, ''],
  ],
  'has only answers that are not to be learned': [
    [chat(u(), a('x', { weight: 0 })), 'weights-zero'],
    [chat(u(), a('x', { weight: 0 }), u(), c('{}'), t(), a('y', { weight: 0 })), ''],
    [chat(u(), a('x', { weight: 0 }), u(), a('y', { weight: 0 })), 'weights-zero'],
    [chat(u(), a('x', { weight: 0 }), u(), a('y')), ''],
    [chat(u(), a(null, { ...args('{}'), weight: 0 })), 'weights-zero'],
    [chat(u(), { weight: 0, role: 'assistant', content: 'x' }), 'weights-zero'],
    [chat(u(), a('x', { weight: false })), 'weight weights-zero'],
    ...['train', 'loss'].flatMap((name): [object, string][] => [
      [chat(u(), a('x', { [name]: false })), 'weights-zero'],
      [chat(u(), a('x', { weight: 0, [name]: true })), 'weights-zero'],
      [chat(u(), a('x', { [name]: false, weight: 1 })), 'weights-zero'],
      [chat(u(), a('x', { [name]: 0.1 })), ''],
      [chat(u('x', { [name]: false }), a('x')), ''],
    ]),
    [chat(u(), a('x', { prefix: false })), ''],
    [chat(u('x', { weight: 0 }), a('x')), 'weight'],
    [
      {
        conversations: [
          { from: 'human', value: 'x' },
          { from: 'gpt', value: 'x', weight: 0 },
        ],
      },
      'weights-zero',
    ],
    [{ prompt: [u(), a(), u()], completion: [a('x', { weight: 0 })] }, 'weights-zero'],
    [{ prompt: [u(), a('x', { weight: 0 }), u()], completion: [a()] }, ''],
    [{ prompt: [u()], chosen: [a('x', { weight: 0 })], rejected: [a('y', { weight: 0 })] }, ''],
    [{ ...chat(u(), a('x', { weight: 0 })), rejected_response: 'y' }, ''],
  ],
  'has other roles': [
    ...['bard', 'bing', 'claude', 'model', 'ai', 'bot', 'gpt', 'chatgpt'].flatMap(
      (name): [object, string][] => [
        [turns('human', name), ''],
        [chat(u(), says(name)(), a()), 'role-unknown'],
      ],
    ),
    ...['tool_call', 'tool_response', 'ipython'].flatMap((name): [object, string][] => [
      [turns('human', 'gpt', name, 'gpt'), name === 'tool_call' ? 'tool-order' : ''],
      [chat(u(), a(), says(name)(), a()), name === 'tool_call' ? 'tool-order' : ''],
      [turns('human', 'gpt', `${name}s`, 'gpt'), 'role-unknown'],
    ]),
    [chat(says('pretrain')()), ''],
    [chat(says('pretrain')(), says('pretrain')()), ''],
    [turns('pretrain'), ''],
    [chat(says('pretrain')('')), 'content-empty'],
    [chat(says('pretraining')()), 'role-unknown'],
    [chat(u(), u()), 'no-assistant'],
    [{ conversations: ['question', 'answer'] }, ''],
    [{ conversations: ['question', 'answer', 'more', 'again'] }, ''],
    [{ conversations: ['question'] }, 'no-assistant'],
    [{ conversations: ['question', 'answer', 'more'] }, 'last-not-assistant'],
    [{ conversations: ['question', '\n'] }, 'content-empty'],
    [{ conversations: ['question', 5] }, 'message-not-object no-assistant'],
    [{ conversations: [u(), 'x', a()] }, 'message-not-object'],
    [chat(u(), [5], a()), 'message-not-object'],
    [{ messages: ['question', 'answer'] }, 'message-not-object messages-empty'],
  ],
  'has an empty content': [
    ...[' ', '\n', '\r\n\t', '\f', '\v', '\u00a0', '\u3000\u2003\ufeff', '\u2028\u2029'].flatMap(
      (text): [object, string][] => [
        [chat(u(text), a()), 'content-empty'],
        [chat(u([{ type: 'text', text }]), a()), 'content-empty'],
        [chat(u([{ text }, { text }, text]), a()), 'content-empty'],
        [chat(u([{ text }, { type: 'text', text: 'x' }]), a()), ''],
        [{ prompt: text, completion: 'x' }, 'field-empty'],
        [chat(u(), c(), t(text), a()), ''],
        [chat(u(), a(text, { reasoning_content: 'x' })), ''],
      ],
    ),
    ...['x ', ' x', '\u200b', '\u0085', '\b', '.', '\\n', '\u0000'].map((text): [object, string] => [
      chat(u(text), a()),
      '',
    ]),
    [chat(u([{ type: 'text', value: '' }]), a()), ''],
    [chat(u([{ type: 'text', text: null }]), a()), ''],
    [chat(u([{ type: 'text', text: [] }]), a()), ''],
    [chat(u([{ type: 'image', image: '' }]), a()), ''],
    [chat(u([{ type: 'image', meta: { text: '' } }]), a()), ''],
    [chat(u([{ text: '' }, { type: 'image' }]), a()), ''],
    [chat(u([{ text: 'x' }, ['']]), a()), ''],
    [chat(u([{ text: '' }, ['']]), a()), ''],
    [chat(u([]), a()), 'content-empty'],
    [chat(u(), c(), t([]), a()), ''],
    [chat(u(), c(), { role: 'function', content: '' }, a()), ''],
    [turns('human', 'function_call', 'observation:', 'gpt'), ''],
    [chat(u(), c(), { role: 'tool' }, a()), 'content-missing'],
    [chat(u(), c(), t(null), a()), 'content-missing'],
    ...['reasoning', 'reasoning_content', 'thinking'].flatMap((name): [object, string][] => [
      [chat(u(), a('', { [name]: 'x' })), ''],
      [chat(u(), a('', { [name]: [{ text: 'x' }] })), ''],
      [chat(u(), a('', { [name]: ' ' })), 'content-empty'],
      [chat(u(), a('', { [name]: null })), 'content-empty'],
      [chat(u(), a('', { [`${name}s`]: 'x' })), 'content-empty'],
    ]),
    [chat(u(), a('', { tool_calls: [] })), 'content-empty'],
    [chat(u(), a('', { tool_calls: ['{}'] })), ''],
  ],
};

describe('the conversation of a row', () => {
  const { check, checker } = useChecker();

  for (const [title, rows] of Object.entries(ROWS))
    it(title, async () => {
      const report = await check(rows.map(([row]) => JSON.stringify(row)).join('\n'));
      for (const [index, [row, code]] of rows.entries()) {
        const found = codesOf(report, index + 1).filter(
          (one) => one !== 'duplicate-row' && one !== 'different-format',
        );
        assert.equal(found.join(' '), code.split(' ').sort().join(' '), JSON.stringify(row));
      }
    });

  it('has weights of 0 in any spelling, and only the last of several lists', async () => {
    const answer = (weight: string) =>
      `[{"role":"user","content":"x"},{"role":"assistant","content":"y"${weight}}]`;
    const rows = [
      ...['0.0', '-0', '0e5', '0.1', '10', '1.0', '1e0'].map(
        (one) => `{"messages":${answer(`,"weight":${one}`)}}`,
      ),
      `{"messages":${answer(',"weight":0')},"messages":${answer('')}}`,
      `{"messages":${answer('')},"messages":${answer(',"weight":0')}}`,
      `{"messages":${answer(',"weight":2,"weight":1')}}`,
      `{"messages":${answer(',"weight":0')},}`,
    ];
    const report = await check(rows.join('\n'));
    const both = 'weight weights-zero';
    assert.deepEqual(
      rows.map((_, index) => codesOf(report, index + 1).join(' ')),
      [
        ...[both, both, both, 'weight', 'weight', 'weight', 'weight'],
        ...['duplicate-key', 'duplicate-key weights-zero', 'duplicate-key weight', 'trailing-comma'],
      ],
    );
    assert.deepEqual(report.untrainable, { format: 0, content: 0, answer: 0, weight: 4 });
    assert.deepEqual([verdictOf(report), verdictOf(await check(rows[0]!))], ['errors', 'errors']);
    assert.equal(verdictOf(await check(rows.slice(0, 4).join('\n'))), 'warnings');
  });

  it('has its problems at the role of the message, which says what is meant', async () => {
    const places = [
      [chat(u('1'), u('2'), a()), 'repeated-role', '"user","content":"2', 'user'],
      [turns('human', 'gpt:1', 'bot:2'), 'repeated-role', '"bot"', 'bot'],
      [chat(u(), { content: '1', role: 'tool' }, t('2'), a()), 'tool-order', '"tool"}', 'tool'],
      [
        chat(u(), c(), t(), a('f()'), t('2'), u(), t(), a()),
        'tool-order',
        '"tool","content":"tool"},{"role":"assistant","content":"assistant"',
        'tool',
      ],
      [chat(u(), c(), a('2')), 'tool-order', '"assistant","content":null', 'assistant'],
      [chat(a('1'), u(), a()), 'starts-with-assistant', '"assistant","content":"1', undefined],
      [chat(u(), d('1'), a()), 'system-inside', '"developer"', undefined],
      [chat(u(), c(' x ')), 'tool-arguments', '" x "', undefined],
      [{ chosen: 'x', rejected: 'x' }, 'same-answers', '"x"}', undefined],
      [chat(u('x', { weight: 1 }), a()), 'weight', ':1}', undefined],
      [chat(u(), a('x', { weight: 0 })), 'weights-zero', ':0}', undefined],
    ] as const;
    const rows = places.map(([row]) => JSON.stringify(row));
    const problems = problemsOf(await check(rows.join('\n')));
    for (const [index, [, code, at, detail]] of places.entries()) {
      const found = problems.find((one) => one.row === index + 1 && one.code === code);
      const start = rows[index]!.indexOf(at) + (code === 'same-answers' ? 0 : 1);
      assert.deepEqual([found?.column, found?.detail], [start + 1, detail], rows[index]);
    }
  });

  it('is checked in rows that are objects only, and counted by role', async () => {
    const broken = `${JSON.stringify(chat(a(), u(), u(), c('x'), u(), s()))}x`;
    const { problems } = await check(`${broken}\n{"chosen":"a","rejected":"a"},,`);
    assert.deepEqual(
      problems.map(({ code }) => code),
      ['extra-value'],
    );
    const rows = [
      turns('human', 'function_call', 'observation', 'bard'),
      { conversations: ['a', 'b', 'c'] },
      chat(says('pretrain')()),
    ];
    const { statistics } = await check(rows.map((row) => JSON.stringify(row)).join('\n'));
    assert.deepEqual(statistics.roles, { system: 0, user: 3, assistant: 3, tool: 1, other: 1 });
    assert.equal(statistics.maxTurns, 4);
  });

  it('has no problem in rows of common trainers', async () => {
    for (const file of (await readdir(FIXTURES)).filter((name) => !FAULTY.includes(name))) {
      const report = await checker().check(path.join(FIXTURES, file));
      const shapes = problemsOf(report).filter(
        (one) => one.class === 'shape' && one.code !== 'different-format',
      );
      assert.deepEqual(
        shapes.map(({ code, row, column }) => [code, row, column]),
        [],
        file,
      );
    }
  });

  it('has a content that is empty as JavaScript’s trim says', async () => {
    const random = new Random(Date.now() % 1e9);
    const units = [
      ...Array(0x80).keys(),
      0x85,
      0xa0,
      0x1680,
      0x180e,
      0x1fff,
      ...Array.from({ length: 0x70 }, (_, at) => 0x2000 + at),
      0x3000,
      0xfeff,
      0xfffe,
      0xd83d,
    ];
    const texts = [
      ...units.map((unit) => String.fromCharCode(unit)),
      ...Array.from({ length: 300 }, () =>
        random.several(5, () => random.of([' ', '\n', '\u00a0', '\u3000', '\ufeff', 'x', '\u0085'])).join(''),
      ),
    ];
    const escaped = (text: string) =>
      Array.from(
        { length: text.length },
        (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`,
      ).join('');
    for (const write of [JSON.stringify, (text: string) => `"${escaped(text)}"`]) {
      const report = await check(texts.map((text) => `{"text":${write(text)}}`).join('\n'));
      for (const [index, text] of texts.entries())
        assert.equal(codesOf(report, index + 1).includes('field-empty'), text.trim() === '', write(text));
    }
  });
});
