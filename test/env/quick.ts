// `npm run test:quick`: lint, and the unit tests that need less than two seconds a file.
import { globSync } from 'node:fs';
import { lintPart, mochaPart, runStages } from './parts.ts';
import { fail } from './project.ts';

/** The files that take most of the time, by folder. `npm test` runs them, too. */
const SLOW: Readonly<Record<string, string>> = {
  contract: '*',
  crash: '*',
  'core/adapters/archive': 'archive',
  'core/adapters': 'compareRecipe fuzz hostile measurePass',
  'core/answers': 'answersFile comparison',
  'core/api': 'client createRun globals proxyAndCertificates',
  'core/datasets':
    'badInput checker content convert convertForms convertRows duplicates facts fileKind fingerprints newFiles repeats requestRows scanner toChat tokens writeCopy',
  'core/datasets/scanner': 'ordinaryText rows secrets',
  'core/downloads': 'downloadDisk downloadFaults downloadKills',
  'core/money': 'estimate replay',
  'core/runs': 'refresher runStore',
  'core/storage': 'versionsStress',
  'core/submission': 'attempt checks journal looks reconciler resume submissions',
  house: 'comments longText words',
  'ui/accounts': 'sameKey',
  'ui/adapters': 'adapterPage',
  'ui/answers': 'answersPage',
  'ui/datasets': 'convertToJsonl previewFollow previewRow',
  'ui/downloads': 'downloadAdapter watchers',
};

const slow = Object.entries(SLOW).flatMap(([folder, files]) =>
  files.split(' ').flatMap((file) => ['--ignore', `test/unit/${folder}/${file}.test.ts`]),
);
// Mocha ignores a pattern without a file.
const gone = slow.filter((name) => name.endsWith('.ts') && globSync(name).length === 0);
if (gone.length > 0) throw new Error(`gone: ${gone.join()}`);
runStages([[[lintPart], [mochaPart('unit', slow, 600_000)]]]).catch(fail);
