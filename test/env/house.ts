// `npm run house`: prints a table of the code's size, to compare before and after a change.
import { readdirSync, readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { sentencesOf, sourceOf } from '../unit/house/sources.ts';
import { run } from './processes.ts';
import { fail, root } from './project.ts';

/** The files of the composition root. */
const COMPOSITION = ['src/extension.ts', 'src/start.ts', 'src/services.ts'];
const SMALL_FILE_LINES = 40;
const LONG_SENTENCE_WORDS = 25;

async function main(): Promise<void> {
  const source = filesOf('src', /\.ts$/);
  const sentences = [
    ...source.flatMap((file) => sentencesOf(sourceOf(file, textOf(file)).tree)),
    ...packageSentences(),
  ];
  const words = sentences.map((sentence) => sentence.split(/\s+/).filter((word) => word !== '').length);
  const [activationKB = 0, startKB = 0] = await loadedKB();
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
    ['KB that VS Code waits for at activation', activationKB],
    ['KB loaded after it, with no page open', startKB],
  ];
  const width = Math.max(...table.map(([name]) => name.length));
  for (const [name, value] of table) console.log(`${name.padEnd(width)}  ${value.toLocaleString('en')}`);
}

/** Lists a folder's files relative to the repository, without node_modules and fixtures. */
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

/** Sizes of the bundle that VS Code waits for at activation, and of the one that starts everything after it. */
async function loadedKB(): Promise<number[]> {
  await run(process.execPath, ['esbuild.js', '--minify'], { cwd: root, output: 'hide' });
  const files = ['extension', 'start'].map((name) => path.join(root, `dist/${name}.cjs`));
  return Promise.all(files.map(async (file) => Math.round((await stat(file)).size / 1000)));
}

main().catch(fail);
