// `npm run l10n`: writes every sentence of the interface to the source file for translations.
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { l10nBundle, readSources } from '../unit/house/sources.ts';
import { root } from './project.ts';

await mkdir(path.join(root, 'l10n'), { recursive: true });
await writeFile(path.join(root, 'l10n/bundle.l10n.json'), l10nBundle(readSources()));
