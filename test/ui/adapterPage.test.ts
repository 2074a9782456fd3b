import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buildArchive } from '../../src/sandbox/adapterArchive.ts';
import { tensor } from '../helpers/adapters/safetensorsWriter.ts';
import { zipOf } from '../helpers/adapters/support.ts';
import { trainedAdapter } from './adapterFiles.ts';
import { AdapterPage } from './adapterPage.ts';
import { VSCode } from './vscode.ts';
import type { Workbench } from './workbench.ts';

const LLAMA = 'llama-3.1-8b-instruct';

describe('adapter page', () => {
  let vscode: VSCode;
  let workbench: Workbench;
  let page: AdapterPage;
  let trained: Buffer;

  const file = (name: string) => vscode.file(name);

  before(async () => {
    vscode = await VSCode.start();
    trained = zipOf({ 'README.md': Buffer.from('# A tutor\n'), ...trainedAdapter() });
    await writeFile(file('lora.zip'), trained);
    workbench = await vscode.open();
    page = new AdapterPage(workbench);
  });

  after(() => vscode.close());

  describe('of a trained adapter', () => {
    after(() => workbench.editors.closeAll());

    it('shows the verdict, the facts, and the files', async () => {
      await page.open('lora.zip');
      await page.waitForVerdict('Complete LoRA adapter');
      assert.equal(await page.fact('Rank'), '32');
      assert.equal(await page.fact('Alpha'), '64');
      assert.equal(await page.fact('Scaling'), '2 (alpha ÷ rank)');
      assert.match(await page.fact('Base model'), /^meta-llama\/Llama-3\.1-8B-Instruct/);
      assert.equal(await page.fact('Layers'), '32: 0 to 31');
      assert.equal(await page.fact('Tensor types'), 'F32');
      assert.equal(await page.fact('Format'), 'zip');
      await page.frame.locator('.fileTable tr', { hasText: 'adapter_config.json config' }).waitFor();
      await workbench.screenshot('adapter-trained');
    });

    it('shows the adapted modules, each reachable by keyboard', async () => {
      await page.cells.first().focus();
      const { keyboard } = workbench.page;
      await page.frame.getByText('q_proj, layer 0: rank 32, 4,096 parameters', { exact: true }).waitFor();
      await keyboard.press('ArrowRight');
      await keyboard.press('ArrowDown');
      assert.match((await page.focused().getAttribute('aria-label')) ?? '', /^k_proj, layer 1: /);
      await keyboard.press('Control+End');
      assert.match((await page.focused().getAttribute('aria-label')) ?? '', /^up_proj, layer 31: /);
      await keyboard.press('Home');
      assert.equal(await page.focused().getAttribute('aria-label'), 'up_proj, layer 0: not adapted');
      assert.equal(await page.grid.locator('[tabindex="0"]').count(), 1);
    });

    it('measures how much each module learned', async () => {
      await page.button('Measure').click();
      await page.frame.getByText(/No NaN or infinite values \([\d,]+ checked\)\./).waitFor();
      await page.button('Measure').waitFor({ state: 'detached' });
      const last = page.grid.getByRole('gridcell', { name: /^o_proj, layer 31: rank 32, .*, norm \d/ });
      await last.waitFor();
      await page.frame.getByText('Show as table').click();
      await page.frame.getByRole('columnheader', { name: 'layer 31', exact: true }).last().waitFor();
      await workbench.screenshot('adapter-measured');
      await page.frame.getByText('Show as table').click();
    });

    it('shows a recipe for each tool, and copies its commands', async () => {
      for (const [tool, text] of [
        ['PEFT / Transformers', /PeftModel\.from_pretrained/],
        ['vLLM', /--max-lora-rank[ =]32/],
        ['llama.cpp', /convert_lora_to_gguf\.py/],
        ['Ollama', /FROM \.\/model\.gguf/],
      ] as const) {
        await page.recipe(tool).click();
        await page.unfold();
        await page.recipePanel.getByText(text).first().waitFor();
        const compares = page.recipePanel.getByRole('heading', { name: 'Compare with the base model' });
        assert.equal(await compares.count(), tool === 'Ollama' ? 0 : 1, tool);
        await workbench.screenshot(`adapter-recipe-${tool.replace(/\W+/g, '-').toLowerCase()}`);
      }
      await page.recipe('vLLM').click();
      const copy = page.recipePanel.getByRole('button', { name: /^Copy: vLLM, Serve/ }).first();
      await copy.click();
      await page.frame.getByRole('status').getByText('Copied').waitFor();
      assert.match(await workbench.clipboard(), /--max-lora-rank[ =]32/);
      assert.ok((await workbench.clipboard()).includes(file('lora')));
    });

    it('changes tabs with the arrow keys', async () => {
      await page.recipe('vLLM').focus();
      await workbench.page.keyboard.press('ArrowRight');
      await page.recipe('llama.cpp').and(page.focused()).waitFor();
      assert.equal(await page.recipe('llama.cpp').getAttribute('aria-selected'), 'true');
      await workbench.page.keyboard.press('Home');
      await page.recipe('PEFT / Transformers').and(page.focused()).waitFor();
    });

    it('unpacks into a new folder, never over an existing one', async () => {
      await mkdir(file('lora'));
      await writeFile(path.join(file('lora'), 'mine.txt'), 'mine');
      // The folder did not exist when the page was opened.
      await page.button('Unpack').click();
      await page.frame
        .getByText(`Unpacked to ${file('lora-2')}.`)
        .first()
        .waitFor();
      assert.deepEqual(await readdir(file('lora')), ['mine.txt']);
      assert.ok(existsSync(path.join(file('lora-2'), 'adapter_model.safetensors')));
      await page.button('Unpack').waitFor({ state: 'detached' });
      await page.unfold();
      await page.recipePanel.getByText(file('lora-2')).first().waitFor();
      await workbench.screenshot('adapter-unpacked');
    });

    it('opens one page per file, and restores its state when shown again', async () => {
      await page.open('lora.zip');
      assert.equal(await workbench.page.locator('.tabs-container .tab').count(), 1);
      await page.recipe('Ollama').click();
      // A hidden page is recreated when shown, with the same tool.
      await workbench.editors.open(path.join(file('lora'), 'mine.txt'));
      await workbench.editors.waitForLine('mine');
      await page.tab('lora.zip').click();
      await page.recipePanel
        .getByText(/FROM \.\/model\.gguf/)
        .first()
        .waitFor();
    });
  });

  describe('of a file with problems', () => {
    afterEach(() => workbench.editors.closeAll());

    it('lists problems, and why a tool can’t load the adapter', async () => {
      const files = trainedAdapter({
        layers: 4,
        config: { r: 8, modules_to_save: ['lm_head'] },
        tensors: (all) => [
          ...all.filter(({ name }) => !name.endsWith('layers.2.self_attn.v_proj.lora_B.weight')),
          tensor('base_model.model.lm_head.weight', [64, 64]),
        ],
      });
      const odd = Object.entries({ ...files, 'optimizer.pt': Buffer.from('never read') });
      await writeFile(
        file('lora-odd.zip'),
        zipOf(Object.fromEntries(odd.map(([name, data]) => [`out/${name}`, data]))),
      );
      await page.open('lora-odd.zip');
      await page.waitForVerdict('Adapter with problems');
      await page.frame.getByText(/Modules where A or B is missing/).waitFor();
      await page.frame.getByText(/pickle, not opened/).waitFor();
      await workbench.screenshot('adapter-problems');
      await page.recipe('vLLM').click();
      await page.recipePanel.getByText(/vLLM can’t load this adapter \(modules_to_save\)/).waitFor();
      await workbench.screenshot('adapter-refused');
    });

    it('shows warnings about the config above the commands', async () => {
      const config = {
        init_lora_weights: 'pissa_niter_4',
        alora_invocation_tokens: [1, 2],
        task_type: null,
      };
      await writeFile(file('lora-asking.zip'), zipOf(trainedAdapter({ config })));
      await page.open('lora-asking.zip');
      await page.waitForVerdict('LoRA adapter with warnings');
      const warning = page.recipePanel.getByText(/^Warning: .*aLoRA.*acts only after its invocation tokens/);
      await warning.waitFor();
      await page.unfold();
      const command = page.recipePanel.getByText(/PeftModel\.from_pretrained/);
      const [above, below] = [await warning.boundingBox(), await command.boundingBox()];
      assert.ok(above && below && above.y < below.y);
      await page.assertAccessible();
      await workbench.screenshotInThemes('adapter-warned', () => warning.scrollIntoViewIfNeeded());
    });

    it('finds NaN when measuring', async () => {
      const broken = trainedAdapter({
        layers: 4,
        tensors: (all) => {
          all[2]?.data.writeFloatLE(NaN, 20);
          return all;
        },
      });
      await writeFile(file('lora-nan.zip'), zipOf(broken));
      await page.open('lora-nan.zip');
      await page.waitForVerdict('Complete LoRA adapter');
      await page.button('Measure').click();
      await page.waitForVerdict('Adapter with broken values');
      await page.frame.getByText(/NaN: 1, infinite: 0\./).waitFor();
      await workbench.screenshot('adapter-nan');
    });

    it('has a verdict for a file that is not an adapter, and for an unsafe one', async () => {
      const cases: readonly (readonly [string, Buffer, string | RegExp])[] = [
        ['lora-page.zip', Buffer.from('<!doctype html><p>Log in</p>'), 'Neither an archive nor safetensors'],
        ['lora-evil.zip', zipOf({ '../evil.sh': Buffer.from('x') }), 'Not safe to unpack'],
      ];
      for (const [name, content] of cases) await writeFile(file(name), content);
      for (const [name, , title] of cases) {
        await page.open(name);
        await page.waitForVerdict(title);
        assert.equal(await page.frame.getByRole('tab').count(), 0, name);
        await workbench.screenshot(`adapter-${name.replace('.', '-')}`);
        await workbench.editors.closeAll();
      }
    });

    it('shows that the file has changed, or is gone', async () => {
      await writeFile(file('lora-changing.zip'), trained);
      await page.open('lora-changing.zip');
      await page.waitForVerdict('Complete LoRA adapter');
      await writeFile(file('lora-changing.zip'), trained.subarray(0, 1000));
      await page.frame.getByText('lora-changing.zip has changed on disk.').waitFor();
      await page.button('Reload').click();
      await page.waitForVerdict('Damaged');
      await rename(file('lora-changing.zip'), file('lora-moved.zip'));
      await page.frame.getByText('lora-changing.zip no longer exists.').waitFor();
      await workbench.screenshot('adapter-gone');
      await page.button('Reload').click();
      await page.button('Retry').waitFor();
      await page.frame.getByText('lora-changing.zip no longer exists.').waitFor();
      await writeFile(file('lora-changing.zip'), trained);
      await page.waitForVerdict('Complete LoRA adapter');
    });
  });

  describe('is readable and accessible', () => {
    after(() => workbench.editors.closeAll());

    before(async () => {
      await writeFile(file('lora-sandbox.zip'), await buildArchive('5f0c1c9e-aaaa', LLAMA));
      await page.open('lora.zip');
      await page.waitForVerdict('Complete LoRA adapter');
      await page.button('Measure').click();
      await page.frame.getByText(/No NaN or infinite values/).waitFor();
    });

    for (const theme of ['light', 'high contrast', 'dark'] as const) {
      it(`in ${theme}`, async () => {
        await workbench.setTheme(theme);
        await page.frame.getByText('Show as table').click();
        await page.assertAccessible();
        await page.frame.getByText('Show as table').click();
        await workbench.screenshot(`adapter-${theme.replace(' ', '-')}`);
        await page.frame.locator('.files').scrollIntoViewIfNeeded();
        await workbench.screenshot(`adapter-${theme.replace(' ', '-')}-end`);
      });
    }

    it('in forced colors', async () => {
      await workbench.page.emulateMedia({ forcedColors: 'active' });
      await page.assertAccessible();
      await workbench.screenshot('adapter-forced-colors');
      await workbench.page.emulateMedia({ forcedColors: null });
    });

    it('in a narrow editor', async () => {
      await workbench.resize(700, 800);
      await page.assertFits();
      // The scrollbar must be visible without scrolling, but this browser shows none, so check its style.
      const scroller: unknown = await page.frame.locator('html').evaluate(
        `[document.querySelector('.scroller')].map((one) => [
            one.scrollWidth > one.clientWidth, getComputedStyle(one).scrollbarColor])[0]`,
      );
      assert.deepEqual(scroller, [true, 'auto']);
      await page.frame.locator('.picture').scrollIntoViewIfNeeded();
      await workbench.screenshot('adapter-narrow');
      await page.frame.locator('.recipes').scrollIntoViewIfNeeded();
      await workbench.screenshot('adapter-narrow-recipes');
      await workbench.resize(660, 900);
      await page.assertFits();
      for (const [name, part] of [
        ['compare', page.frame.getByRole('heading', { name: 'Compare with the base model' })],
        ['publishing', page.frame.locator('.publishing')],
      ] as const) {
        await part.scrollIntoViewIfNeeded();
        await workbench.screenshot(`adapter-narrow-${name}`);
      }
      await workbench.resize(1400, 900);
    });

    it('with two layers, in the sandbox’s adapter', async () => {
      await page.open('lora-sandbox.zip');
      await page.waitForVerdict('Sandbox: nothing was trained');
      await page.button('Measure').click();
      await page.frame.getByText('all zero: learned nothing').waitFor();
      await workbench.screenshot('adapter-two-layers');
    });
  });

  it('leaves the archive unchanged', async () => {
    assert.deepEqual(await readFile(file('lora.zip')), trained);
  });
});
