import assert from 'node:assert/strict';
import { namesOf, tableOf } from '../../../../src/core/datasets/table.ts';

describe('tableOf', () => {
  const separatorOf = (text: string, extension = '') => tableOf(text, extension)?.separator;

  it('finds the separator of a header and a row', () => {
    for (const [text, expected] of [
      ['id,prompt\n1,a', ','],
      ['question;answer\r\n"a;\nb";1,5\r\n', ';'],
      ['prompt\tcompletion\na, b\tc; d\n', '\t'],
      ['a;b;c\n1,5;2,5;3', ';'],
      ['prompt,completion\r1,2\r', ','],
      // A header of row numbers, and one that a spreadsheet filled up.
      [',instruction,output\n0,a,b\n', ','],
      ['prompt;completion;;\na;b;;\n', ';'],
      [' Prompt , Completion \na,b', ','],
      ['prompt,completion\na\n', undefined],
      ['prompt,completion\n', undefined],
      [',,\n,,\n', undefined],
      ['text\na\n', undefined],
      ['2026-01-01, start\n2026-01-02, end\n', undefined],
      ['Dear all,\nthanks, bye\n', undefined],
      ['Hello, world\nBye, world\n', undefined],
      ['{"a":1,"b":2}\n{"a":1,"b":2}\n', undefined],
    ] as const)
      assert.equal(separatorOf(text), expected, JSON.stringify(text));
  });

  it('takes the separator that the first line names', () => {
    for (const separator of [',', ';', '\t', '|'])
      assert.deepEqual(tableOf(`sep=${separator}\r\nprompt\r\na`, ''), { separator, isDeclared: true });
    assert.deepEqual(tableOf('SEP=;\na,b;c\n', '.csv'), { separator: ';', isDeclared: true });
    assert.deepEqual(tableOf('sep=;x\nb\n', '.csv'), { separator: ';', isDeclared: false });
  });

  it('takes any text in a file of that name', () => {
    for (const [text, extension, expected] of [
      ['text\na, b\n', '.csv', ','],
      ['text\na, b\n', '.tsv', '\t'],
      ['Wie heißt du?;1. Antwort\na;b\n', '.CSV', ';'],
      ['Wie, bitte?\tAntwort\na\tb\n', '.tsv', '\t'],
      ['a,b\n1,2\n', '.tsv', ','],
      ['a;b\n', '.csv', ';'],
      ['', '.csv', ','],
    ] as const)
      assert.equal(separatorOf(text, extension), expected, JSON.stringify(text));
    assert.equal(separatorOf('text\na, b\n', '.txt'), undefined);
  });
});

describe('namesOf', () => {
  it('writes the names of training fields as trainers expect them, and leaves others as they are', () =>
    assert.deepEqual(namesOf([' Prompt ', 'COMPLETION', ' My Note ', 'ID', '__proto__']), [
      'prompt',
      'completion',
      ' My Note ',
      'ID',
      '__proto__',
    ]));

  it('writes those of a message in lower case, too, if both are there', () => {
    assert.deepEqual(namesOf(['Thread_ID', 'Role', ' Content']), ['Thread_ID', 'role', 'content']);
    assert.deepEqual(namesOf(['Role', 'Salary']), ['Role', 'Salary']);
  });

  it('never gives a name twice, and names each column', () => {
    assert.deepEqual(namesOf(['', 'prompt', ' ', 'Prompt', 'x', 'x']), [
      ...['column_1', 'prompt', 'column_3', 'prompt_4', 'x', 'x_6'],
    ]);
    assert.deepEqual(namesOf(['x_3', 'x', 'x', 'column_4', '']), [
      'x_3',
      'x',
      'x_3_',
      'column_4',
      'column_5',
    ]);
    assert.deepEqual(namesOf(['column_2', '']), ['column_2', 'column_2_']);
  });
});
