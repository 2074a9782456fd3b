// `npm run package`: builds the extension, packs it as `fine-tuning.vsix`, and writes its bill of materials and checksums beside it.
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { run } from './processes.ts';
import { billOfMaterials, fail, root, vsix } from './project.ts';
import { packedReadme, type Origin } from './readme.ts';

/** Runs a script of Node in the repository. */
const node = (...args: string[]): Promise<string> =>
  run(process.execPath, args, { cwd: root, timeoutMs: 60_000, output: 'show' });
const tool = (...parts: string[]): string => path.join('node_modules', ...parts);

async function main(): Promise<void> {
  await node('esbuild.js', '--minify');
  const [readme, manifest] = await Promise.all(
    ['README.md', 'package.json'].map((file) => readFile(path.join(root, file), 'utf8')),
  );
  const packed = packedReadme(readme ?? '', JSON.parse(manifest ?? '') as Origin);
  await writeFile(path.join(root, 'dist/README.md'), packed);
  await node(
    tool('@vscode/vsce/vsce'),
    ...['package', '--no-dependencies', '--allow-missing-repository', '--no-rewrite-relative-links'],
    ...['--readme-path', 'dist/README.md', '--out', vsix],
  );
  await node(
    tool('@cyclonedx/cyclonedx-esbuild/bin/cyclonedx-esbuild-cli.js'),
    ...['--output-reproducible', '--output-file', billOfMaterials, 'dist/meta.json'],
  );
  const sums = [vsix, billOfMaterials].map(async (file) => {
    const sum = createHash('sha256').update(await readFile(file));
    return `${sum.digest('hex')}  ${path.basename(file)}\n`;
  });
  await writeFile(path.join(root, 'SHA256SUMS'), await Promise.all(sums));
}

main().catch(fail);
