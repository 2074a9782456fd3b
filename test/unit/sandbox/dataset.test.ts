import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { DatasetReader } from '../../../src/sandbox/submission.ts';
import { Refusal } from '../../../src/sandbox/server.ts';

/** Feeds the bytes in chunks; undefined when they were refused on the way or at the end. */
function read(bytes: Buffer, chunkBytes: number) {
  const reader = new DatasetReader();
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    if (!reader.update(bytes.subarray(at, at + chunkBytes))) return undefined;
  }
  try {
    return reader.end();
  } catch (error) {
    assert.ok(error instanceof Refusal);
    assert.equal(error.code, 'validation_failed');
    return undefined;
  }
}

describe('sandbox dataset reader', () => {
  const long = 'x'.repeat(3 * 1024 * 1024);
  const accepted: Record<string, string> = {
    'one row without a line feed': '{}',
    'rows of any kind after the first': '{"a":1}\nnot JSON',
    'blank rows first': ' \r\n\t\n\n{"a":1}\n',
    'a byte order mark': '\ufeff{"a":1}\n',
    CRLF: '{"a":1}\r\n{}\r\n',
    'a megabyte of blanks first': `${' '.repeat(1_500_000)}{"a":1}`,
    'a first row longer than is checked': `{"a":"${long}"}\n`,
  };
  const refused: Record<string, string> = {
    nothing: '',
    'blank rows only': '\n \r\n\t',
    'an array': '[1]\n',
    'a text': '"a"\n{}',
    null: 'null\n',
    'a torn row': '{"a":\n1}',
    'a torn row after a megabyte of blanks': `${' '.repeat(24 * 65_536 - 1)}{"a":\n1}`,
    'a long first row that is no object': `["${long}"]\n`,
  };
  it('counts and hashes every byte of what it accepts', () => {
    for (const [name, text] of Object.entries(accepted)) {
      const bytes = Buffer.from(text);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      for (const chunkBytes of [bytes.length, bytes.length > 1000 ? 65_536 : 1]) {
        assert.deepEqual(read(bytes, chunkBytes), { bytes: bytes.length, sha256 }, name);
      }
    }
  });

  it('refuses what has no first row that is a JSON object', () => {
    for (const [name, text] of Object.entries(refused)) {
      const bytes = Buffer.from(text);
      for (const chunkBytes of [bytes.length || 1, bytes.length > 1000 ? 65_536 : 1]) {
        assert.equal(read(bytes, chunkBytes), undefined, name);
      }
    }
    // Without waiting for the end of a long first row.
    assert.equal(new DatasetReader().update(Buffer.from(`["${long}`)), false);
    // Not UTF-8.
    assert.equal(read(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 100), undefined);
  });
});
