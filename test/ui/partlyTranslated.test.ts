import { cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { results } from '../env/project.ts';
import { weekly } from '../helpers/weekly.ts';
import { readSources, sentencesOf } from '../unit/house/sources.ts';
import { inPseudoLanguage } from './pseudoLanguage.ts';
import { extensionsFolder, VSCode } from './vscode.ts';

const TITLE = 'Sign In';
const PROMPT = 'Service URL (from your provider)';

/** Adds a bundle for German with every other sentence, with the prompt and without the title. */
async function translateHalf(): Promise<string> {
  const folder = path.join(results, 'ui/extensions-half-translated');
  await rm(folder, { recursive: true, force: true });
  await cp(extensionsFolder, folder, { recursive: true });
  // Without its list of extensions, VS Code scans the folder.
  await rm(path.join(folder, 'extensions.json'));
  const sentences = [...new Set(readSources().flatMap(({ tree }) => sentencesOf(tree)))];
  const half = sentences.filter(
    (sentence, at) => sentence === PROMPT || (at % 2 === 0 && sentence !== TITLE),
  );
  const bundle = half.map((sentence) => [sentence, inPseudoLanguage(sentence)]);
  const [name = ''] = (await readdir(folder)).filter((entry) => entry.startsWith('fine-tuning-tools.'));
  await mkdir(path.join(folder, name, 'l10n'));
  await writeFile(
    path.join(folder, name, 'l10n/bundle.l10n.de.json'),
    JSON.stringify(Object.fromEntries(bundle)),
  );
  return folder;
}

weekly(() =>
  describe('a translation that lacks half of the sentences', () => {
    let vscode: VSCode;

    before(async () => {
      vscode = await VSCode.start({ extensions: await translateHalf(), language: 'de' });
    });
    after(() => vscode.close());

    it('is used sentence by sentence, beside English ones', async () => {
      const workbench = await vscode.open();
      await workbench.runCommand('Fine-Tuning: Sign In…');
      await workbench.quickInput.waitForTitle(/^Sign In \(1/);
      await workbench.quickInput.waitForMessage(/\u27e6Service URL/);
    });
  }),
);
