import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildArchive } from '../../src/sandbox/adapterArchive.ts';
import { adapterConfig, safetensors, trainedTensors, zip } from './adapterFiles.ts';
import { AdapterPage } from './adapterPage.ts';
import { smallDataset } from './datasets.ts';
import { chooseClockSpeed, enterSandbox } from './sandbox.ts';
import { walkThroughSteps } from './submission.ts';
import { VSCode } from './vscode.ts';
import type { Workbench } from './workbench.ts';

const LLAMA = 'llama-3.1-8b-instruct';

describe('adapter page', () => {
  let folder: string;
  let vscode: VSCode;
  let workbench: Workbench;
  let page: AdapterPage;
  let trained: Buffer;

  const file = (name: string) => path.join(folder, name);

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'fine-tuning-ui-'));
    trained = zip({
      'README.md': Buffer.from('# A tutor\n'),
      'adapter_config.json': adapterConfig(),
      'adapter_model.safetensors': safetensors(trainedTensors()),
    });
    await writeFile(file('lora.zip'), trained);
    vscode = await VSCode.start();
    workbench = await vscode.open(folder);
    page = new AdapterPage(workbench);
  });

  after(async () => {
    await vscode.close();
    await rm(folder, { recursive: true, force: true });
  });

  describe('of a trained adapter', () => {
    after(() => workbench.editors.closeAll());

    it('says that it is complete, then what is in it', async () => {
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

    it('shows which modules are adapted, and reaches each by keyboard', async () => {
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
      await page.frame.getByText(/None of the [\d,]+ values is NaN or infinite\./).waitFor();
      await page.button('Measure').waitFor({ state: 'detached' });
      const last = page.grid.getByRole('gridcell', { name: /^o_proj, layer 31: rank 32, .*, norm \d/ });
      await last.waitFor();
      await page.frame.getByText('Show as table').click();
      await page.frame.getByRole('columnheader', { name: 'layer 31', exact: true }).last().waitFor();
      await workbench.screenshot('adapter-measured');
      await page.frame.getByText('Show as table').click();
    });

    it('copies the recipe of each tool with one press', async () => {
      for (const [tool, text] of [
        ['PEFT / Transformers', /PeftModel\.from_pretrained/],
        ['vLLM', /--max-lora-rank[ =]32/],
        ['llama.cpp', /convert_lora_to_gguf\.py/],
        ['Ollama', /FROM \.\/model\.gguf/],
      ] as const) {
        await page.recipe(tool).click();
        await page.recipePanel.getByText(text).first().waitFor();
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
      // The page was open before the folder came.
      await page.button('Unpack').click();
      await page.frame
        .getByText(`Unpacked to ${file('lora-2')}.`)
        .first()
        .waitFor();
      assert.deepEqual(await readdir(file('lora')), ['mine.txt']);
      assert.ok(existsSync(path.join(file('lora-2'), 'adapter_model.safetensors')));
      await page.button('Unpack').waitFor({ state: 'detached' });
      await page.recipePanel.getByText(file('lora-2')).first().waitFor();
      await workbench.screenshot('adapter-unpacked');
    });

    it('has one page for each file, which comes back with the window', async () => {
      await page.open('lora.zip');
      assert.equal(await workbench.page.locator('.tabs-container .tab').count(), 1);
      await page.recipe('Ollama').click();
      // A hidden page is made again when it is shown, with the same tool.
      await workbench.editors.open(path.join(file('lora'), 'mine.txt'));
      await workbench.editors.waitForLine('mine');
      await page.tab('lora.zip').click();
      await page.recipePanel
        .getByText(/FROM \.\/model\.gguf/)
        .first()
        .waitFor();
      await workbench.reload();
      await page.tab('lora.zip').click();
      await page.waitForVerdict('Complete LoRA adapter');
      // It was unpacked before.
      await page.recipePanel.getByText(file('lora-2')).first().waitFor();
    });
  });

  describe('of a run', () => {
    after(() => workbench.editors.closeAll());

    it('opens what was downloaded, and says after measuring that nothing was learned', async () => {
      await writeFile(file('rows.jsonl'), smallDataset('adapter'));
      await enterSandbox(workbench);
      await chooseClockSpeed(workbench, 100);
      await workbench.editors.open(file('rows.jsonl'));
      await workbench.runCommand('Fine-Tuning: Submit Dataset…');
      await walkThroughSteps(workbench, {
        fileName: 'rows.jsonl',
        model: 'Llama 3.1 8B Instruct',
        label: 'tutor',
      });
      const runs = workbench.sideBar.view('Runs');
      await runs.row(/Run tutor, Completed/).waitFor({ timeout: 60_000 });
      await workbench.clearNotifications();
      await mkdir(file('home'));
      await runs.pressInRow(/Run tutor/, 'Download Adapter…');
      await workbench.quickInput.choosePath(file('home'));
      await workbench.dialogs.waitForToast(/Downloaded .+ to /);
      await workbench.clearNotifications();
      await workbench.editors.closeAll();
      await runs.chooseInContextMenu(/Run tutor/, 'Inspect Adapter');
      await page.waitForVerdict('Complete LoRA adapter');
      await page.button('Measure').click();
      await page.waitForVerdict('Complete LoRA adapter that learned nothing');
      await page.frame.getByText('Nothing was learned: in every module A or B is all zero.').waitFor();
      await workbench.screenshot('adapter-sandbox');
    });

    it('is among those that the palette offers', async () => {
      await workbench.editors.closeAll();
      await workbench.runCommand('Fine-Tuning: Inspect Adapter');
      await workbench.quickInput.waitForTitle('Inspect an Adapter');
      const [, , downloaded = ''] = await workbench.quickInput.labels();
      assert.match(downloaded, /adapter-.*\.zip$/);
      await workbench.screenshot('adapter-choice');
      await workbench.quickInput.pick(downloaded);
      await page.waitForVerdict('Complete LoRA adapter');
    });
  });

  describe('of a file that is not a good adapter', () => {
    afterEach(() => workbench.editors.closeAll());

    it('lists problems, and what a tool can’t load', async () => {
      const saved = { name: 'base_model.model.lm_head.weight', shape: [64, 64] as const, value: () => 1 };
      const odd = trainedTensors(4).filter(
        ({ name }) => !name.endsWith('layers.2.self_attn.v_proj.lora_B.weight'),
      );
      await writeFile(
        file('lora-odd.zip'),
        zip({
          'out/adapter_config.json': adapterConfig({ r: 8, modules_to_save: ['lm_head'] }),
          'out/adapter_model.safetensors': safetensors([...odd, saved]),
          'out/optimizer.pt': Buffer.from('never read'),
        }),
      );
      await page.open('lora-odd.zip');
      await page.waitForVerdict('Adapter with problems');
      await page.frame.getByText(/Modules where A or B is missing/).waitFor();
      await page.frame.getByText(/pickle, not opened/).waitFor();
      await workbench.screenshot('adapter-problems');
      await page.recipe('vLLM').click();
      await page.recipePanel.getByText(/vLLM can’t load fully saved modules/).waitFor();
      await workbench.screenshot('adapter-refused');
    });

    it('warns above the commands of what the config needs', async () => {
      const zipped = zip({
        'adapter_config.json': adapterConfig({
          init_lora_weights: 'pissa_niter_4',
          alora_invocation_tokens: [1, 2],
          task_type: null,
        }),
        'adapter_model.safetensors': safetensors(trainedTensors()),
      });
      await writeFile(file('lora-asking.zip'), zipped);
      await page.open('lora-asking.zip');
      await page.waitForVerdict('LoRA adapter with warnings');
      const warning = page.recipePanel.getByText(/^Warning: .*aLoRA.*acts only after its invocation tokens/);
      await warning.waitFor();
      const command = page.recipePanel.getByText(/PeftModel\.from_pretrained/);
      const [above, below] = [await warning.boundingBox(), await command.boundingBox()];
      assert.ok(above && below && above.y < below.y);
      await page.assertAccessible();
      await workbench.screenshotInThemes('adapter-warned', () => warning.scrollIntoViewIfNeeded());
    });

    it('finds NaN', async () => {
      const tensors = trainedTensors(4);
      const [, , third] = tensors;
      assert.ok(third);
      const { value } = third;
      third.value = (at) => (at === 5 ? NaN : value(at));
      await writeFile(
        file('lora-nan.zip'),
        zip({
          'adapter_config.json': adapterConfig(),
          'adapter_model.safetensors': safetensors(tensors),
        }),
      );
      await page.open('lora-nan.zip');
      await page.waitForVerdict('Complete LoRA adapter');
      await page.button('Measure').click();
      await page.waitForVerdict('Adapter with broken values');
      await page.frame.getByText(/NaN: 1, infinite: 0\./).waitFor();
      await workbench.screenshot('adapter-nan');
    });

    it('has a verdict for each', async () => {
      const evil = zip({ '../evil.sh': Buffer.from('x') });
      const cases: readonly (readonly [string, Buffer, string | RegExp])[] = [
        ['lora-page.zip', Buffer.from('<!doctype html><p>Log in</p>'), 'Neither an archive nor safetensors'],
        ['lora-cut.zip', trained.subarray(0, trained.length / 2), 'Damaged'],
        ['lora-evil.zip', evil, 'Not safe to unpack'],
        [
          'lora-pickle.zip',
          zip({ 'adapter_config.json': adapterConfig(), 'adapter_model.bin': Buffer.from('x') }),
          'Only pickle weights',
        ],
        ['lora-other.zip', zip({ 'notes.txt': Buffer.from('x') }), 'No adapter found'],
        [
          'model.safetensors',
          safetensors([{ name: 'model.layers.0.self_attn.q_proj.weight', shape: [4, 4], value: () => 1 }]),
          'A full model, not an adapter',
        ],
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

    it('says that the file changed, and that it is gone', async () => {
      await writeFile(file('lora-changing.zip'), trained);
      await page.open('lora-changing.zip');
      await page.waitForVerdict('Complete LoRA adapter');
      await writeFile(file('lora-changing.zip'), trained.subarray(0, 1000));
      await page.frame
        .getByText('lora-changing.zip has changed on disk. This page shows the previous version.')
        .waitFor();
      await page.button('Reload').click();
      await page.waitForVerdict('Damaged');
      await rename(file('lora-changing.zip'), file('lora-moved.zip'));
      await page.frame
        .getByText('lora-changing.zip no longer exists. This page shows what was read before.')
        .waitFor();
      await workbench.screenshot('adapter-gone');
      await page.button('Reload').click();
      await page.frame.getByText(/changing\.zip no longer exists\. If you moved it/).waitFor();
      await writeFile(file('lora-changing.zip'), trained);
      await page.waitForVerdict('Complete LoRA adapter');
    });
  });

  describe('is readable', () => {
    after(() => workbench.editors.closeAll());

    before(async () => {
      await writeFile(file('lora-sandbox.zip'), await buildArchive('5f0c1c9e-aaaa', LLAMA));
      await page.open('lora.zip');
      await page.waitForVerdict('Complete LoRA adapter');
      await page.assertAccessible();
      await page.button('Measure').click();
      await page.frame.getByText(/values is NaN or infinite/).waitFor();
    });

    for (const theme of ['light', 'high contrast', 'dark'] as const) {
      it(`in ${theme}, and accessible`, async () => {
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
      await workbench.page.setViewportSize({ width: 700, height: 800 });
      await page.assertFits();
      await page.assertAccessible();
      // A bar of the system's own may be hidden until one scrolls, and this browser shows none.
      const scroller: unknown = await page.frame.locator('html').evaluate(
        `[document.querySelector('.scroller')].map((one) => [
            one.scrollWidth > one.clientWidth, getComputedStyle(one).scrollbarColor])[0]`,
      );
      assert.deepEqual(scroller, [true, 'auto']);
      await page.frame.locator('.picture').scrollIntoViewIfNeeded();
      await workbench.screenshot('adapter-narrow');
      await page.frame.locator('.recipes').scrollIntoViewIfNeeded();
      await workbench.screenshot('adapter-narrow-recipes');
      await workbench.page.setViewportSize({ width: 1400, height: 900 });
    });

    it('with the sandbox’s adapter of two layers', async () => {
      await page.open('lora-sandbox.zip');
      await page.waitForVerdict('Complete LoRA adapter');
      await page.button('Measure').click();
      await page.waitForVerdict('Complete LoRA adapter that learned nothing');
      await page.assertAccessible();
      await workbench.screenshot('adapter-two-layers');
    });
  });

  it('leaves the archive unchanged', async () => {
    assert.deepEqual(await readFile(file('lora.zip')), trained);
  });
});
