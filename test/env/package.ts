// `npm run package`: builds the extension, packs it as `fine-tuning.vsix`, and writes its bill of materials and checksums beside it.
import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { run } from './processes.ts';
import { billOfMaterials, fail, results, root, vsix } from './project.ts';
import { packedReadme, type Origin } from './readme.ts';

/** Runs a script of Node. */
const node = (cwd: string, ...args: string[]): Promise<string> =>
  run(process.execPath, args, { cwd, output: 'show' });
const tool = (...parts: string[]): string => path.join(root, 'node_modules', ...parts);

/** Copies what .vscodeignore names into a folder of its own: vsce reads every folder of the one that it packs. */
async function stage(): Promise<string> {
  const folder = path.join(results, 'package');
  await rm(folder, { recursive: true, force: true });
  const list = await readFile(path.join(root, '.vscodeignore'), 'utf8');
  const patterns = [...list.matchAll(/^!(.+)$/gm)].map(([, pattern = '']) => pattern);
  for (const file of ['.vscodeignore', ...globSync(patterns, { cwd: root })])
    await cp(path.join(root, file), path.join(folder, file), { recursive: true });
  return folder;
}

async function main(): Promise<void> {
  await node(root, 'esbuild.js', '--minify');
  const [readme, manifest] = await Promise.all(
    ['README.md', 'package.json'].map((file) => readFile(path.join(root, file), 'utf8')),
  );
  const packed = packedReadme(readme ?? '', JSON.parse(manifest ?? '') as Origin);
  await writeFile(path.join(root, 'dist/README.md'), packed);
  await node(
    await stage(),
    tool('@vscode/vsce/vsce'),
    ...['package', '--no-dependencies', '--allow-missing-repository', '--no-rewrite-relative-links'],
    ...['--readme-path', 'dist/README.md', '--out', vsix],
  );
  await node(
    root,
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
