// A language in which every sentence stands between marks, so that text outside of them is not translatable.
import { cp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { results } from '../env/project.ts';
import { extensionsFolder } from './vscode.ts';

const OPEN = '\u27e6';
const CLOSE = '\u27e7';

/** The name of the extension is the same in each language. */
const NAMES = ['category', 'extension.displayName'];

/** A sentence of the pseudo-language. */
export function inPseudoLanguage(english: string): string {
  return `${OPEN}${english}${CLOSE}`;
}

/**
 * Copies the packed extension, and translates it. VS Code takes no language that it doesn't know, so `l10n.t` itself is
 * replaced, in the extension's own copy of the API.
 * @returns the folder of extensions for `VSCode.start`
 */
export async function translateExtension(): Promise<string> {
  const folder = path.join(results, 'ui/extensions-in-pseudo-language');
  await rm(folder, { recursive: true, force: true });
  await cp(extensionsFolder, folder, { recursive: true });
  // Without its list of extensions, VS Code scans the folder.
  await rm(path.join(folder, 'extensions.json'));
  const [name = ''] = (await readdir(folder)).filter((entry) => entry.startsWith('fine-tuning-tools.'));
  const main = path.join(folder, name, 'dist/extension.cjs');
  const marks = `const { l10n } = require('vscode'), { t } = l10n; l10n.t = (...args) => '${OPEN}' + t(...args) + '${CLOSE}';`;
  await writeFile(main, `{ ${marks} }\n${await readFile(main, 'utf8')}`);
  const manifest = path.join(folder, name, 'package.nls.json');
  const texts = Object.entries(JSON.parse(await readFile(manifest, 'utf8')) as Record<string, string>);
  const translated = texts.map(([key, text]) => [key, NAMES.includes(key) ? text : byLine(text)]);
  await writeFile(manifest, JSON.stringify(Object.fromEntries(translated)));
  return folder;
}

/** A line that is only a link becomes a button. */
function byLine(text: string): string {
  return text
    .split('\n')
    .map((line) => {
      const [, label, target] = /^\[(.*)\]\((.*)\)$/.exec(line) ?? [];
      return target === undefined ? inPseudoLanguage(line) : `[${inPseudoLanguage(label ?? '')}](${target})`;
    })
    .join('\n');
}

/** Why a text is not translatable: words outside of sentences, or sentences glued together; undefined if it is. */
export function whyUntranslatable(text: string, data: readonly RegExp[]): string | undefined {
  const sentence = new RegExp(`${OPEN}[^${OPEN}${CLOSE}]*${CLOSE}`, 'g');
  let rest = text;
  for (let before = ''; before !== rest;) {
    if (/\0[ \n]+\0/.test(rest)) return 'glued';
    before = rest;
    rest = rest.replace(sentence, '\0');
  }
  if (/\0[ \n]+\0/.test(rest)) return 'glued';
  for (const known of data) rest = rest.replaceAll(known, '');
  return /\p{L}/u.test(rest) ? 'not translated' : undefined;
}
