import assert from 'node:assert/strict';
import { sanitizeText, sanitizeServiceText } from '../../../../src/ui/shared/serviceText.ts';

describe('texts of strangers', () => {
  it('are one line in which VS Code finds no link and no icon', () => {
    assert.equal(sanitizeServiceText(' [x](command:y)\r\n\t$(check)  z '), '[x] (command:y) $ (check) z');
  });

  it('hide nothing: control, bidi, zero-width and tag characters are named', () => {
    for (const [hidden, shown] of [
      ['\u0000', '<U+0000>'],
      ['\u001b', '<U+001B>'],
      ['\u0085', '<U+0085>'],
      ['\u00ad', '<U+00AD>'],
      ['\u200b', '<U+200B>'],
      ['\u200d', '<U+200D>'],
      ['\u202e', '<U+202E>'],
      ['\u2066', '<U+2066>'],
      ['\u3164', '<U+3164>'],
      ['\ufe0f', '<U+FE0F>'],
      ['\ud800', '<U+D800>'],
      ['\u{e0041}\u{e0042}', '<U+E0041><U+E0042>'],
      ['\u{e0100}', '<U+E0100>'],
    ] as const)
      assert.equal(sanitizeServiceText(`a${hidden}b`), `a${shown}b`);
  });

  it('keep what belongs to an emoji or to the letters of a script', () => {
    for (const text of ['👩‍👩‍👧‍👦', '👩🏽‍🚀', '❤️', '1️⃣', 'می‌خواهم', 'क्‍ष', 'ääö', '日本語', '芽\ufe00', 'e\u0301'])
      assert.equal(sanitizeServiceText(text), text);
  });

  it('are cut in the middle, at whole characters, so that the end of a file name stays', () => {
    assert.equal(sanitizeServiceText(`${'a'.repeat(100)}.jsonl`, 20), `${'a'.repeat(10)}…aaa.jsonl`);
    const families = '👩‍👩‍👧‍👦'.repeat(10);
    assert.equal(sanitizeServiceText(families, 30), '👩‍👩‍👧‍👦…👩‍👩‍👧‍👦');
    assert.equal(sanitizeServiceText('x'.repeat(60)), 'x'.repeat(60));
    assert.equal(sanitizeServiceText('x'.repeat(61)).length, 60);
  });

  it('change no more when they are made harmless again', () => {
    for (const text of ['[x](y) $(z) \u202e', 'x'.repeat(100)])
      assert.equal(sanitizeServiceText(sanitizeServiceText(text)), sanitizeServiceText(text));
  });

  it('keep the line breaks where they stand in a text of ours', () => {
    assert.equal(sanitizeText('Account: a\u200b\n$(b)'), 'Account: a<U+200B>\n$ (b)');
  });

  it('cost no more where they are a megabyte', () => {
    for (const part of [' ', '\u200b', 'a\u200d', '$(', '](', '👩‍👩‍👧‍👦', '\u0301', '\ud83d'])
      assert.ok(sanitizeServiceText(part.repeat(1_000_000 / part.length), 255).length <= 255);
  }).timeout(1_000);
});
