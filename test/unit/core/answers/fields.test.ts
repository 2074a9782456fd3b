import assert from 'node:assert/strict';
import { countFields, expectedFields, fencedJson } from '../../../../src/core/answers/fields.ts';

describe('countFields', () => {
  const count = (expected: string, other: string) => {
    const { fields, right } = countFields(expectedFields(expected)!, JSON.parse(other) as unknown);
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

describe('the fields of an answer', () => {
  it('are those of an object or array', () => {
    for (const text of ['{}', ' [1] ', '{"a":1}']) assert.ok(expectedFields(text) !== undefined, text);
    for (const text of ['', '7', '"a"', 'null', 'x', '{"a":1', '```\n{}\n```'])
      assert.equal(expectedFields(text), undefined, text);
  });

  it('may be in a block of Markdown', () => {
    for (const text of ['```json\n{"a":1}\n```', '\n```\n{"a":1}\n```\n', '```JSON \r\n{"a":1}\r\n```'])
      assert.deepEqual(fencedJson(text)?.value, { a: 1 }, text);
    for (const text of ['{"a":1}', 'Sure:\n```json\n{"a":1}\n```', '```\n{"a":1}', '```{"a":1}```'])
      assert.equal(fencedJson(text), undefined, text);
  });

  it('are found at once, however many blank lines a model repeats', () => {
    assert.equal(fencedJson('```json'.padEnd(20_000, '\n')), undefined);
    assert.deepEqual(fencedJson('```json\n{"a":1}'.padEnd(20_000, '\n') + '```')?.value, { a: 1 });
  });
});
