// `npm run bench` measures parts of the product beside what else does the same, and writes RESULTS.md; `npm run bench -- dataset`
// measures one part.
import { benchAdapter } from './adapter.ts';
import { benchDataset } from './dataset.ts';
import { benchDownload } from './download.ts';
import { writeSection } from './results.ts';
import { benchStartup } from './startup.ts';
import { benchUpload } from './upload.ts';

const PARTS = new Map([
  ['adapter', { title: 'Adapters', bench: benchAdapter }],
  ['dataset', { title: 'Check of a dataset', bench: benchDataset }],
  ['download', { title: 'Download of an adapter', bench: benchDownload }],
  ['startup', { title: 'Activation', bench: benchStartup }],
  ['upload', { title: 'Upload of a dataset', bench: benchUpload }],
]);

const names = process.argv.slice(2);
for (const name of names.length > 0 ? names : PARTS.keys()) {
  const part = PARTS.get(name);
  if (part === undefined) throw new Error(`no such part: ${name}; there are ${[...PARTS.keys()].join(', ')}`);
  await writeSection(part.title, part.bench);
}
