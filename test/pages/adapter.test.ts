import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { AdapterPage } from '../ui/adapterPage.ts';
import { ADAPTERS, adapterIn } from './adapters.ts';
import { fileChanged, standIn } from './previews.ts';
import { useViews, type View } from './view.ts';
import { THEMES } from './webviews.ts';

describe('the adapter page', () => {
  const show = useViews();
  const errors: unknown[] = [];
  let folder: string;
  let view: View;
  let page: AdapterPage;

  const file = (name: string) => path.join(folder, name);
  async function open(name: keyof typeof ADAPTERS, verdict?: string): Promise<void> {
    view = await show(adapterIn(folder, name, errors));
    page = new AdapterPage(view);
    if (verdict !== undefined) await page.waitForVerdict(verdict);
  }
  async function measure(result: RegExp): Promise<void> {
    await page.button('Measure').click();
    await page.frame.getByText(result).waitFor();
  }

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'adapter-page-'));
  });
  afterEach(() => assert.deepEqual(errors, []));
  after(() => rm(folder, { recursive: true }));

  describe('of a trained adapter', () => {
    before(() => open('complete', 'Complete LoRA adapter'));

    it('shows the verdict, the facts, and the files', async () => {
      assert.equal(await page.fact('Rank'), '32');
      assert.equal(await page.fact('Alpha'), '64');
      assert.equal(await page.fact('Scaling'), '2 (alpha ÷ rank)');
      assert.match(await page.fact('Base model'), /^meta-llama\/Llama-3\.1-8B-Instruct/);
      assert.equal(await page.fact('Layers'), '32: 0 to 31');
      assert.equal(await page.fact('Tensor types'), 'F32');
      assert.equal(await page.fact('Format'), 'zip');
      await page.frame.locator('.fileTable tr', { hasText: 'adapter_config.json config' }).waitFor();
    });

    it('measures the weights', async () => {
      await measure(/No NaN or infinite values \([\d,]+ checked\)\./);
      await page.button('Measure').waitFor({ state: 'detached' });
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
      }
      await page.recipe('vLLM').click();
      await page.recipePanel
        .getByRole('button', { name: /^Copy: vLLM, Serve/ })
        .first()
        .click();
      await page.frame.getByRole('status').getByText('Copied').waitFor();
      const copied = String(standIn.executed.findLast(([name]) => name === 'copy')?.[1]);
      assert.match(copied, /--max-lora-rank[ =]32/);
      assert.ok(copied.includes(file('complete')));
    });

    it('changes tabs with the arrow keys', async () => {
      await page.recipe('vLLM').focus();
      await view.page.keyboard.press('ArrowRight');
      await page.recipe('llama.cpp').and(page.focused()).waitFor();
      assert.equal(await page.recipe('llama.cpp').getAttribute('aria-selected'), 'true');
      await view.page.keyboard.press('Home');
      await page.recipe('PEFT / Transformers').and(page.focused()).waitFor();
    });

    it('is readable and accessible in each theme', () => view.assertAccessible(THEMES));

    it('tells the chosen tab apart in forced colors', async () => {
      await view.page.emulateMedia({ forcedColors: 'active' });
      const tabs = await page.frame
        .locator('html')
        .evaluate<number, unknown>(
          `new Set([...document.querySelectorAll('.tab')].map((one) => getComputedStyle(one).borderBottomColor)).size`,
        );
      await view.page.emulateMedia({ forcedColors: null });
      assert.equal(tabs, 2);
    });

    it('is readable in 300 pixels', async () => {
      await view.resize(300);
      await view.assertFits();
    });

    it('unpacks into a new folder, never over an existing one, and leaves the archive unchanged', async () => {
      // The folder did not exist when the page was opened.
      await mkdir(file('complete'));
      await writeFile(path.join(file('complete'), 'mine.txt'), 'mine');
      await page.button('Unpack').click();
      await page.frame
        .getByText(`Unpacked to ${file('complete-2')}.`)
        .first()
        .waitFor();
      assert.deepEqual(await readdir(file('complete')), ['mine.txt']);
      assert.ok((await readdir(file('complete-2'))).includes('adapter_model.safetensors'));
      await page.button('Unpack').waitFor({ state: 'detached' });
      await page.unfold();
      await page.recipePanel.getByText(file('complete-2')).first().waitFor();
      assert.deepEqual(await readFile(file('complete.zip')), ADAPTERS.complete.bytes());
    });
  });

  it('lists problems, and why a tool can’t load the adapter', async () => {
    await open('with problems', 'Adapter with problems');
    await page.frame.getByText(/Modules where A or B is missing/).waitFor();
    await page.frame.getByText(/pickle, not opened/).waitFor();
    assert.equal(await page.frame.getByRole('tab').count(), 0);
    await open('with warnings', 'LoRA adapter with warnings');
    await page.recipe('vLLM').click();
    await page.recipePanel.getByText(/aLoRA takes effect only after its invocation tokens/).waitFor();
    await open('without a base', 'LoRA adapter with warnings');
    await page.frame.getByText('The config has no base_model_name_or_path.').waitFor();
    await open('of another type', 'Not a LoRA adapter');
  });

  it('shows warnings about the config above the commands', async () => {
    await open('with warnings', 'LoRA adapter with warnings');
    const warning = page.recipePanel.getByText(
      /^Warning: .*aLoRA.*takes effect only after its invocation tokens/,
    );
    await warning.waitFor();
    await page.unfold();
    const command = page.recipePanel.getByText(/PeftModel\.from_pretrained/);
    const [above, below] = [await warning.boundingBox(), await command.boundingBox()];
    assert.ok(above && below && above.y < below.y);
    await view.assertAccessible();
  });

  it('finds NaN, and what learned nothing, when measuring', async () => {
    await open('with NaN', 'Complete LoRA adapter');
    await measure(/NaN values: 1, infinite values: 0\./);
    await page.waitForVerdict('Adapter with invalid values');
    await open('of the sandbox', 'Sandbox: nothing was trained');
    await measure(/Nothing was learned because A or B is all zeros\./);
  });

  it('says why it shows no adapter', async () => {
    for (const [name, why] of [
      ['a web page', 'Neither an archive nor safetensors'],
      ['unsafe', 'Not safe to unpack'],
      ['damaged', 'Damaged'],
      ['empty', 'Empty'],
      ['gone', 'gone.zip no longer exists.'],
      ['loading', 'Reading loading.zip…'],
      ['unreadable', 'Couldn’t inspect unreadable.zip. See the log for details.'],
    ] as const) {
      await open(name);
      await page.frame.getByText(why, { exact: true }).waitFor();
      assert.equal(await page.frame.getByRole('tab').count(), 0, name);
    }
    assert.deepEqual(errors.splice(0).map(String), ['Error: EIO']);
  });

  it('shows that the file has changed, or is gone', async () => {
    const archive = file('complete.zip');
    await open('complete', 'Complete LoRA adapter');
    await writeFile(archive, ADAPTERS.damaged.bytes());
    fileChanged(archive);
    await page.frame.getByText('complete.zip has changed on disk.').waitFor();
    await page.button('Reload').click();
    await page.waitForVerdict('Damaged');
    await rename(archive, file('moved.zip'));
    fileChanged(archive);
    await page.frame.getByText('complete.zip no longer exists.').waitFor();
    await page.button('Reload').click();
    await page.button('Retry').waitFor();
    await page.frame.getByText('complete.zip no longer exists.').waitFor();
    await writeFile(archive, ADAPTERS.complete.bytes());
    fileChanged(archive);
    await page.waitForVerdict('Complete LoRA adapter');
  });
});
