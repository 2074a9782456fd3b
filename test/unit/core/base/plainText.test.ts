import assert from 'node:assert/strict';
import { cutAtWholeCharacters, toPlainLine } from '../../../../src/core/base/plainText.ts';

describe('plain text', () => {
  it('keeps text that fits', () => assert.equal(cutAtWholeCharacters('äöü', 3), 'äöü'));

  it('never splits a character', () => {
    const family = '👨‍👩‍👧‍👦'; // 11 UTF-16 units
    assert.equal(cutAtWholeCharacters(`ab${family}`, 12), 'ab');
    assert.equal(cutAtWholeCharacters(`ab${family}c`, 13), `ab${family}`);
    assert.equal(cutAtWholeCharacters('e\u0301x', 1), '');
    assert.equal(cutAtWholeCharacters('a'.repeat(300) + '😀', 301), 'a'.repeat(300));
  });

  it('is one line without control characters or changes of direction', () => {
    assert.equal(toPlainLine(' a\r\n\tb\u0000c\u001b[31m \u202egnp.exe\u2066 ', 300), 'a b c [31m gnp.exe');
    assert.equal(toPlainLine('a\ud800b', 300), 'ab');
  });

  it('is cut from a huge text', () => {
    assert.equal(toPlainLine('x'.repeat(30_000_000), 300).length, 300);
  });
});
