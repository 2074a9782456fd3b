import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** The relative targets of a Markdown page: images, their sources by theme, and links. */
function relativeTargets(markdown: string): string[] {
  const targets = [...markdown.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"/g)];
  return targets
    .map(([, link, attribute]) => link ?? attribute ?? '')
    .filter((one) => !/^(https?:|#)/.test(one));
}

describe('the packed extension', () => {
  /** `.vscodeignore` excludes everything except the listed files. */
  const packed = readFileSync(path.join(ROOT, '.vscodeignore'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('!'))
    .map((line) => line.slice(1));
  const isPacked = (file: string) =>
    existsSync(path.join(ROOT, file)) && packed.some((glob) => path.posix.matchesGlob(file, glob));

  it('contains every image and page that can be reached from its README', () => {
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
