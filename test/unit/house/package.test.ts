import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { thirdPartyNotices } from '../../env/notices.ts';
import { root } from '../../env/project.ts';
import { packedReadme } from '../../env/readme.ts';
import { useFolder } from '../../helpers/folder.ts';

const readme = readFileSync(path.join(root, 'README.md'), 'utf8');
const repository = { url: 'git+https://example.org/someone/fine-tuning.git' };

/** The targets of a Markdown page: images, their sources by theme, and links. */
function targetsOf(markdown: string): string[] {
  const targets = [...markdown.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"/g)];
  return targets.map(([, link, attribute]) => link ?? attribute ?? '').filter((one) => !one.startsWith('#'));
}

describe('the packed README', () => {
  it('takes pictures and pages from the repository at the tag of its version', () => {
    const base = 'https://example.org/someone/fine-tuning';
    const targets = targetsOf(packedReadme(readme, { version: '0.6.0', repository }));
    const files = targets
      .filter((target) => target.startsWith(base))
      .map((target) => /\/(?:raw|blob)\/v0\.6\.0\/(.+)$/.exec(target)?.[1] ?? target);
    assert.ok(files.includes('SECURITY.md') && files.some((file) => file.endsWith('.png')), files.join());
    assert.deepEqual(
      files.filter((file) => !existsSync(path.join(root, file))),
      [],
    );
    assert.deepEqual(
      targets.filter((target) => !target.startsWith('https://')),
      [],
    );
    assert.ok(targets.includes(`${base}/blob/v0.6.0/SECURITY.md`));
  });

  it('does not say how to build or install it', () => {
    for (const one of [{ version: '0.6.0' }, { version: '0.6.0', repository }]) {
      const packed = packedReadme(readme, one);
      assert.doesNotMatch(packed, /npm ci|^## (Install|From source)/m);
      assert.match(packed, /^## What it does/m);
    }
  });

  it('begins with a moving picture that loads at once', () => {
    assert.match(readme.split('\n\n')[2] ?? '', /^!\[.+\]\(media\/screenshots\/first-run\.gif\)$/);
    assert.ok(statSync(path.join(root, 'media/screenshots/first-run.gif')).size <= 400_000);
  });

  it('has no pictures and no links to pages without a repository', () => {
    const packed = packedReadme(readme, { version: '0.6.0' });
    assert.deepEqual(
      targetsOf(packed).filter((target) => !target.startsWith('https://')),
      [],
    );
    assert.doesNotMatch(packed, /<|!\[|\n\n\n|·$/);
  });
});

describe('third-party notices', () => {
  const folder = useFolder();

  it('have the license of a package, of a folder in it, and one that was found by hand', async () => {
    const notices = await thirdPartyNotices([
      'src/extension.ts',
      'node_modules/@fastify/busboy/deps/dicer/lib/Dicer.js',
      'node_modules/undici/lib/llhttp/llhttp_simd-wasm.js',
    ]);
    for (const owner of ['Copyright Brian White', 'Matteo Collina', 'Fedor Indutny', 'Daniel Wirtz'])
      assert.match(notices, new RegExp(owner));
    assert.doesNotMatch(notices, /yauzl/);
  });

  it('are not written without the license of a package', async () => {
    for (const name of ['assemblyscript', 'careless']) {
      await mkdir(path.join(folder(), 'node_modules', name, 'std/assembly'), { recursive: true });
      await writeFile(path.join(folder(), 'node_modules', name, 'package.json'), JSON.stringify({ name }));
    }
    await writeFile(path.join(folder(), 'node_modules/assemblyscript/LICENSE'), 'Apache-2.0');
    await assert.rejects(
      thirdPartyNotices(['node_modules/careless/index.js'], folder()),
      /careless has no license/,
    );
  });
});
