import assert from 'node:assert/strict';
import {
  linesOf,
  removeBlankRow,
  removeBlankRows,
  removeBom,
  removeDuplicateRows,
  removeRowBoms,
  type LineEdit,
} from '../../../../src/core/datasets/fixes.ts';

const BOM = '\uFEFF';

/** Applies a fix as an editor does: each edit counts in the text as it was. */
function fixed(fix: (lines: readonly string[]) => LineEdit[], text: string): string {
  const lines = linesOf(text);
  const starts = [0];
  for (const line of lines) starts.push(starts.at(-1)! + line.length + 1);
  let end = text.length;
  let result = '';
  for (const edit of fix(lines).toReversed()) {
    const to = starts[edit.endLine]! + edit.endCharacter;
    assert.ok(to <= end, 'edits overlap');
    result = edit.text + text.slice(to, end) + result;
    end = starts[edit.startLine]! + edit.startCharacter;
  }
  return text.slice(0, end) + result;
}

describe('fixes', () => {
  const spread = [{ a: [1, {}] }, { a: [1, {}] }].map((row) => JSON.stringify(row, null, 2)).join('\n');
  /** A text, what is left of it, and undefined where nothing changes. */
  const table: Record<string, [fix: (lines: readonly string[]) => LineEdit[], [string, string?][]]> = {
    'remove blank rows everywhere, and leave the last line end': [
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
    'remove repeated rows and leave the first': [
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
    'leave duplicate lines that are not rows: of objects over many lines, or with a lone CR in them': [
      removeDuplicateRows,
      [[spread], ['{"a":1,\r"b":2}\n{"a":1,\r"b":3}\n'], ['true\ntrue\n[{}]\n[{}]\n']],
    ],
    'remove byte order marks before rows, and none inside a text': [
      removeRowBoms,
      [[`${BOM}{}\n${BOM}${BOM}{}\n{"a":"${BOM}"}\n${BOM}`, `{}\n{}\n{"a":"${BOM}"}\n`]],
    ],
    'remove one byte order mark, if it is still there': [
      (lines) => removeBom(lines, 1, 2),
      [[`\nab${BOM}c`, '\nabc'], ['\nabc'], ['a']],
    ],
  };
  for (const [title, [fix, cases]] of Object.entries(table))
    it(title, () => {
      for (const [text, expected = text] of cases)
        assert.equal(fixed(fix, text), expected, JSON.stringify(text));
    });

  it('become one edit for neighbours, and where an editor would be slow with thousands', () => {
    assert.equal(removeBlankRows(linesOf('a\n\n\n\nb\n\n')).length, 2);
    const rows = Array.from({ length: 5_000 }, (_, index) => `${BOM}{"a":${index % 4_000}}`);
    const text = rows.join('\n\n');
    for (const fix of [removeBlankRows, removeRowBoms]) assert.equal(fix(linesOf(text)).length, 1);
    assert.equal(fixed(removeBlankRows, text), rows.join('\n'));
    assert.equal(fixed(removeRowBoms, text), text.replaceAll(BOM, ''));
    assert.equal(fixed(removeDuplicateRows, rows.join('\n')), rows.slice(0, 4_000).join('\n') + '\n');
  });

  it('split lines as an editor does, and a million of them in a moment', () => {
    assert.deepEqual(linesOf('a\r\nb\rc\nd\u2028e'), ['a', 'b', 'c', 'd\u2028e']);
    const lines = linesOf('\n'.repeat(1_000_000));
    const { user } = process.cpuUsage();
    assert.equal(removeBlankRows(lines).length, 1);
    assert.ok(process.cpuUsage().user - user < 1_000_000);
  });
});
