import assert from 'node:assert/strict';
import { answerRowOf, parseObject } from '../../../../src/core/answers/answerRow.ts';
import { answerRow, writtenAnswer, type WrittenAnswer } from '../../../helpers/answers.ts';

const parseAnswerRow = (line: string, number: number) => answerRowOf(parseObject(line), number);

describe('answerRowOf', () => {
  const parsed = (fields: WrittenAnswer) => parseAnswerRow(writtenAnswer(fields), 1);
  const read = (fields: WrittenAnswer) => {
    const row = parsed(fields);
    assert.ok(typeof row === 'object');
    return row;
  };

  it('reads a row, also with a byte order mark, a CR, blanks and further fields', () => {
    const expected = answerRow({ line: 7, ends: { base: undefined, adapter: undefined } });
    for (const line of [writtenAnswer(), `\uFEFF${writtenAnswer()}\r`, ` \t${writtenAnswer()} `])
      assert.deepEqual(parseAnswerRow(line, 7), expected);
    assert.deepEqual(parseAnswerRow(writtenAnswer({ seed: 1 } as WrittenAnswer), 7), expected);
  });

  it('reads contents that are strings, parts, or messages', () => {
    const parts = [{ type: 'text', text: 'a' }, 'b', { type: 'image_url', image_url: {} }, { text: 'c' }];
    const { messages, expected, base } = read({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { from: 'human', value: 'Hi' },
        { role: 'user', content: parts },
        'no role',
        { role: 'assistant', content: null },
      ],
      expected: parts,
      base: { role: 'assistant', content: [{ text: 'd' }] },
    });
    assert.deepEqual(messages, [
      { role: 'system', text: 'Be brief.' },
      { role: 'human', text: 'Hi' },
      { role: 'user', text: 'abc' },
      { role: undefined, text: 'no role' },
      { role: 'assistant', text: '' },
    ]);
    assert.deepEqual([expected, base], ['abc', 'd']);
  });

  it('reads how an answer ended, and nothing else', () => {
    assert.deepEqual(read({ base_end: 'length', adapter_end: 'error' }).ends, {
      base: 'length',
      adapter: 'error',
    });
    assert.deepEqual(read({ base_end: 'stop', adapter_end: ['length'] }).ends, {
      base: undefined,
      adapter: undefined,
    });
  });

  it('accepts an answer without text, but no expected one', () => {
    assert.deepEqual(read({ base: '', adapter: [] }), {
      ...answerRow({ base: '', adapter: '' }),
      ends: { base: undefined, adapter: undefined },
    });
  });

  it('says why a line is left out', () => {
    for (const line of ['', 'x', '[1]', '"text"', '7', 'null', '{"messages":', `${writtenAnswer()}}`])
      assert.equal(parseAnswerRow(line, 1), 'not-json', line);
    for (const messages of [undefined, null, [], 'Hi', {}, [null], [7], [[[[[[['deep']]]]]]]])
      assert.equal(parsed({ messages }), 'no-messages', JSON.stringify(messages));
    for (const expected of [undefined, null, '', ' \n', '<think>5', 5, ['', {}], { intent: 'order' }])
      assert.equal(parsed({ expected }), 'no-expected', JSON.stringify(expected));
    for (const other of [undefined, null, 5, true, { intent: 'order' }]) {
      assert.equal(parsed({ base: other }), 'no-base', JSON.stringify(other));
      assert.equal(parsed({ adapter: other }), 'no-adapter', JSON.stringify(other));
    }
  });

  it('leaves out a prompt of more than 1,000 messages', () => {
    const message = { role: 'user', content: 'x' };
    assert.equal(read({ messages: Array(1_000).fill(message) }).messages.length, 1_000);
    assert.equal(parsed({ messages: Array(1_001).fill(message) }), 'too-long');
  });

  it('takes no field of a prototype', () => {
    const line = '{"__proto__":{"messages":["Hi"],"expected":"a","base":"b","adapter":"c"}}';
    assert.equal(parseAnswerRow(line, 1), 'no-messages');
    const row = parseAnswerRow(writtenAnswer().replace('{', '{"__proto__":{"base_end":"length"},'), 1);
    assert.deepEqual(row, answerRow({ ends: { base: undefined, adapter: undefined } }));
  });
});
