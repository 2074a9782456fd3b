import assert from 'node:assert/strict';
import { jsonLines } from '../../../../src/core/datasets/jsonToLines.ts';

function lines(latin1: string, chunkBytes = Infinity, areArrays = false): string {
  const bytes = Buffer.from(latin1, 'latin1');
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += Math.min(chunkBytes, bytes.length))
    chunks.push(bytes.subarray(at, at + chunkBytes));
  return Buffer.concat([...jsonLines(chunks, areArrays)]).toString('latin1');
}

describe('jsonLines', () => {
  it('copies elements and objects byte for byte', () => {
    for (const [text, expected] of [
      ['[{}]', '{}\n'],
      [' [ {"a" : 1.0} ,\n{"b":"\\u00e9, ]\\"[\\\\"} ] \n', '{"a" : 1.0}\n{"b":"\\u00e9, ]\\"[\\\\"}\n'],
      ['[{"a":1e400},{"b":[[1],[2]]}]', '{"a":1e400}\n{"b":[[1],[2]]}\n'],
      ['[{"a":[1,\n  2]\r\n,\t"b":{}}]', '{"a":[1, 2] ,\t"b":{}}\n'],
      ['\xef\xbb\xbf[{}]', '{}\n'],
      ['[{"a":tru\ne}]', '{"a":tru e}\n'],
      ['[{"a":1},]', '{"a":1}\n'],
      [`[{"a":${' '.repeat(5_000)}1}]`, '{"a": 1}\n'],
      ['{}', '{}\n'],
      [' [ ] ', ''],
      ['\xef\xbb\xbf\n{"a":\n {"b":"}{"}\n}\n\n{}{"c":[\n]}', '{"a": {"b":"}{"} }\n{}\n{"c":[ ]}\n'],
    ] as const)
      for (const chunkBytes of [Infinity, 1, 3])
        assert.equal(lines(text, chunkBytes), expected, `${text} by ${chunkBytes}`);
  });

  it('converts pretty-printed JSON without changing its value', () => {
    const rows = Array.from({ length: 50 }, (_, index) => ({
      messages: [{ role: 'user', content: `"${index}" \\ [é]\n` }, { deep: [[{}], [], 'x,'] }],
    }));
    const pretty = (value: unknown) => JSON.stringify(value, null, 2);
    for (const text of [pretty(rows), rows.map(pretty).join('\n')])
      assert.deepEqual(JSON.parse(`[${lines(text, 7).trimEnd().replaceAll('\n', ',')}]`), rows);
  });

  it('rejects incomplete JSON and line breaks inside strings', () => {
    const refused = [
      '',
      ' ',
      '{',
      '{}}',
      '{},{}',
      '{}[]',
      '1',
      '{"a\nb":1}',
      '[{}',
      '[{}] {}',
      '[{}]\n[{}]',
      '[{"a":"]',
      '[}]',
    ];
    for (const text of [...refused, '\xef[{}]', '\xef\xbb\xbf\xef\xbb\xbf[{}]'])
      assert.throws(() => lines(text), { code: 'not-json' }, text);
    for (const text of ['["a\nb"]', '[1]', '[{},null]'])
      assert.throws(() => lines(text), { code: 'not-objects' }, text);
  });

  it('copies arrays: in an array, or one after the other', () => {
    for (const [text, expected, areArrays] of [
      ['[[1],\n[ {"a":[]} ]]', '[1]\n[ {"a":[]} ]\n', false],
      ['\xef\xbb\xbf[1,\n2]\n[3] ', '[1, 2]\n[3]\n', true],
    ] as const)
      for (const chunkBytes of [Infinity, 1, 3])
        assert.equal(lines(text, chunkBytes, areArrays), expected, `${text} by ${chunkBytes}`);
  });
});
