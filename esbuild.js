// Bundles the extension and its pages, and compiles the dataset scanner.
import { watch } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import asc from 'assemblyscript/asc';
import { build, transform } from 'esbuild';
import { thirdPartyNotices } from './test/env/notices.ts';

const minify = process.argv.includes('--minify');

/** @type {import('esbuild').BuildOptions} */
const forNode = {
  outdir: 'dist',
  bundle: true,
  platform: 'node',
  target: 'node22.19',
  external: ['vscode'],
  // As Node bundles undici itself: without its second, experimental parser of HTTP/1 (165 KB).
  // And where a file finds its worker.
  define: { esbuildDetection: '1', 'import.meta.filename': '__filename' },
  minify,
  sourcemap: minify ? false : 'inline',
  // Their licences stand whole in THIRD-PARTY-NOTICES.txt.
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
};

/** What activation loads, and what starts after it: each becomes one file, which loads in half the time that its parts would take. */
const ENTRIES = ['extension', 'start'];

/**
 * The extension. esbuild splits only ESM, and the extension host patches Node's modules only for `require`: so the code is bundled as
 * ESM, with what is reached by `import()` in files of its own and what several need in shared ones, and each file is then turned into
 * CommonJS.
 */
async function bundleExtension() {
  const { metafile, outputFiles } = await build({
    ...forNode,
    entryPoints: ENTRIES.map((name) => `src/${name}.ts`),
    outExtension: { '.js': '.cjs' },
    chunkNames: '[name]-[hash]',
    splitting: true,
    format: 'esm',
    write: false,
  });
  const texts = new Map(outputFiles.map(({ path: file, text }) => [`./${path.basename(file)}`, text]));
  /** The parts that have no file, and the file that exports each. */
  const exporters = new Map();
  await mkdir('dist', { recursive: true });
  for (const entry of ENTRIES) {
    const main = `./${entry}.cjs`;
    const parts = new Set([main]);
    // A set also goes through what is added on the way.
    for (const part of parts)
      for (const { path: file, kind } of metafile.outputs[path.posix.join('dist', part)]?.imports ?? []) {
        const imported = `./${path.basename(file)}`;
        if (kind === 'import-statement' && texts.has(imported)) parts.add(imported);
      }
    await bundleParts(main, parts, texts);
    for (const part of parts) {
      if (part !== main) exporters.set(part, main);
      texts.delete(part);
    }
  }
  /** @param {string} code */
  const withParts = (code) =>
    code.replaceAll(/\brequire\("(\.\/[\w-]+\.cjs)"\)/g, (required, part) =>
      exporters.has(part) ? `require("${exporters.get(part)}")["${part}"]` : required,
    );
  for (const entry of ENTRIES) {
    const file = path.join('dist', `${entry}.cjs`);
    await writeFile(file, withParts(await readFile(file, 'utf8')));
  }
  for (const [file, text] of texts) {
    const { code } = await transform(text, {
      ...{ format: 'cjs', platform: 'node', target: forNode.target, sourcefile: file },
      // `require` and not `import()`, for the same reason.
      supported: { 'dynamic-import': false },
      ...{ minify, sourcemap: forNode.sourcemap },
    });
    await writeFile(path.join('dist', file), withParts(code));
  }
  return metafile;
}

/**
 * Writes one file of several parts, which exports what the first one does, and each other part by its name.
 * @param {string} main the first part
 * @param {ReadonlySet<string>} parts
 * @param {ReadonlyMap<string, string>} texts of all parts, by their names
 */
function bundleParts(main, parts, texts) {
  const named = [...parts].map((part) => `export * as '${part}' from '${part}';`);
  return build({
    ...forNode,
    stdin: { contents: [`export * from '${main}';`, ...named].join('\n'), sourcefile: main },
    outdir: undefined,
    outfile: path.join('dist', main),
    format: 'cjs',
    supported: { 'dynamic-import': false },
    plugins: [
      {
        name: 'parts',
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /^\.\/.+\.cjs$/ }, ({ path: name, kind }) =>
            kind !== 'dynamic-import' && parts.has(name)
              ? { path: name, namespace: 'parts' }
              : { path: name, external: true },
          );
          onLoad({ filter: /.*/, namespace: 'parts' }, ({ path: name }) => ({ contents: texts.get(name) }));
        },
      },
    ],
  });
}

/** The workers, a file each: threads load nothing of the extension. */
function bundleWorkers() {
  return build({
    ...forNode,
    entryPoints: {
      datasetWorker: 'src/core/datasets/worker.ts',
      factsWorker: 'src/core/datasets/factsWorker.ts',
      convertWorker: 'src/core/datasets/convertWorker.ts',
      adapterWorker: 'src/core/adapters/worker.ts',
      answersWorker: 'src/core/answers/answersWorker.ts',
    },
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
  });
}

/** The pages of webviews, for the browser: each style in media with the script of its name. */
async function bundlePages() {
  const files = await readdir('media', { recursive: true });
  const pages = files.filter(
    (file) =>
      file.endsWith('.css') && files.includes(file.replace(/css$/, 'ts')) && path.dirname(file) !== 'shared',
  );
  return build({
    entryPoints: pages.flatMap((file) => {
      const page = path.parse(file).name;
      return ['ts', 'css'].map((type) => ({
        in: `media/${file.replace(/css$/, type)}`,
        out: `${page}/${page}`,
      }));
    }),
    outdir: 'dist/pages',
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
  const config = 'src/core/datasets/scanner/asconfig.json';
  const { error, stderr } = await asc.main(['--config', config, '--outFile', 'dist/scanner.wasm']);
  if (error) throw new Error(`${error.message}\n${stderr.toString()}`);
}

/** Bundles everything; the scanner only if it isn't there yet or may have changed. */
async function buildAll(withScanner = true) {
  const metafiles = [
    await bundleExtension(),
    (await bundleWorkers()).metafile,
    (await bundlePages()).metafile,
  ];
  const inputs = Object.assign({}, ...metafiles.map((metafile) => metafile?.inputs));
  const outputs = Object.assign({}, ...metafiles.map((metafile) => metafile?.outputs));
  if (withScanner) await compileScanner();
  await writeFile('dist/THIRD-PARTY-NOTICES.txt', await thirdPartyNotices(Object.keys(inputs)));
  // What `npm run package` makes the bill of materials of.
  await writeFile('dist/meta.json', JSON.stringify({ inputs, outputs }));
}

/** Builds again after each change in `src` and `media`, until it is stopped. An error is printed, and the next change built. */
async function buildOnChange() {
  const changed = new Set();
  let wake = () => {};
  for (const folder of ['src', 'media'])
    watch(folder, { recursive: true }, (_, file) => {
      changed.add(path.posix.join(folder, String(file).replaceAll('\\', '/')));
      wake();
    });
  for (;;) {
    console.log('Waiting for changes in src and media.');
    if (changed.size === 0) await new Promise((resolve) => (wake = () => resolve(undefined)));
    // Editors write a file in several steps, and several files at once.
    await setTimeout(100);
    const files = [...changed];
    changed.clear();
    console.log(`Building after a change of ${files.join(', ')}.`);
    await buildAll(files.some((file) => file.startsWith('src/core/datasets/scanner/'))).catch((error) =>
      console.error(String(error)),
    );
  }
}

await rm('dist', { recursive: true, force: true });
await buildAll();
if (process.argv.includes('--watch')) await buildOnChange();
