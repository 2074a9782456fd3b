import assert from 'node:assert/strict';
import { containerIn, countFields } from '../../../../src/core/answers/fields.ts';

describe('countFields', () => {
  const count = (expected: string, other: string) => {
    const { fields, right } = countFields(containerIn(expected, false)!, JSON.parse(other) as unknown);
    return `${right} of ${fields}`;
  };

  it('counts values at any depth, by key or index', () => {
    for (const [expected, other, result] of [
      ['{"a":1,"b":{"c":[true,null]}}', '{"b":{"c":[true,null]},"a":1.0}', '3 of 3'],
      ['{"a":1,"b":2}', '{"a":1,"b":"2","c":3}', '1 of 2'],
      ['[1,2,3]', '[2,1,3,4]', '1 of 3'],
      ['[1]', '{"0":1}', '0 of 1'],
      ['{"0":1}', '[1]', '0 of 1'],
      ['{"a":{"b":1}}', '{"a":1}', '0 of 1'],
      ['{"a":1}', '{"a":{"b":1}}', '0 of 1'],
      ['{"a":null}', '{}', '0 of 1'],
      ['{"a":null}', '{"a":null}', '1 of 1'],
      ['{"a":[],"b":{}}', '{"a":[],"b":{}}', '2 of 2'],
      ['{"a":[],"b":{}}', '{"a":{},"b":{"c":1}}', '0 of 2'],
      ['{}', '{}', '1 of 1'],
      ['{"a":1}', '7', '0 of 1'],
      ['{"a":1}', 'null', '0 of 1'],
      [String.raw`{"a":"é  b"}`, String.raw`{"a":"e\u0301\nb "}`, '1 of 1'],
      ['{"a":"1"}', '{"a":1}', '0 of 1'],
    ] as const)
      assert.equal(count(expected, other), result, `${expected} ${other}`);
  });

  it('finds no key of a prototype', () => {
    assert.equal(count('{"__proto__":{"a":1},"constructor":{}}', '{"a":1}'), '0 of 2');
    assert.equal(count('{"__proto__":{"a":1},"toString":2}', '{"toString":2,"__proto__":{"a":1}}'), '2 of 2');
    assert.equal(count('{"__proto__":{}}', '{"a":1}'), '0 of 1');
  });

  it('compares values of any depth', () => {
    const deep = `${'['.repeat(200_000)}1${']'.repeat(200_000)}`;
    assert.equal(count(deep, deep), '1 of 1');
  });
});

describe('containerIn', () => {
  const json = '{"a":1}';
  const fence = '```';

  it('finds the object or array that a text is, also in a code block or in calls of tools', () => {
    for (const [text, value] of [
      [json, { a: 1 }],
      [' [1] ', [1]],
      ['{}', {}],
      [`${fence}json\n${json}\n${fence}`, { a: 1 }],
      [`\n${fence}\n${json}\n${fence}\n`, { a: 1 }],
      [`${fence}JSON \r\n${json}\r\n${fence}`, { a: 1 }],
      [`~~~json5\n${json}\n~~~`, { a: 1 }],
      [`${fence}${json}${fence}`, { a: 1 }],
      [`${fence}json ${json} ${fence}`, { a: 1 }],
      [`${fence}json title="x.json"\n${json}\n${fence}`, { a: 1 }],
      [`${fence}json\n{"code":"${fence}js\\n1\\n${fence}"}\n${fence}`, { code: `${fence}js\n1\n${fence}` }],
      ['<tool_call>\n{"name":"f","arguments":{}}\n</tool_call>', [{ name: 'f', arguments: {} }]],
      ['<tool_call>{"a":1}</tool_call>\n<tool_call>{"a":2}</tool_call>', [{ a: 1 }, { a: 2 }]],
    ] as const)
      for (const orWithin of [false, true]) assert.deepEqual(containerIn(text, orWithin), value, text);
    for (const text of [
      '',
      '7',
      '"a"',
      'null',
      'x',
      '{"a":1',
      `Sure: ${json}`,
      `${fence}\n7\n${fence}`,
      fence,
    ])
      for (const orWithin of [false, true]) assert.equal(containerIn(text, orWithin), undefined, text);
  });

  it('finds it with words around its block only in answers: words of an expected one count', () => {
    for (const [text, value] of [
      [`Here you are:\n${fence}json\n${json}\n${fence}\nAnything else?`, { a: 1 }],
      [`First \`x\`:\n${fence}sh\nls\n${fence}\nthen\n${fence}json\n${json}\n${fence}`, { a: 1 }],
      ['I call it.\n<tool_call>{"a":1}</tool_call>', [{ a: 1 }]],
    ] as const) {
      assert.deepEqual(containerIn(text, true), value, text);
      assert.equal(containerIn(text, false), undefined, text);
    }
  });

  it('is quick, whatever a model repeats', () => {
    for (const text of ['\n', '`', fence, `${fence}\n`, '<tool_call>', '<tool_call>{', '{'])
      assert.ok(containerIn(`${fence}json${text.repeat(50_000)}`, true) === undefined, text);
    assert.deepEqual(containerIn(`${fence}json\n${json}`.padEnd(20_000, '\n') + fence, false), { a: 1 });
  });
});
