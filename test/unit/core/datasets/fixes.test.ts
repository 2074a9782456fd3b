import assert from 'node:assert/strict';
import {
  allRepaired,
  deleteRow,
  editorLines,
  isRowOrComment,
  removeBlankRow,
  removeBlankRows,
  removeBom,
  removeDuplicateRows,
  removeRowBoms,
  repaired,
  repairRow,
  repairRows,
  type LineEdit,
  type RepairableCode,
} from '../../../../src/core/datasets/fixes.ts';

const BOM = '\uFEFF';

type Fix = (lines: readonly string[]) => LineEdit | undefined;

/** Applies a fix as an editor does. */
function fixed(fix: Fix, text: string): string {
  const lines = editorLines(text);
  const edit = fix(lines);
  if (edit === undefined) return text;
  const at = (line: number, character: number) =>
    lines.slice(0, line).reduce((sum, { length }) => sum + length + 1, character);
  return text.slice(0, at(edit.startLine, 0)) + edit.text + text.slice(at(edit.endLine, edit.endCharacter));
}

describe('fixes', () => {
  const spread = [{ a: [1, {}] }, { a: [1, {}] }].map((row) => JSON.stringify(row, null, 2)).join('\n');
  /** Each case is a text and the result, which is omitted if nothing changes. */
  const table: Record<string, [fix: Fix, [string, string?][]]> = {
    'remove all blank rows and keep the last line end': [
      removeBlankRows,
      [
        [''],
        ['\n', ''],
        ['a\n'],
        ['a'],
        ['a\n\nb\n', 'a\nb\n'],
        ['\n\na\n\n\n', 'a\n'],
        ['a\n \t \nb', 'a\nb'],
        ['a\n  ', 'a\n'],
        ['  ', ''],
        ['a\n\n  \n', 'a\n'],
      ],
    ],
    'remove one row if it is blank': [
      (lines) => removeBlankRow(lines, 1),
      [['\n\nb', '\nb'], ['a\n ', 'a\n'], ['a\nb\nc'], ['a\n'], ['a']],
    ],
    'remove repeated rows and keep the first': [
      removeDuplicateRows,
      [
        ['{"a":1}\n{}\n{"a":1}\n{}\n{"a":1}\n', '{"a":1}\n{}\n'],
        ['{}\n{}', '{}\n'],
        ['{}\n\n\n{}\n', '{}\n\n\n'],
        ['{}\n{} \n{ }\n'],
        ['{"x":"\uFFFD"}\n{"x":"\uFFFD"}\n'],
        [`${BOM}{}\n${BOM}{}\n`, `${BOM}{}\n`],
      ],
    ],
    'keep duplicate lines that are not rows: of pretty-printed objects, or with a lone CR': [
      removeDuplicateRows,
      [[spread], ['{"a":1,\r"b":2}\n{"a":1,\r"b":3}\n'], ['true\ntrue\n[{}]\n[{}]\n']],
    ],
    'remove byte order marks before rows, but not inside strings': [
      removeRowBoms,
      [[`${BOM}{}\n${BOM}${BOM}{}\n{"a":"${BOM}"}\n${BOM}`, `{}\n{}\n{"a":"${BOM}"}\n`]],
    ],
    'delete a row with its line end, unless another one is there now': [
      (lines) => deleteRow(lines, 1, 'b'),
      [['a\nb\nc\n', 'a\nc\n'], ['a\nb\n', 'a\n'], ['a\nb', 'a\n'], ['a\nb\nb', 'a\nb'], ['a\nc\nb'], ['b']],
    ],
    'remove one byte order mark, if it is still there': [
      (lines) => removeBom(lines, 1, 2),
      [[`\nab${BOM}c`, '\nabc'], ['\nabc'], ['a']],
    ],
  };
  const repairs: Record<RepairableCode, [string, string?][]> = {
    'trailing-comma': [
      ['{"a":[1,2, ],"b":",}",\t}', '{"a":[1,2 ],"b":",}"\t}'],
      ['{"a":"\\",}",}', '{"a":"\\",}"}'],
      ['{"a":1,},', '{"a":1},'],
      ['{"a":,}'],
      ['[1,]'],
      ['{"a":1,'],
      [`{"a":[1,],'b':'c,}'}`],
    ],
    'comma-after-object': [
      ['{"a":","} , ', '{"a":","} '],
      [`${BOM}{},`, `${BOM}{}`],
      [' {},'],
      ['{} x,'],
      ['"a",'],
    ],
    'control-character': [
      ['{\t"a\t":"\0\\\x1f"}'],
      ['{\t"a\t":"\0\\\\\x1f"}', '{\t"a\\t":"\\u0000\\\\\\u001f"}'],
      ['{"a":"\t'],
    ],
    'single-quote': [
      ["{'a': 'b', 'c': [1, 'd' ,true]}", '{"a": "b", "c": [1, "d" ,true]}'],
      [
        String.raw`{'a': 'it\'s "b"', "c": "it's", 'd': '\\', 'e': '\n'}`,
        String.raw`{"a": "it's \"b\"", "c": "it's", "d": "\\", "e": "\n"}`,
      ],
      ["{'a': \"it's\", 'b': 'c,}',}", `{"a": "it's", "b": "c,}",}`],
      ["{'a': '“b”: c', 'd': 'e'}", '{"a": "“b”: c", "d": "e"}'],
      ["{'a': 'it's'}"],
      ["{'a': None}"],
      ["{'a': 'b"],
      ["{“a”: “it's”}"],
      ['{"a": "it\'s"}'],
    ],
    'typographic-quotes': [
      ["{“a”: “it's”, “b”: “isn't”}", `{"a": "it's", "b": "isn't"}`],
      ['{“a” : ‘b’, "c": [„d“,1, ”e”]}', '{"a" : "b", "c": ["d",1, "e"]}'],
      ['{“a”: “it’s ‘b’ indeed”}', '{"a": "it’s ‘b’ indeed"}'],
      ['{"a":"“b”, “c”: "}'],
      ['{“a”: “b “c”, d”}'],
      ['{“a”: “b "c" d”}'],
    ],
  };
  for (const [code, cases] of Object.entries(repairs) as [RepairableCode, [string, string?][]][])
    it(`repair a row that is right afterwards: ${code}`, () => {
      for (const [text, expected = text] of cases) {
        assert.equal(repaired(text, code) ?? text, expected, JSON.stringify(text));
        const lines = (row: string) => `x\n${row}\n${row}\n`;
        assert.equal(
          fixed((all) => repairRow(all, 1, code), lines(text)),
          `x\n${expected}\n${text}\n`,
        );
        assert.equal(
          fixed((all) => repairRows(all, code), lines(text)),
          lines(expected),
        );
      }
      assert.equal(repaired('{}', code), undefined);
    });

  it('repair a row with all of these problems one by one', () => {
    const codes = [
      'comma-after-object',
      'trailing-comma',
      'control-character',
      'typographic-quotes',
    ] as const;
    const row = codes.reduce((text, code) => repaired(text, code)!, '{“a”:"\t",}, ');
    assert.equal(row, '{"a":"\\t"}');
  });

  it('repair a row with all problems at once, or not at all', () => {
    for (const [row, expected] of [
      [`${BOM}{'a':'\t','b':[1,],},`, '{"a":"\\t","b":[1]}'],
      ['{“a”:"\t",}, ', '{"a":"\\t"}'],
      ['{"a":1}', '{"a":1}'],
      ["{'a':“b”,}", '{"a":"b"}'],
      ["{'a': 'b', “c': 1}", undefined],
      ["[{'a':1}]", undefined],
      ['{"a":tru}', undefined],
      ['// note', undefined],
    ] as const)
      assert.equal(allRepaired(row), expected, row);
  });

  it('delete rows and comments only, not parts of larger values', () => {
    for (const line of ['{"a":1}', '// note', '  # {"a":1}', '//']) assert.ok(isRowOrComment(line), line);
    for (const line of ['{', '"a": 1 // note', '/ 1', '', '[1]', '- {}'])
      assert.ok(!isRowOrComment(line), line);
  });

  it('repair long rows in linear time', () => {
    const { user } = process.cpuUsage();
    for (const text of ['"\\"', ', ', '“ ', ' ', '\t', '"', "'", "'\\"])
      for (const code of Object.keys(repairs) as RepairableCode[])
        repaired(`{"a":[${text.repeat(25_000)}`, code);
    assert.ok(process.cpuUsage().user - user < 1_000_000);
  });

  for (const [title, [fix, cases]] of Object.entries(table))
    it(title, () => {
      for (const [text, expected = text] of cases)
        assert.equal(fixed(fix, text), expected, JSON.stringify(text));
    });

  it('edit only the range from the first affected line to the last', () => {
    const edit = removeBlankRows(editorLines('a\nb\n\nc\n\nd\ne'));
    assert.deepEqual(edit, { startLine: 2, endLine: 5, endCharacter: 0, text: 'c\n' });
  });

  it('split lines as an editor does, a million of them in less than a second', () => {
    assert.deepEqual(editorLines('a\r\nb\rc\nd\u2028e'), ['a', 'b', 'c', 'd\u2028e']);
    const lines = editorLines('\n'.repeat(1_000_000));
    const { user } = process.cpuUsage();
    assert.equal(removeBlankRows(lines)?.text, '');
    assert.ok(process.cpuUsage().user - user < 1_000_000);
  });
});
