import assert from 'node:assert/strict';
import {
  linesOf,
  removeBlankRows,
  removeDuplicateRows,
  removeLine,
  removeRowBoms,
  type LineEdit,
} from '../../../../src/core/datasets/fixes.ts';

const BOM = '\uFEFF';

/** Applies edits as an editor does: each counts in the text as it was. */
function applied(text: string, edits: readonly LineEdit[]): string {
  const lines = linesOf(text);
  const starts = [0];
  for (const line of lines) starts.push((starts.at(-1) ?? 0) + line.length + 1);
  const at = (line: number, character: number) => (starts[line] ?? 0) + character;
  let end = text.length;
  let result = '';
  for (const edit of [...edits].reverse()) {
    const to = at(edit.endLine, edit.endCharacter);
    assert.ok(to <= end, 'edits overlap');
    result = edit.text + text.slice(to, end) + result;
    end = at(edit.startLine, edit.startCharacter);
  }
  return text.slice(0, end) + result;
}
const fixed = (fix: (lines: readonly string[]) => LineEdit[], text: string) =>
  applied(text, fix(linesOf(text)));

describe('fixes', () => {
  it('remove blank rows everywhere, and leave the last line end', () => {
    for (const [text, expected] of [
      ['', ''],
      ['\n', ''],
      ['a\n', 'a\n'],
      ['a', 'a'],
      ['a\n\nb\n', 'a\nb\n'],
      ['\n\na\n\n\n', 'a\n'],
      ['a\n \t \nb', 'a\nb'],
      ['a\n  ', 'a\n'],
      ['  ', ''],
      ['a\n\n  \n', 'a\n'],
    ] as const)
      assert.equal(fixed(removeBlankRows, text), expected, JSON.stringify(text));
  });

  it('remove neighbours by one edit, and where there is nothing to remove by none', () => {
    assert.deepEqual(removeBlankRows(linesOf('a\n')), []);
    assert.equal(removeBlankRows(linesOf('a\n\n\n\nb\n\n')).length, 2);
  });

  it('remove repeated rows and keep the first', () => {
    for (const [text, expected] of [
      ['{"a":1}\n{}\n{"a":1}\n{}\n{"a":1}\n', '{"a":1}\n{}\n'],
      ['{}\n{}', '{}\n'],
      ['{}\n\n\n{}\n', '{}\n\n\n'],
      ['{}\n{} \n{ }\n', '{}\n{} \n{ }\n'],
      ['{"x":"\uFFFD"}\n{"x":"\uFFFD"}\n', '{"x":"\uFFFD"}\n{"x":"\uFFFD"}\n'],
      [`${BOM}{}\n${BOM}{}\n`, `${BOM}{}\n`],
    ] as const)
      assert.equal(fixed(removeDuplicateRows, text), expected, JSON.stringify(text));
  });

  it('leave duplicate lines that are not rows: of objects over many lines, or with a lone CR in them', () => {
    const spread = [{ a: [1, {}] }, { a: [1, {}] }].map((row) => JSON.stringify(row, null, 2)).join('\n');
    for (const text of [spread, '{"a":1,\r"b":2}\n{"a":1,\r"b":3}\n', 'true\ntrue\n[{}]\n[{}]\n'])
      assert.deepEqual(removeDuplicateRows(linesOf(text)), [], text);
  });

  it('remove one line, the last one without a line end too', () => {
    const without = (index: number) => fixed((lines) => removeLine(lines, index), 'a\nb\nc');
    assert.deepEqual([0, 1, 2, 3].map(without), ['b\nc', 'a\nc', 'a\nb\n', 'a\nb\nc']);
  });

  it('remove byte order marks before rows, and none inside a text', () => {
    assert.equal(
      fixed(removeRowBoms, `${BOM}{}\n${BOM}${BOM}{}\n{"a":"${BOM}"}\n${BOM}`),
      `{}\n{}\n{"a":"${BOM}"}\n`,
    );
  });

  it('become one edit where an editor would be slow with thousands', () => {
    const rows = Array.from({ length: 5_000 }, (_, index) => `${BOM}{"a":${index % 4_000}}`);
    const text = rows.join('\n\n');
    for (const fix of [removeBlankRows, removeRowBoms]) assert.equal(fix(linesOf(text)).length, 1);
    assert.equal(fixed(removeBlankRows, text), rows.join('\n'));
    assert.equal(fixed(removeRowBoms, text), text.replaceAll(BOM, ''));
    assert.equal(fixed(removeDuplicateRows, rows.join('\n')), rows.slice(0, 4_000).join('\n') + '\n');
  });

  it('split lines as an editor does', () => {
    assert.deepEqual(linesOf('a\r\nb\rc\nd\u2028e'), ['a', 'b', 'c', 'd\u2028e']);
  });

  it('are done in a moment with 5 million lines', () => {
    const lines = linesOf('\n'.repeat(5_000_000));
    const startMs = performance.now();
    assert.equal(removeBlankRows(lines).length, 1);
    assert.ok(performance.now() - startMs < 4_000);
  });
});
