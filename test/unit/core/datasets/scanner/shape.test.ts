import assert from 'node:assert/strict';
import { FORMATS, ROLES, type Format, type Role } from '../../../../../src/core/datasets/report.ts';
import { codesOf, problemsOf, useChecker } from '../../../../helpers/checker.ts';
import { Random } from '../../../../helpers/random.ts';

const user = '{"role":"user","content":"hi"}';
const assistant = '{"role":"assistant","content":"hello"}';
const chat = (...messages: string[]) => `{"messages":[${messages.join(',')}]}`;
const sharegpt = (...turns: string[]) => `{"conversations":[${turns.join(',')}]}`;

/** A row, the problems of its shape, and the text at the place of the first. */
const table: readonly [row: string, codes: string, at?: string][] = [
  [chat(user, assistant), ''],
  [chat('{"role":"system","content":"x"}', user, assistant), ''],
  [chat('{"role":"developer","content":"x"}', user, assistant), ''],
  [
    chat(
      user,
      '{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f"}}]}',
      '{"role":"tool","content":"1"}',
      assistant,
    ),
    '',
  ],
  [chat(user, '{"role":"assistant","content":null,"tool_calls":[{"id":"1"}]}'), ''],
  [chat(user, '{"role":"assistant","content":"","tool_calls":[{"id":"1"}]}'), ''],
  [
    chat(
      user,
      '{"role":"assistant","function_call":{"name":"f","content":5}}',
      '{"role":"function","content":"1"}',
      assistant,
    ),
    '',
  ],
  [
    chat(
      '{"role":"user","content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"y"}}]}',
      assistant,
    ),
    '',
  ],
  [chat('{"role":"user","content":["x","y"]}', assistant), ''],
  [chat('{"content":"first, then who","role":"user"}', assistant), ''],
  [
    chat(user, '{"role":"assistant","content":"x","name":"bot","weight":1,"meta":{"role":"?","content":7}}'),
    '',
  ],
  ['{"messages":1}', 'messages-not-array', '1'],
  ['{"messages":null}', 'messages-not-array', 'null'],
  ['{"messages":{"role":"user"}}', 'messages-not-array', '{"role'],
  ['{"messages":[]}', 'messages-empty', ']'],
  [chat('"x"', user, assistant), 'message-not-object', 'x"'],
  [chat('[]', user, assistant), 'message-not-object', '[]'],
  [chat('{"content":"x"}', assistant), 'role-missing', '{"content'],
  [chat('{"role":"bot","content":"x"}', assistant), 'role-unknown', 'bot'],
  [chat('{"role":5,"content":"x"}', assistant), 'role-unknown', '5'],
  [chat('{"role":["user"],"content":"x"}', assistant), 'role-unknown', '["user'],
  [chat('{"role":"human","content":"x"}', assistant), 'role-unknown', 'human'],
  [chat('{"role":"user"}', assistant), 'content-missing', '{"role'],
  [chat('{"role":"user","content":null}', assistant), 'content-missing', '{"role'],
  [chat(user, '{"role":"assistant","content":null}'), 'content-missing', '{"role":"assistant'],
  [chat('{"role":"user","content":5}', assistant), 'content-wrong-type', '5'],
  [chat('{"role":"user","content":{"a":1}}', assistant), 'content-wrong-type', '{"a"'],
  [chat('{"role":"user","content":[5]}', assistant), 'content-wrong-type', '5'],
  [chat('{"role":"user","content":""}', assistant), 'content-empty', '""'],
  [chat('{"role":"user","content":"  "}', assistant), 'content-empty', '"  "'],
  [chat('{"role":"user","content":[]}', assistant), 'content-empty', ']}'],
  [chat(user), 'no-assistant', '{"role'],
  [chat(user, assistant, user), 'last-not-assistant'],
  [
    '{"messages":[],"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]}',
    'messages-empty',
  ],
  ['{"prompt":"a","completion":"b"}', ''],
  [`{"prompt":[${user}],"completion":[${assistant}]}`, ''],
  ['{"prompt":"a"}', 'field-missing', '{'],
  ['{"completion":"a"}', 'field-missing', '{'],
  ['{"prompt":"a","completion":5}', 'field-wrong-type', '5'],
  ['{"prompt":{"a":1},"completion":"b"}', 'field-wrong-type', '{"a"'],
  ['{"prompt":"a","completion":" "}', 'field-empty', '" "'],
  ['{"prompt":5,"completion":"b","prompt":"a"}', ''],
  ['{"instruction":"a","input":"b","output":"c"}', ''],
  ['{"instruction":"a","input":"","output":"c"}', ''],
  ['{"instruction":"a","input":null,"output":"c"}', ''],
  ['{"instruction":"a","output":"c"}', ''],
  ['{"instruction":"a"}', 'field-missing'],
  ['{"input":"a","output":"c"}', 'field-missing'],
  ['{"instruction":"a","input":7,"output":"c"}', 'field-wrong-type', '7'],
  ['{"instruction":"a","output":""}', 'field-empty', '""'],
  ['{"question":"a","answer":"b"}', ''],
  ['{"question":"a"}', 'field-missing'],
  ['{"question":"","answer":"b"}', 'field-empty', '""'],
  ['{"question":"a","answer":["b"]}', 'field-wrong-type', '["b"'],
  ['{"text":"a"}', ''],
  ['{"text":""}', 'field-empty', '""'],
  ['{"text":false}', 'field-wrong-type', 'false'],
  ['{"chosen":"a","rejected":"b"}', ''],
  ['{"prompt":"p","chosen":"a","rejected":"b"}', ''],
  [`{"prompt":[${user}],"chosen":[${assistant}],"rejected":[${assistant}]}`, ''],
  ['{"chosen":"a"}', 'field-missing'],
  ['{"chosen":"a","rejected":""}', 'field-empty', '""'],
  ['{"chosen":"a","rejected":null}', 'field-wrong-type', 'null'],
  [sharegpt('{"from":"human","value":"x"}', '{"from":"gpt","value":"y"}'), ''],
  [
    sharegpt(
      '{"from":"system","value":"s"}',
      '{"from":"user","value":"x"}',
      '{"from":"chatgpt","value":"y"}',
    ),
    '',
  ],
  [
    sharegpt(
      '{"from":"human","value":"x"}',
      '{"from":"function_call","value":"f"}',
      '{"from":"observation","value":"1"}',
      '{"from":"gpt","value":"y"}',
    ),
    '',
  ],
  [sharegpt('{"role":"user","content":"x"}', '{"role":"assistant","content":"y"}'), ''],
  [sharegpt('{"from":"human","value":"x"}'), 'no-assistant'],
  [sharegpt('{"from":"human"}', '{"from":"gpt","value":"y"}'), 'content-missing'],
  [sharegpt('{"from":"me","value":"x"}', '{"from":"gpt","value":"y"}'), 'role-unknown', 'me"'],
  ['{"conversations":"x"}', 'messages-not-array'],
  // What does not belong to the row's format is its own business.
  [`{"messages":[${user},${assistant}],"text":"","input":5,"prompt":{}}`, ''],
  ['{"question":"a","answer":"b","text":5}', ''],
  ['{}', 'unknown-format', '{'],
  ['{"a":{"messages":5}}', 'unknown-format', '{'],
  ['{"__proto__":{"messages":[]}}', 'unknown-format'],
  ['{"Messages":[]}', 'unknown-format'],
  // Nothing is said of the shape of what is no JSON, and nothing more of what is no object.
  ['{"messages":[],}', ''],
  ['[{"messages":[]}]', ''],
];

/** What is said besides the shape. */
const OTHER = ['duplicate-key', 'trailing-comma', 'not-an-object', 'different-format', 'duplicate-row'];

describe('the shape of rows', () => {
  const { check } = useChecker();

  it('is judged as in a table, for every format and warning', async () => {
    const report = await check(table.map(([row]) => row).join('\n'));
    for (const [index, [row, codes, at]] of table.entries()) {
      const found = codesOf(report, index + 1).filter((code) => !OTHER.includes(code));
      assert.equal(found.join(' '), codes, row);
      if (at === undefined) continue;
      const problem = problemsOf(report).find(({ row, code }) => row === index + 1 && code === codes);
      assert.equal(row.slice(problem!.column - 1).slice(0, at.length), at, row);
    }
    const said = new Set(
      problemsOf(report).flatMap(({ class: name, code }) => (name === 'shape' ? [code] : [])),
    );
    // All but the one of the next test.
    assert.equal(said.size, 16, [...said].join(' '));
  });

  it('warns of very long rows', async () => {
    const row = (length: number) => `{"text":"${'x'.repeat(length - 11)}"}`;
    const report = await check(`${row(32767)}\n${row(32768)}\r\n${row(32769)}`);
    const long = problemsOf(report).filter(({ code }) => code === 'very-long-row');
    assert.deepEqual(
      long.map(({ row }) => row),
      [2, 3],
    );
  });

  it('is that of most rows, and the others differ', async () => {
    const rows = [
      '{"text":"1"}',
      '{"question":"2","answer":"2"}',
      '{"text":"3"}',
      '{"a":1}',
      '[]',
      chat(user, assistant),
    ];
    const report = await check(rows.join('\n'));
    assert.equal(report.format, 'text');
    assert.deepEqual(
      problemsOf(report).flatMap(({ code, row }) => (code === 'different-format' ? [row] : [])),
      [2, 6],
    );
    assert.equal(report.formats.text, 2);
    assert.equal(report.formats.unknown, 1);
  });

  it('has no format of the file where no row has one', async () => {
    const report = await check('{"a":1}\n[]\n');
    assert.equal(report.format, undefined);
    assert.equal(report.formats.unknown, 1);
  });

  it('knows the lengths of short rows exactly', async () => {
    const row = (length: number) => `{"text":"${'x'.repeat(length - 11)}"}\n`;
    const { lengths } = (await check([31, 14, 15, 13, 12].map(row).join(''))).statistics;
    assert.deepEqual(lengths.percentiles, { p50: 14, p99: 31 });
    const four = (await check([15, 14, 13, 12].map(row).join(''))).statistics.lengths;
    assert.deepEqual([four.percentiles.p50, four.maxBytes], [13, 15]);
    assert.deepEqual(four.histogram, [{ fromBytes: 1, toBytes: 32, rows: 4 }]);
  });

  it('counts rows, characters, formats, roles, turns and lengths like a plain program', async () => {
    const random = new Random(5);
    const text = () =>
      random.of(['a', 'é', '模型', '😀']).repeat(1 + random.below(random.chance(0.05) ? 3000 : 60));
    const turn = (role: string) => JSON.stringify({ role, content: text() });
    const makers: Partial<Record<Format, () => string>> = {
      chat: () =>
        chat(...random.several(9, () => turn(random.of(['system', 'user', 'assistant', 'tool', 'bot'])))),
      sharegpt: () =>
        sharegpt(
          ...random.several(5, () =>
            JSON.stringify({ from: random.of(['human', 'gpt', 'observation']), value: text() }),
          ),
        ),
      'question-answer': () => JSON.stringify({ question: text(), answer: text() }),
      text: () => JSON.stringify({ text: text() }),
      unknown: () => '{}',
    };
    const formats = Object.fromEntries(FORMATS.map((name) => [name, 0]));
    const roles = Object.fromEntries(ROLES.map((name) => [name, 0])) as Record<Role, number>;
    const roleOf: Record<string, Role> = {
      ...{ system: 'system', user: 'user', human: 'user', assistant: 'assistant', gpt: 'assistant' },
      ...{ tool: 'tool', observation: 'tool', bot: 'other' },
    };
    let maxTurns = 0;
    let blank = 0;
    const lengths: number[] = [];
    const lines = Array.from({ length: 4000 }, () => {
      if (random.chance(0.05)) {
        blank++;
        return ' '.repeat(random.below(3));
      }
      const format = random.of(FORMATS.filter((name) => makers[name] !== undefined));
      const row = makers[format]!();
      formats[format]!++;
      lengths.push(Buffer.byteLength(row));
      const { messages, conversations } = JSON.parse(row) as Record<
        string,
        Record<string, string>[] | undefined
      >;
      const turns = messages ?? conversations ?? [];
      for (const { role, from } of turns) roles[roleOf[(role ?? from)!]!]++;
      maxTurns = Math.max(maxTurns, turns.length);
      return row;
    });
    const content = `\ufeff${lines.map((line) => line + random.of(['\n', '\r\n'])).join('')}`;
    const report = await check(content);
    assert.equal(report.rows, lines.length);
    assert.equal(report.blankRows, blank);
    assert.deepEqual(report.formats, formats);
    assert.deepEqual(report.statistics.roles, roles);
    assert.equal(report.statistics.maxTurns, maxTurns);
    assert.equal(report.statistics.characters, Array.from(content).length - 1);
    assert.equal(report.statistics.estimatedTokens, Math.round(report.sizeBytes / 4));
    const sorted = lengths.sort((one, other) => one - other);
    const told = report.statistics.lengths;
    assert.equal(told.maxBytes, sorted.at(-1));
    for (const [name, share] of Object.entries({ p50: 0.5, p99: 0.99 })) {
      const exact = sorted[Math.ceil(sorted.length * share) - 1]!;
      const percentile = told.percentiles[name as 'p50'];
      assert.ok(percentile >= exact && percentile <= exact * 1.0323, `${name}: ${percentile} for ${exact}`);
    }
    for (const [index, { fromBytes, toBytes, rows }] of told.histogram.entries()) {
      assert.equal(rows, sorted.filter((length) => length >= fromBytes && length < toBytes).length);
      assert.equal(toBytes, told.histogram[index + 1]?.fromBytes ?? toBytes);
    }
    assert.equal(
      told.histogram.reduce((sum, { rows }) => sum + rows, 0),
      sorted.length,
    );
  });
});
