import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import type { Locator } from 'playwright-core';
import { zipOf } from '../helpers/adapters/support.ts';
import { weekly } from '../helpers/weekly.ts';
import { trainedAdapter } from './adapterFiles.ts';
import { smallDataset } from './datasets.ts';
import { KEYS } from './keys.ts';
import { inPseudoLanguage as pseudo, translateExtension, whyUntranslatable } from './pseudoLanguage.ts';
import { setClockSpeed } from './sandbox.ts';
import { VSCode } from './vscode.ts';
import { actUntil } from './waits.ts';
import type { Workbench } from './workbench.ts';

/** What comes from the service, the user, or VS Code, and names that are the same in each language. */
const DATA = [
  /\bPEFT \/ Transformers\b/g,
  /https?:\/\/\S*|code-oss:\S+|[\w~.-]*\/[\w/.-]*|\b[\da-f]{64}\b|\b[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\b|\bft-[\da-z]{8}\b/g,
  /\b(Qwen|Llama|Gemma|Mistral)[\w. ]*|\b(qwen|llama|gemma|mistral)[\w.-]*|Alibaba Cloud|\bGoogle\b/g,
  /\b(rows|sample-dataset|sample\.answers)(\.jsonl)?\b|\blora\.zip\b|\b([Qq]ueued|[Rr]unning)\b|Sandbox \(nothing is trained\)/g,
  /\b(USD|[kMG]B|AM|PM|LoRA|SHA-256|Idempotency-Key|Fine-Tuning)\b/g,
  /\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d+/g,
  /\b(vLLM|Ollama|CAUSAL_LM|[a-z]+_proj|F32|zip)\b/g,
  // What VS Code adds.
  /\bAa\b|\(Press 'Enter' to confirm or 'Escape' to cancel\)|^Welcome$|, has actions$|: Not completed$|Inspect this in the accessible view.*/g,
];

/** As much of the DOM as `textsOf` needs. */
interface Dom {
  ownerDocument: {
    createTreeWalker(
      root: Dom,
      what: 4,
    ): { nextNode(): unknown; currentNode: { data: string; parentElement: Dom } };
  };
  querySelectorAll(selector: string): Iterable<Dom>;
  closest(selector: string): unknown;
  checkVisibility(): boolean;
  getAttribute(name: string): string | null;
}

/** Runs in the page. Returns the texts and labels in an element, by text node, so that a glued sentence is one text. */
function textsOf(element: unknown): string[] {
  const root = element as Dom;
  const texts: (string | null)[] = [];
  const nodes = root.ownerDocument.createTreeWalker(root, 4);
  while (nodes.nextNode() !== null) {
    const { data, parentElement: parent } = nodes.currentNode;
    if (parent.closest('script, style, pre, code, textarea') === null && parent.checkVisibility())
      texts.push(data);
  }
  const labels = ['aria-label', 'title', 'placeholder', 'alt', 'aria-description', 'aria-roledescription'];
  for (const one of [root, ...root.querySelectorAll('*')])
    if (one.checkVisibility()) texts.push(...labels.map((name) => one.getAttribute(name)));
  return texts.map((text) => text?.trim() ?? '').filter((text) => text !== '');
}

weekly(() =>
  describe('every text is translatable', () => {
    let vscode: VSCode;
    let workbench: Workbench;
    const found: string[] = [];

    before(async () => {
      vscode = await VSCode.start({ extensions: await translateExtension() });
      await writeFile(vscode.file('rows.jsonl'), ['a', 'b', 'c'].map(smallDataset).join(''));
      await writeFile(vscode.file('lora.zip'), zipOf(trainedAdapter()));
      workbench = await vscode.open();
    });

    after(() => vscode.close());

    const command = (title: string) => workbench.runCommand(`Fine-Tuning: ${pseudo(title)}`);
    const runs = () => workbench.sideBar.view(pseudo('Runs'));
    const panel = () => workbench.webview('panel');
    const box = () =>
      workbench.page.locator(
        '.quick-input-widget :is(.quick-input-title, .quick-input-message, .quick-input-box input, .quick-input-list :is(.label-name, .label-description, .quick-input-list-label-meta))',
      );

    /** Reads the texts on the screen, and remembers those that are not translatable. */
    async function read(place: string, on: Locator, textsIn = textsOf): Promise<void> {
      await on.first().waitFor();
      const texts: string[] = [];
      for (const one of await on.all()) texts.push(...(await one.evaluate(textsIn)));
      assert.ok(
        texts.some((text) => text.includes(pseudo('').charAt(0))),
        `${place} has no sentence of ours`,
      );
      for (const text of new Set(texts)) {
        const why = whyUntranslatable(text, DATA);
        if (why !== undefined) found.push(`${place}: ${why}: ${text}`);
      }
      await workbench.screenshot(`pseudo-${place.replaceAll(' ', '-')}`);
    }

    async function readToast(place: string, text: RegExp): Promise<void> {
      const toast = workbench.dialogs.toast(text).first();
      await toast.hover();
      await read(
        place,
        toast.locator('.notification-list-item-message, .notification-list-item-buttons-container'),
      );
      await workbench.clearNotifications();
    }

    it('in the welcome, the status bar and the palette', async () => {
      const { page, quickInput, sideBar } = workbench;
      await sideBar.open('Fine-Tuning');
      // A sentence with links is one text.
      const lines = runs().root.locator('.welcome-view-content :is(p, .monaco-button)');
      await read('welcome', lines, (line) => [(line as { textContent: string }).textContent]);
      await runs().welcomeButton(pseudo('Use the Sandbox')).click();
      await workbench.statusItem('balance').waitFor();
      await workbench.clearNotifications();
      await read('status bar', page.locator('[id^="fine-tuning-tools.fine-tuning."]'));
      await actUntil(() => page.keyboard.press('F1'), page.locator('.quick-input-widget input.input'));
      await quickInput.type('>Fine-Tuning: ');
      await read(
        'palette',
        page.locator('.quick-input-list .label-name').filter({ hasText: /^Fine-Tuning: / }),
      );
      await quickInput.close();
    });

    it('in a dataset, its problems and its preview', async () => {
      const { editors, page } = workbench;
      await command('Open Sample Dataset');
      await editors.activeTab('sample-dataset.jsonl').waitFor();
      await readToast('dataset check', /8 rows/);
      await read('code lens', page.locator('.codelens-decoration a'));
      await workbench.runCommand('Problems: Focus on Problems View');
      await read('problems', page.locator('.markers-panel .marker-message-line > *:first-child'));
      await command('Preview Dataset');
      await panel().locator('aside .verdict').waitFor();
      await read('preview', panel().locator('header, aside, .status, article h2'));
      await editors.closeAll();
    });

    it('in each step of a submission', async () => {
      const { dialogs, editors, quickInput } = workbench;
      await editors.open(vscode.file('rows.jsonl'));
      await command('Submit Dataset for Training…');
      await quickInput.item('Qwen3 8B').waitFor();
      await read('models', box());
      await quickInput.pick('Qwen3 8B');
      await quickInput.item(pseudo('Continue')).waitFor();
      await read('summary', box());
      await quickInput.pickUntil(pseudo('Continue'), quickInput.item(pseudo('Accept and Continue')));
      await read('terms', box());
      await quickInput.pickUntil(pseudo('Accept and Continue'), dialogs.modal);
      const submit = (await dialogs.modalButtons()).find((button) => button.includes('Submit')) ?? '';
      await read(
        'final question',
        dialogs.modal.locator(
          '.dialog-message-text, .dialog-message-detail, .monaco-button:has-text("Submit")',
        ),
      );
      await dialogs.press(submit);
      await readToast('charge', /sandbox money/);
      await editors.closeAll();
    });

    it('in the views and the pages', async () => {
      const { page, sideBar } = workbench;
      setClockSpeed(vscode, 100);
      await sideBar.open('Fine-Tuning');
      await read('runs', runs().root.locator('[role=treeitem], .pane-header .title'));
      await runs().clickUntil(/rows/, panel().getByRole('heading', { level: 1 }));
      await panel()
        .getByText(/^.?Completed.?$/)
        .first()
        .waitFor();
      await read('run page', panel().locator('main'));
      await command('Show Spending and Prices');
      await panel().locator('section.runs tbody tr').first().waitFor();
      await read('spend page', panel().locator('main'));
      const explorer = await sideBar.explorer();
      await explorer.chooseInContextMenu('lora.zip', pseudo('Inspect Adapter'));
      await panel().locator('.verdict .title').waitFor();
      await read('adapter page', panel().locator('main'));
      await command('Open Sample Comparison');
      await panel().locator('article .text').first().waitFor();
      await read('comparison', panel().locator('.top, main > .spoken, article :is(h2, h3, .note)'));
      await sideBar.open('Fine-Tuning');
      await page
        .locator('.pane-header')
        .filter({ hasText: pseudo('Models') })
        .press('Enter');
      await read('models view', sideBar.view(pseudo('Models')).root.locator('[role=treeitem]'));
      await command('Open Walkthrough');
      await read(
        'walkthrough',
        page.locator('.getting-started-step :is(.step-title, .step-description-container)'),
      );
    });

    it('in the boxes', async () => {
      const { quickInput } = workbench;
      for (const title of [
        'Sign In…',
        'Switch Account…',
        'Set Budget…',
        'Diagnose Connection',
        'Manage Sandbox…',
      ]) {
        await command(title);
        await box().first().waitFor();
        await read(title, box());
        await quickInput.close();
      }
      await quickInput.openByKey(KEYS['fineTuning.sandbox'], pseudo('Sandbox'));
      await quickInput.pick(pseudo('Sandbox Scenario…'));
      await quickInput.waitForTitle(pseudo('Sandbox Scenario'));
      await read('scenarios', box());
      await quickInput.close();
    });

    it('all of them', () => assert.deepEqual(found, []));
  }),
);
