import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.join(import.meta.dirname, '../../..');
const architecture = readFileSync(path.join(ROOT, 'ARCHITECTURE.md'), 'utf8');

describe('ARCHITECTURE.md', () => {
  it('is one page of at most 10,000 bytes; what has no room belongs into docs', () => {
    const bytes = Buffer.byteLength(architecture);
    assert.ok(bytes <= 10_000, `${bytes} bytes`);
  });

  it('names tests that exist', () => {
    const named = [...architecture.matchAll(/`([\w/]+\.test\.ts)`/g)].map(([, file = '']) => file);
    assert.ok(named.length > 10);
    assert.deepEqual(
      named.filter((file) => ![file, `test/unit/${file}`].some((one) => existsSync(path.join(ROOT, one)))),
      [],
    );
  });
});
