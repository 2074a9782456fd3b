// Bundles the extension and compiles its scanner. Whatever is reached by a relative `import()` becomes an entry point of its own, so that
// it is loaded at first use and not at activation (esbuild splits only ESM, and the host patches only CommonJS).
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import asc from 'assemblyscript/asc';
import { build } from 'esbuild';

const PAGES = ['preview', 'adapter', 'run'];
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
    // Their licences stand whole in THIRD-PARTY-NOTICES.txt.
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
}

/** The pages of webviews: a script and a style each, for the browser. */
function bundlePages() {
  return build({
    entryPoints: PAGES.flatMap((page) =>
      ['ts', 'css'].map((type) => ({ in: `media/${page}/${page}.${type}`, out: `${page}/${page}` })),
    ),
    outdir: 'dist',
    bundle: true,
    platform: 'browser',
    format: 'iife',
    // The Chromium of VS Code 1.105.
    target: 'chrome138',
    minify,
    sourcemap: minify ? false : 'linked',
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
}

/** The dataset scanner, from AssemblyScript to WebAssembly. */
async function compileScanner() {
  const config = 'src/dataset/scanner/asconfig.json';
  const { error, stderr } = await asc.main(['--config', config, '--outFile', 'dist/scanner.wasm']);
  if (error) throw new Error(`${error.message}\n${stderr.toString()}`);
}

/** The licences of the packages whose code is in the bundles, as they ask for. @param {string[]} inputs */
async function writeNotices(inputs) {
  const folders = new Set(
    inputs.flatMap((file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []),
  );
  const notices = await Promise.all([...folders].sort().map(noticeOf));
  await writeFile('dist/THIRD-PARTY-NOTICES.txt', notices.join(`\n${'-'.repeat(80)}\n\n`));
}

/** @param {string} folder of a package @returns {Promise<string>} */
async function noticeOf(folder) {
  const { name, version, license } = JSON.parse(await readFile(`${folder}/package.json`, 'utf8'));
  const file = (await readdir(folder)).find((entry) => /^licen[cs]e(\.|$)/i.test(entry));
  if (file === undefined) throw new Error(`${name} has no licence file: its notice has to be found by hand`);
  return `${name} ${version} (${license})\n\n${await readFile(`${folder}/${file}`, 'utf8')}`;
}

await rm('dist', { recursive: true, force: true });
const built = new Set();
const inputs = [];
let entries = {
  extension: 'src/extension.ts',
  datasetWorker: 'src/dataset/worker.ts',
  digestWorker: 'src/api/digestWorker.ts',
  measureWorker: 'src/adapter/measure/measureWorker.ts',
};
while (Object.keys(entries).length > 0) {
  const { metafile } = await bundle(entries);
  inputs.push(...Object.keys(metafile.inputs));
  for (const name of Object.keys(entries)) built.add(name);
  entries = Object.fromEntries(
    [...lateEntries].filter(([, name]) => !built.has(name)).map(([file, name]) => [name, file]),
  );
}
inputs.push(...Object.keys((await bundlePages()).metafile.inputs));
await compileScanner();
await writeNotices(inputs);
