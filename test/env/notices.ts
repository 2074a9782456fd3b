// The licenses of the code that is packed, for THIRD-PARTY-NOTICES.txt.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { root } from './project.ts';

/** Code inside of packages that has a license of its own but no file with it: a text in `notices/`. */
const BY_HAND: Readonly<Record<string, string>> = {
  'node_modules/@fastify/busboy/deps/streamsearch/': 'streamsearch',
  'node_modules/undici/lib/llhttp/': 'llhttp',
  'node_modules/undici/lib/web/fetch/body.js': 'formdata-polyfill',
};

/** Compiles functions of its own library into the scanner, which no bundle lists. */
const COMPILER = 'node_modules/assemblyscript/std/assembly/index.d.ts';

/**
 * The licenses of all packages with code in a bundle, and of code that they took from others.
 * @param inputs the bundled files, as esbuild names them
 * @throws Error for a package without a license file
 */
export async function thirdPartyNotices(inputs: readonly string[], base = root): Promise<string> {
  const notices = new Map<string, string>();
  for (const file of [...inputs, COMPILER]) {
    const [folder, name] = /^(?:.*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file) ?? [];
    if (folder === undefined || name === undefined) continue;
    if (!notices.has(folder)) notices.set(folder, await noticeOf(path.join(base, folder)));
    for (let inner = path.posix.dirname(file); inner !== folder; inner = path.posix.dirname(inner))
      for (const text of await licensesIn(path.join(base, inner)))
        notices.set(inner, `${inner.slice('node_modules/'.length)}\n\n${text}`);
    for (const [start, text] of Object.entries(BY_HAND))
      if (file.startsWith(start))
        notices.set(
          start,
          `${text} (in ${name})\n\n${await readFile(path.join(root, 'notices', `${text}.txt`), 'utf8')}`,
        );
  }
  const ordered = [...notices.keys()].sort().map((key) => notices.get(key) ?? '');
  return ordered.join(`\n${'-'.repeat(80)}\n\n`);
}

async function noticeOf(folder: string): Promise<string> {
  const manifest = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
    license: string;
  };
  const texts = await licensesIn(folder);
  const { name, version, license } = manifest;
  if (texts.length === 0) throw new Error(`${name} has no license file: its notice has to be found by hand`);
  return [`${name} ${version} (${license})`, ...texts].join('\n\n');
}

async function licensesIn(folder: string): Promise<string[]> {
  const files = (await readdir(folder)).filter((entry) => /^(licen[cs]e|notice)(\.|-|$)/i.test(entry)).sort();
  return Promise.all(files.map((file) => readFile(path.join(folder, file), 'utf8')));
}
