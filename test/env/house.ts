// `npm run house`: the size of the house in a table, so that each change can say what it did to it.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { sentencesOf, sourceOf } from '../unit/house/sources.ts';
import { fail, root } from './project.ts';

/** The files that put everything together by hand. */
const COMPOSITION = ['src/extension.ts', 'src/services.ts', 'src/ui/sandbox/lazySandbox.ts'];
const SMALL_FILE_LINES = 40;
const LONG_SENTENCE_WORDS = 25;

async function main(): Promise<void> {
  const source = filesOf('src', /\.ts$/);
  const sentences = [
    ...source.flatMap((file) => sentencesOf(sourceOf(file, textOf(file)).tree)),
    ...packageSentences(),
  ];
  const words = sentences.map((sentence) => sentence.split(/\s+/).filter((word) => word !== '').length);
  const table: [string, number | string][] = [
    ['lines in src', linesOf(source)],
    ['lines in media', linesOf(filesOf('media', /\.(ts|css)$/))],
    ['lines in test', linesOf(filesOf('test', /\.(ts|mjs|cjs)$/))],
    ['files in src', source.length],
    [
      `files in src under ${SMALL_FILE_LINES} lines`,
      source.filter((file) => linesOf([file]) < SMALL_FILE_LINES).length,
    ],
    ['lines that compose by hand', linesOf(COMPOSITION.filter((file) => source.includes(file)))],
    ['sentences', sentences.length],
    ['words in all sentences', words.reduce((sum, count) => sum + count, 0)],
    [
      `sentences over ${LONG_SENTENCE_WORDS} words`,
      words.filter((count) => count > LONG_SENTENCE_WORDS).length,
    ],
    ['menu entries', Object.values(manifest().contributes.menus).flat().length],
    ['commands', manifest().contributes.commands.length],
    ['eager bundle, minified', `${Math.round((await eagerBytes()) / 1000)} KB`],
  ];
  const width = Math.max(...table.map(([name]) => name.length));
  for (const [name, value] of table) console.log(`${name.padEnd(width)}  ${value.toLocaleString('en')}`);
}

/** Files below a folder of the repository, from its top, without what was installed and what tests only read. */
function filesOf(folder: string, pattern: RegExp): string[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => path.posix.join(folder, name.replaceAll('\\', '/')))
    .filter((file) => pattern.test(file) && !/\/(node_modules|fixtures)\//.test(file))
    .sort();
}

function textOf(file: string): string {
  return readFileSync(path.join(root, file), 'utf8');
}

function linesOf(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + textOf(file).split('\n').length - 1, 0);
}

function packageSentences(): string[] {
  return Object.values(JSON.parse(textOf('package.nls.json')) as Record<string, string>);
}

function manifest(): { contributes: { menus: Record<string, unknown[]>; commands: unknown[] } } {
  return JSON.parse(textOf('package.json')) as ReturnType<typeof manifest>;
}

/** What activation loads, built as esbuild.js does: the extension and the chunks that it reaches without `import()`. */
async function eagerBytes(): Promise<number> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: {
      extension: 'src/extension.ts',
      datasetWorker: 'src/core/datasets/worker.ts',
      digestWorker: 'src/core/api/digestWorker.ts',
      adapterWorker: 'src/core/adapters/worker.ts',
    },
    outdir: 'dist',
    outExtension: { '.js': '.cjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node22.19',
    external: ['vscode'],
    minify: true,
    legalComments: 'none',
    metafile: true,
    write: false,
    logLevel: 'error',
  });
  const reached = new Set(['dist/extension.cjs']);
  let bytes = 0;
  // A set also goes through what is added on the way.
  for (const file of reached) {
    const output = metafile.outputs[file];
    if (output === undefined) throw new Error(`esbuild made no ${file}`);
    bytes += output.bytes;
    for (const { path: chunk, kind, external } of output.imports)
      if (kind === 'import-statement' && external !== true) reached.add(chunk);
  }
  return bytes;
}

main().catch(fail);
