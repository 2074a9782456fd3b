// Bundles the extension. Whatever is reached by a relative `import()` becomes an entry point of its own, so that
// it is loaded at first use and not at activation (esbuild splits only ESM, and the host patches only CommonJS).
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';

const minify = process.argv.includes('--minify');

/** @type {Map<string, string>} absolute source path → bundle name, found while bundling */
const lateEntries = new Map();

/** @type {import('esbuild').Plugin} */
const lateImports = {
  name: 'late-imports',
  setup(build) {
    build.onResolve({ filter: /^\./ }, (args) => {
      if (args.kind !== 'dynamic-import') return undefined;
      const source = path.resolve(args.resolveDir, args.path);
      const name = path.basename(source, '.ts');
      const other = [...lateEntries].find(([file, taken]) => taken === name && file !== source);
      if (other) throw new Error(`two late entries are called ${name}: ${source}, ${other[0]}`);
      lateEntries.set(source, name);
      return { path: `./${name}.cjs`, external: true };
    });
  },
};

/** @param {Record<string, string>} entryPoints */
function bundle(entryPoints) {
  return build({
    entryPoints,
    outdir: 'dist',
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node22.19',
    external: ['vscode'],
    // `require` and not `import()`: the extension host patches what is required.
    supported: { 'dynamic-import': false },
    plugins: [lateImports],
    minify,
    keepNames: minify,
    sourcemap: minify ? false : 'linked',
    legalComments: 'none',
    logLevel: 'warning',
  });
}

await rm('dist', { recursive: true, force: true });
const built = new Set();
let entries = { extension: 'src/extension.ts' };
while (Object.keys(entries).length > 0) {
  await bundle(entries);
  for (const name of Object.keys(entries)) built.add(name);
  entries = Object.fromEntries([...lateEntries].filter(([, name]) => !built.has(name)).map(([file, name]) => [name, file]));
}
