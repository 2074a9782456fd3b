import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { billOfMaterials, results, root, vsix } from '../env/project.ts';
import { packedReadme } from '../env/readme.ts';
import { golden } from '../helpers/golden.ts';
import { unzip } from '../helpers/unzip.ts';
import { weekly } from '../helpers/weekly.ts';
import { extensionsFolder, VSCode } from './vscode.ts';
import { actUntil } from './waits.ts';
import type { Workbench } from './workbench.ts';

const MAX_BYTES = 690_000;

describe('the packed extension', () => {
  it('consists of the listed files, and stays small', async () => {
    const archive = await readFile(vsix);
    const files = [...(await unzip(archive)).keys()].map((file) =>
      // A part's name ends with the hash of its content, and esbuild decides how many parts are shared.
      file.replace(/-[0-9A-Z]{8}(?=\.cjs$)/, '').replace(/\/chunk(?=\.cjs$)/, '/(shared parts)'),
    );
    golden('package', { files: [...new Set(files)].sort() });
    assert.ok(archive.length <= MAX_BYTES, `${archive.length} bytes`);
  });

  it('has the license of each package in its bill of materials', async () => {
    const notices = (await unzip(await readFile(vsix))).get('extension/dist/THIRD-PARTY-NOTICES.txt');
    const { components } = JSON.parse(await readFile(billOfMaterials, 'utf8')) as {
      components: { group?: string; name: string; version: string }[];
    };
    const names = components.map(
      ({ group, name, version }) => `${group === undefined ? '' : `${group}/`}${name} ${version} (`,
    );
    assert.ok(names.some((name) => name.startsWith('undici ')) && names.some((name) => name.startsWith('@')));
    assert.deepEqual(
      names.filter((name) => !String(notices).includes(`\n${name}`) && !String(notices).startsWith(name)),
      [],
    );
  });
});

weekly(() =>
  describe('the page of the extension in VS Code', () => {
    let vscode: VSCode;
    let workbench: Workbench;
    const served = new Map<string, number>();
    const tls = (name: string) => readFileSync(path.join(root, 'test/fixtures/tls', name));
    /** In place of the repository's own server. */
    const server = createServer(
      { key: tls('server.key.pem'), cert: tls('server.pem') },
      (request, response) => {
        const file = path.join(
          root,
          /^\/someone\/fine-tuning\/raw\/v[\d.]+\/(.+)$/.exec(request.url ?? '')?.[1] ?? '-',
        );
        const status = existsSync(file) ? 200 : 404;
        served.set(request.url ?? '', status);
        response.writeHead(status).end(status === 200 ? readFileSync(file) : '');
      },
    );

    before(async () => {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      const folder = path.join(results, 'ui/extensions-with-repository');
      await rm(folder, { recursive: true, force: true });
      await cp(extensionsFolder, folder, { recursive: true });
      // Without its list of extensions, VS Code scans the folder.
      await rm(path.join(folder, 'extensions.json'));
      const [name = ''] = (await readdir(folder)).filter((entry) => entry.startsWith('fine-tuning-tools.'));
      const repository = { url: `https://127.0.0.1:${port}/someone/fine-tuning` };
      const readme = packedReadme(await readFile(path.join(root, 'README.md'), 'utf8'), {
        version: '0.6.0',
        repository,
      });
      await writeFile(path.join(folder, name, 'readme.md'), readme);
      vscode = await VSCode.start({ extensions: folder });
      workbench = await vscode.open();
    });

    after(async () => {
      await vscode.close();
      server.close();
    });

    it('shows the pictures of the repository', async () => {
      await workbench.runCommand('Extensions: Show Installed Extensions');
      const page = workbench.webview('panel');
      const pictures = page.locator('img');
      const item = workbench.page.locator('.extension-list-item', { hasText: 'Fine-Tuning' }).first();
      await actUntil(() => item.click(), pictures.first());
      for (const picture of await pictures.all()) {
        await picture.scrollIntoViewIfNeeded();
        await picture.evaluate((image: { decode(): Promise<void> }) => image.decode());
      }
      assert.ok((await pictures.count()) > 1);
      assert.deepEqual([...new Set(served.values())], [200]);
      await page.locator('h1').scrollIntoViewIfNeeded();
      await workbench.screenshotInThemes('extension-page', () => Promise.resolve());
    });
  }),
);
