import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.join(import.meta.dirname, '../../..');
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const documents = globSync('{*,docs/*,.github/*,.github/*/*}.md', { cwd: ROOT });

/** The most bytes of each: what has no room belongs into `docs`, or is too much. */
const MOST_BYTES: Readonly<Record<string, number>> = {
  'README.md': 7_000,
  'ARCHITECTURE.md': 10_000,
  'CONTRIBUTING.md': 8_000,
  'CHANGELOG.md': 4_000,
  'docs/decisions.md': 20_000,
};
const MOST_WORDS = 25;

describe('the documents', () => {
  for (const [file, most] of Object.entries(MOST_BYTES))
    it(`${file} has at most ${most} bytes`, () => {
      const bytes = Buffer.byteLength(read(file));
      assert.ok(bytes <= most, `${bytes} bytes`);
    });

  it(`docs/words.md explains at most ${MOST_WORDS} words, each on one line and once`, () => {
    const [, ...lists] = read('docs/words.md').split(/^## .+\n/m);
    const lines = lists.join('').split('\n').filter(Boolean);
    const words = lines.map((line) => /^- _([\w -]+)_: /.exec(line)?.[1] ?? assert.fail(line));
    assert.ok(words.length > 10 && words.length <= MOST_WORDS, `${words.length} words`);
    assert.deepEqual([...new Set(words)], words);
  });

  it('link to files and headings that exist', () => {
    const links = documents.flatMap((file) => linksOf(read(file)).map((link) => ({ file, link })));
    assert.ok(links.length > 100);
    assert.deepEqual(links.filter(isDead), []);
    for (const link of ['none.md', '#none', 'README.md#none', 'docs/words.md#Elsewhere'])
      assert.ok(isDead({ file: 'README.md', link }), link);
    assert.ok(!isDead({ file: 'docs/words.md', link: '../README.md#from-source' }));
  });

  it('name files that exist, where they say how to test and what to copy', () => {
    for (const document of ['CONTRIBUTING.md', 'docs/recipes.md']) {
      const named = read(document).match(/\b(?:src|test|media)\/[\w./-]+\.[a-z]+\b/g) ?? [];
      assert.ok(named.length > 2);
      assert.deepEqual(
        named.filter((file) => !existsSync(path.join(ROOT, file))),
        [],
        document,
      );
    }
  });

  it('ARCHITECTURE.md names tests that exist', () => {
    const named = [...read('ARCHITECTURE.md').matchAll(/`([\w/]+\.test\.ts)`/g)].map(([, file = '']) => file);
    assert.ok(named.length > 10);
    assert.deepEqual(
      named.filter((file) => ![file, `test/unit/${file}`].some((one) => existsSync(path.join(ROOT, one)))),
      [],
    );
  });

  it('CONTRIBUTING.md has every script', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    const said = [...read('CONTRIBUTING.md').matchAll(/`(?:npm (?:run )?)?([\w:-]+)(?: -- [^`]*)?`/g)];
    const named = new Set(said.map(([, name]) => name));
    assert.deepEqual(
      Object.keys(scripts).filter((name) => !named.has(name)),
      [],
    );
  });
});

/** The relative targets of links and pictures, without those in code. */
function linksOf(markdown: string): string[] {
  const text = markdown.replace(/^```.*?^```$/gms, '').replace(/`[^`\n]*`/g, '');
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"/g)];
  return targets.map(([, link, attribute]) => link ?? attribute ?? '').filter((one) => !/^\w+:/.test(one));
}

function isDead({ file, link }: { file: string; link: string }): boolean {
  const [target = '', heading] = link.split('#');
  const linked = target === '' ? file : path.join(path.dirname(file), target);
  if (!existsSync(path.join(ROOT, linked))) return true;
  return heading !== undefined && !headingsOf(read(linked)).includes(heading);
}

/** The names by which GitHub links to the headings of a page. */
function headingsOf(markdown: string): string[] {
  const text = markdown.replace(/^```.*?^```$/gms, '');
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
