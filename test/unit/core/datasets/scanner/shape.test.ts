import assert from 'node:assert/strict';
import {
  FORMATS,
  ROLES,
  TRAINING_FORMATS,
  type Format,
  type Role,
} from '../../../../../src/core/datasets/formats.ts';
import { PROBLEMS } from '../../../../../src/core/datasets/problems.ts';
import {
  FORMAT_COUNT,
  PROBLEM_COUNT,
  VERY_LONG_ROW,
} from '../../../../../src/core/datasets/scanner/codes.ts';
import { problemsOf, useChecker } from '../../../../helpers/checker.ts';
import { Random } from '../../../../helpers/random.ts';

const user = '{"role":"user","content":"hi"}';
const assistant = '{"role":"assistant","content":"hello"}';
/** Rows, each with its shape problem, if any, and the text at its location; U and A are a user and an assistant message. */
const table = `
{"messages":[U,A]}
{"messages":[{"role":"system","content":"x"},U,A]}
{"messages":[{"role":"developer","content":"x"},U,A]}
{"messages":[U,{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"f"}}]},{"role":"tool","content":"1"},A]}
{"messages":[U,{"role":"assistant","content":null,"tool_calls":[{"id":"1"}]}]}
{"messages":[U,{"role":"assistant","content":"","tool_calls":[{"id":"1"}]}]}
{"messages":[U,{"role":"assistant","function_call":{"name":"f","content":5}},{"role":"function","content":"1"},A]}
{"messages":[{"role":"user","content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"y"}}]},A]}
{"messages":[{"role":"user","content":["x","y"]},A]}
{"messages":[{"content":"first, then who","role":"user"},A]}
{"messages":[U,{"role":"assistant","content":"x","name":"bot","weight":1,"meta":{"role":"?","content":7}}]}
{"messages":1} | messages-not-array | 1
{"messages":null} | messages-not-array | null
{"messages":{"role":"user"}} | messages-not-array | {"role
{"messages":[]} | messages-empty | ]
{"messages":["x",U,A]} | message-not-object | x"
{"messages":[[],U,A]} | message-not-object | []
{"messages":[{"content":"x"},A]} | role-missing | {"content
{"messages":[{"role":"bot","content":"x"},A]} | role-unknown | bot
{"messages":[{"role":5,"content":"x"},A]} | role-unknown | 5
{"messages":[{"role":["user"],"content":"x"},A]} | role-unknown | ["user
{"messages":[{"role":"human","content":"x"},A]} | role-unknown | human
{"messages":[{"role":"user"},A]} | content-missing | {"role
{"messages":[{"role":"user","content":null},A]} | content-missing | {"role
{"messages":[U,{"role":"assistant","content":null}]} | content-missing | {"role":"assistant
{"messages":[{"role":"user","content":5},A]} | content-wrong-type | 5
{"messages":[{"role":"user","content":{"a":1}},A]} | content-wrong-type | {"a"
{"messages":[{"role":"user","content":[5]},A]} | content-wrong-type | 5
{"messages":[{"role":"user","content":""},A]} | content-empty | ""
{"messages":[{"role":"user","content":"  "},A]} | content-empty | "  "
{"messages":[{"role":"user","content":[]},A]} | content-empty | ]}
{"messages":[U]} | no-assistant | {"role
{"messages":[U,A,U]} | last-not-assistant
{"messages":[],"messages":[U,A]}
{"messages":5,"messages":[U,A]}
{"messages":[{"role":"x","content":""}],"messages":[U,A]}
{"messages":[U,A],"messages":5} | messages-not-array | 5
{"messages":[{"role":5,"role":"user","content":"","content":"x"},A]}
{"messages":[{"content":5,"content":"x","role":"bot","role":"user"},A]}
{"messages":[{"role":"user","content":["",5],"content":["x"]},A]}
{"messages":[{"role":"user","role":"bot","content":"x"},A]} | role-unknown | bot
{"messages":[{"role":"user","content":"x","content":null},A]} | content-missing
{"messages":[{"role":"user","content":"x","content":5},A]} | content-wrong-type | 5
{"messages":[{"role":"User","content":"x"},{"role":"Assistant","content":"y"}]} | role-unknown | User
{"messages":[U,A,{"role":"Assistant","content":"y"}]} | role-unknown | Assistant
{"messages":[{"role":"User","content":"x"},A,U]} | role-unknown last-not-assistant
{"prompt":[{"role":"x","content":"a"}],"prompt":"a","completion":"b"}
{"prompt":"a","completion":"b"}
{"prompt":[U],"completion":[A]}
{"prompt":"a"} | completion-missing | {
{"completion":"a"} | prompt-missing | {
{"prompt":"a","completion":5} | field-wrong-type | 5
{"prompt":{"a":1},"completion":"b"} | field-wrong-type | {"a"
{"prompt":"a","completion":" "} | field-empty | " "
{"prompt":5,"completion":"b","prompt":"a"}
{"instruction":"a","input":"b","output":"c"}
{"instruction":"a","input":"","output":"c"}
{"instruction":"a","input":null,"output":"c"}
{"instruction":"a","output":"c"}
{"instruction":" ","input":"b","output":"c"}
{"instruction":" ","input":"","output":"c"} | field-empty | " "
{"input":null,"instruction":"","output":"c"} | field-empty | ""
{"instruction":"","output":"c"} | field-empty | ""
{"instruction":7,"input":"b","output":"c"} | field-wrong-type | 7
{"instruction":"a"} | output-missing
{"input":"a","output":"c"} | instruction-missing
{"instruction":"a","input":7,"output":"c"} | field-wrong-type | 7
{"instruction":"a","output":""} | field-empty | ""
{"instruction":"a","context":"b","response":"c"}
{"instruction":"a","response":""} | field-empty | ""
{"instruction":"a","response":7} | field-wrong-type | 7
{"instruction":"a","response":7,"output":"c"}
{"response":"a"} | unknown-format | {
{"question":"a","answer":"b"}
{"question":"a"} | answer-missing
{"answer":"a"} | question-missing
{"question":"","answer":"b"} | field-empty | ""
{"question":"a","answer":["b"]} | field-wrong-type | ["b"
{"text":"a"}
{"text":""} | field-empty | ""
{"text":false} | field-wrong-type | false
{"chosen":"a","rejected":"b"}
{"prompt":"p","chosen":"a","rejected":"b"}
{"prompt":[U],"chosen":[A],"rejected":[U]}
{"prompt":[U],"chosen":[A],"rejected":[A]} | same-answers | [{
{"chosen":"a"} | rejected-missing
{"rejected":"a"} | chosen-missing
{"chosen":"a","rejected":""} | field-empty | ""
{"chosen":"a","rejected":null} | field-wrong-type | null
{"input":{"messages":[U]},"preferred_output":[A],"non_preferred_output":[U]}
{"input":{"tools":[{"messages":5}],"messages":[U],"parallel_tool_calls":true},"preferred_output":[A],"non_preferred_output":[U]}
{"preferred_output":"a"} | rejected-missing
{"non_preferred_output":"a"} | chosen-missing
{"input":{"messages":[U]},"preferred_output":[A],"non_preferred_output":[A]} | same-answers | [{
{"prompt":{"messages":[U]},"chosen":{"messages":[A]},"rejected":{"messages":[U]}}
{"chosen":{"messages":[A]},"rejected":{"messages":[A]}} | same-answers | [{
{"chosen":{"messages":"a"},"rejected":"b"} | field-wrong-type | {
{"chosen":{"conversations":[A]},"rejected":"b"} | field-wrong-type | {
{"chosen":{"other":{"messages":[A]}},"rejected":"b"} | field-wrong-type | {
{"chosen":{"messages":{"messages":[A]}},"rejected":"b"} | field-wrong-type | {
{"chosen":"a","rejected":"b","input":{"messages":"x"}}
{"instruction":"a","input":{"text":[U]},"output":"c"} | field-wrong-type | {"
{"messages":[U,A],"input":{"messages":[U]}}
{"messages":[{"role":"me","content":"x"},A],"system":"a","system":"b"} | role-unknown | me"
{"instruction":"a","input":{"messages":[U]},"output":"c"} | field-wrong-type | {"
{"input":{"messages":"x"},"messages":[U,A]}
{"preferred_output":[A],"non_preferred_output":[U],"input":{"messages":[U]}}
{"conversations":[{"from":"human","value":"x"},{"from":"gpt","value":"y"}]}
{"conversations":[{"from":"system","value":"s"},{"from":"user","value":"x"},{"from":"chatgpt","value":"y"}]}
{"conversations":[{"from":"function_call","value":"f"},{"from":"observation","value":"1"},{"from":"gpt","value":"y"}]}
{"conversations":[U,A]}
{"conversations":[{"from":"human","value":"x"}]} | no-assistant
{"conversations":[{"from":"human"},{"from":"gpt","value":"y"}]} | content-missing
{"conversations":[{"from":"me","value":"x"},{"from":"gpt","value":"y"}]} | role-unknown | me"
{"conversations":"x"} | conversations-not-array
{"messages":[U,A],"text":"","input":5,"prompt":{}}
{"question":"a","answer":"b","text":5}
{} | unknown-format | {
{"a":{"messages":5}} | unknown-format | {
{"__proto__":{"messages":[]}} | unknown-format
{"Messages":[]} | unknown-format
{"messages":[],}
{"messages":[U]}, | no-assistant | {"role
[{"messages":[]}]`
  .trim()
  .split('\n')
  .map((line) => {
    const [row = '', code = '', at] = line.split(' | ');
    return { row: row.replace(/\bU\b/g, user).replace(/\bA\b/g, assistant), code, at };
  });

describe('the shape of rows', () => {
  const { check } = useChecker();

  it('has room for each format, and for the problems of its fields', () => {
    assert.deepEqual([FORMATS.length, PROBLEMS.length], [FORMAT_COUNT, PROBLEM_COUNT]);
    const codes = PROBLEMS.map(([code]) => code);
    // A row's noted problems are bits of a u64: all but those that a search reports at once.
    assert.ok(PROBLEMS.every(([, , of], code) => code < 64 || of === 'privacy'));
    for (const { missing } of TRAINING_FORMATS)
      for (const code of missing ?? []) assert.ok(codes.indexOf(code) < VERY_LONG_ROW, code);
  });

  it('is checked for every format and warning in a table', async () => {
    const report = await check(table.map(({ row }) => row).join('\n'));
    const shapes = problemsOf(report).filter(
      (one) => one.class === 'shape' && one.code !== 'different-format',
    );
    for (const [index, { row, code, at = '' }] of table.entries()) {
      const found = shapes.filter((problem) => problem.row === index + 1);
      const codes = found.map((problem) => problem.code).filter((one) => one !== 'not-an-object');
      assert.equal(codes.join(' '), code, row);
      assert.ok(at === '' || row.startsWith(at, found[0]!.column - 1), row);
    }
    // All but very long rows, different formats and the order of messages, which have their own tests.
    assert.equal(new Set(shapes.map(({ code }) => code)).size, 24);
  });

  it('includes a warning about very long rows', async () => {
    const row = (length: number) => `{"text":"${'x'.repeat(length - 11)}"}`;
    const report = await check(`${row(32767)}\n${row(32768)}\r\n${row(32769)}`);
    const long = problemsOf(report).filter(({ code }) => code === 'very-long-row');
    assert.deepEqual(
      long.map(({ row }) => row),
      [2, 3],
    );
  });

  it('is the format of most rows, and the other rows are reported', async () => {
    const rows = [
      '{"text":"1"}',
      '{"question":"2","answer":"2"}',
      '{"text":"3"}',
      '{"a":1}',
      '[]',
      `{"messages":[${user},${assistant}]}`,
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

  it('is unknown if no row has a format', async () => {
    const report = await check('{"a":1}\n[]\n');
    assert.equal(report.format, undefined);
    assert.equal(report.formats.unknown, 1);
  });

  it('is counted as by a simple implementation: rows, formats, roles, turns, characters, longest row', async () => {
    const random = new Random(5);
    const text = () =>
      random.of(['a', 'é', '模型', '😀']).repeat(1 + random.below(random.chance(0.05) ? 3000 : 60));
    const makers: Partial<Record<Format, () => object>> = {
      chat: () => {
        const turn = () => ({
          role: random.of(['system', 'user', 'assistant', 'tool', 'bot']),
          content: text(),
        });
        return { messages: random.several(9, turn) };
      },
      sharegpt: () => {
        const turn = () => ({ from: random.of(['human', 'gpt', 'observation']), value: text() });
        return { conversations: random.several(5, turn) };
      },
      'question-answer': () => ({ question: text(), answer: text() }),
      text: () => ({ text: text() }),
      unknown: () => ({}),
    };
    const formats = Object.fromEntries(FORMATS.map((name) => [name, 0]));
    const roles = Object.fromEntries(ROLES.map((name) => [name, 0])) as Record<Role, number>;
    const roleOf: Record<string, Role> = {
      ...{ system: 'system', user: 'user', human: 'user', assistant: 'assistant', gpt: 'assistant' },
      ...{ tool: 'tool', observation: 'tool', bot: 'other' },
    };
    let maxTurns = 0;
    let blank = 0;
    let longestBytes = 0;
    const lines = Array.from({ length: 2000 }, () => {
      if (random.chance(0.05)) {
        blank++;
        return ' '.repeat(random.below(3));
      }
      const format = random.of(FORMATS.filter((name) => makers[name] !== undefined));
      const row = JSON.stringify(makers[format]!());
      formats[format]!++;
      longestBytes = Math.max(longestBytes, Buffer.byteLength(row));
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
    assert.equal(report.statistics.longestBytes, longestBytes);
  });
});
