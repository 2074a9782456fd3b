import assert from 'node:assert/strict';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { root } from '../env/project.ts';
import { Preview } from './preview.ts';
import { VSCode } from './vscode.ts';

const FILE = path.join(root, 'test/pages/themes.json');
const VARIABLE = /--(?:vscode|monaco|text-link)[\w-]*/g;

/** What VS Code adds to a page. */
interface Dress {
  id: string;
  kind: string;
  variables: Record<string, string>;
}

// `GOLDEN=write npm run test:ui -- themes` writes the file that the pages outside of VS Code are dressed with.
describe('the themes of the pages that are tested outside of VS Code', () => {
  let vscode: VSCode;

  before(async () => {
    vscode = await VSCode.start();
    await writeFile(vscode.file('rows.jsonl'), '{"text":"a"}\n');
  });
  after(() => vscode.close());

  it('are those of VS Code', async () => {
    const workbench = await vscode.open();
    const preview = new Preview(workbench);
    await preview.open('rows.jsonl');
    await preview.row(1).waitFor();
    const page = preview.frame.locator('html');
    const defaultStyles = (await page.locator('#_defaultStyles').textContent()) ?? '';
    const sources = globSync('media/**/*.{css,ts}', { cwd: root }).map((one) =>
      readFileSync(path.join(root, one), 'utf8'),
    );
    const used = [...new Set([defaultStyles, ...sources].flatMap((one) => one.match(VARIABLE) ?? []))].sort();
    const themes: Record<string, Dress> = {};
    for (const theme of ['dark', 'light', 'high contrast'] as const) {
      await workbench.setTheme(theme);
      const script = `(() => {
        const { style } = document.documentElement;
        const { vscodeThemeId: id, vscodeThemeKind: kind } = document.body.dataset;
        const variables = ${JSON.stringify(used)}.map((name) => [name, style.getPropertyValue(name)]);
        return { id, kind, variables: Object.fromEntries(variables.filter(([, value]) => value !== '')) };
      })()`;
      themes[theme] = await page.evaluate<Dress, undefined>(script, undefined);
    }
    const text = `${JSON.stringify({ defaultStyles, themes }, undefined, 2)}\n`;
    if (process.env['GOLDEN'] === 'write') writeFileSync(FILE, text);
    assert.deepEqual(JSON.parse(text), JSON.parse(readFileSync(FILE, 'utf8')));
  });
});
