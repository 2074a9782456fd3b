import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** What a page in Markdown shows or leads to in its own package: pictures, their sources by theme, and links. */
function relativeTargets(markdown: string): string[] {
  const targets = [...markdown.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"/g)];
  return targets
    .map(([, link, attribute]) => link ?? attribute ?? '')
    .filter((one) => !/^(https?:|#)/.test(one));
}

describe('the packed extension', () => {
  /** `.vscodeignore` is a list of what is packed. */
  const packed = readFileSync(path.join(ROOT, '.vscodeignore'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1));
  const isPacked = (file: string) =>
    existsSync(path.join(ROOT, file)) && packed.some((glob) => path.posix.matchesGlob(file, glob));

  it('has every picture and every page that its README and the pages behind it lead to', () => {
    const pages = ['README.md'];
    const missing: string[] = [];
    for (const page of pages)
      for (const target of relativeTargets(readFileSync(path.join(ROOT, page), 'utf8'))) {
        const file = path.posix.join(path.posix.dirname(page), target);
        if (!isPacked(file)) missing.push(`${page}: ${target}`);
        else if (file.endsWith('.md') && !pages.includes(file)) pages.push(file);
      }
    assert.deepEqual(missing, []);
    assert.ok(pages.length > 1);
  });
});
