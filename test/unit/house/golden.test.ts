import assert from 'node:assert/strict';
import { globSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../../..');

it('each golden file is compared by one test', () => {
  const compared = globSync('test/{unit,ui}/**/*.test.ts', { cwd: root }).flatMap((file) => {
    const calls = readFileSync(path.join(root, file), 'utf8').matchAll(/\bgolden\(\s*'([\w-]+)'/g);
    return [...calls].map(([, name]) => `${name}.txt`);
  });
  assert.deepEqual(compared.sort(), readdirSync(path.join(root, 'test/golden')).sort());
});
