// `npm run l10n`: writes every text of the interface to the file for translators.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { readSources, textsForTranslators } from '../unit/house/sources.ts';
import { root } from './project.ts';

const nls = JSON.parse(await readFile(path.join(root, 'package.nls.json'), 'utf8')) as Record<string, string>;
await mkdir(path.join(root, 'l10n'), { recursive: true });
await writeFile(path.join(root, 'l10n/translators.i18n.json'), textsForTranslators(readSources(), nls));
