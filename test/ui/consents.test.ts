import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Service } from './service.ts';
import { signIn } from './signingIn.ts';
import {
  ACCEPT,
  beginSubmission,
  CONTINUE,
  pressSubmit,
  waitForConfirm,
  walkThroughSteps,
  type Way,
} from './submission.ts';
import { VSCode } from './vscode.ts';
import type { Workbench } from './workbench.ts';

const ROW = '{"text":"2+2="}\n';
/** One visible character, but 11 for the service. */
const FAMILY = '👩‍👩‍👧‍👦';

describe('consents and steps of a submission', () => {
  let service: Service;
  let vscode: VSCode;
  let workbench: Workbench;

  before(async () => {
    vscode = await VSCode.start();
    await writeFile(vscode.file('rows.jsonl'), ROW.repeat(10));
    await writeFile(vscode.file('other.jsonl'), ROW.repeat(5));
    service = await Service.start('service_consents_test');
    workbench = await vscode.open();
    await workbench.sideBar.open('Fine-Tuning');
    await signIn(workbench, { address: service.baseUrl, name: 'Work', apiKey: 'service_consents_test' });
    await workbench.editors.open(vscode.file('rows.jsonl'));
  });

  after(async () => {
    await vscode.close();
    await service.close();
  });

  let earlier = { submissions: 0, cents: 0 };
  beforeEach(async () => {
    earlier = { submissions: service.submissions, cents: await service.balanceCents() };
  });

  /** Number of submissions that reached the service in this test. */
  const sent = () => service.submissions - earlier.submissions;

  async function begin(): Promise<void> {
    await beginSubmission(workbench, 'rows.jsonl');
  }

  async function walkTo(until: Way['until']): Promise<void> {
    await begin();
    await walkThroughSteps(workbench, { fileName: 'rows.jsonl', model: 'Llama 3.1 8B Instruct', until });
  }

  async function descriptionOf(row: string): Promise<string | null> {
    return workbench.quickInput.item(row).locator('.label-description').textContent();
  }

  describe('nothing is sent', () => {
    afterEach(async () => {
      // An answered box stays for a moment, after which the next one would appear.
      await workbench.quickInput.waitUntilClosed();
      assert.equal(await workbench.dialogs.modal.count(), 0);
      assert.equal(sent(), 0, 'submissions that reached the service');
      assert.equal(await service.balanceCents(), earlier.cents);
    });

    it('when the final confirmation is canceled', async () => {
      await walkTo('confirm');
      await workbench.screenshot('confirm');
      await workbench.dialogs.press('Cancel');
    });

    it('when Enter is pressed in the final confirmation, which returns to the summary', async () => {
      await walkTo('confirm');
      await workbench.page.keyboard.press('Enter');
      await workbench.quickInput.waitForTitle('Submit rows.jsonl to Work');
      assert.equal(await descriptionOf('Model'), 'Llama 3.1 8B Instruct, Meta');
      await workbench.quickInput.close();
    });

    it('when Esc is pressed in the choice of a model', async () => {
      await begin();
      await workbench.quickInput.item('Qwen3 8B').waitFor();
      await workbench.quickInput.close();
    });

    for (const until of ['summary', 'terms'] as const) {
      it(`when Esc is pressed in the ${until}`, async () => {
        await walkTo(until);
        await workbench.screenshot(until);
        await workbench.quickInput.close();
      });
    }

    it('when Esc is pressed in the final confirmation', async () => {
      await walkTo('confirm');
      await workbench.page.keyboard.press('Escape');
      await workbench.dialogs.modal.waitFor({ state: 'hidden' });
    });

    it('when Enter is pressed repeatedly: at terms that weren’t accepted before, it does nothing', async () => {
      const { page, quickInput } = workbench;
      await walkTo('summary');
      await page.keyboard.press('Enter');
      await quickInput.waitForTitle('Terms of Meta for Llama 3.1 8B Instruct');
      await quickInput.item(ACCEPT).waitFor();
      assert.equal(await quickInput.activeItem.count(), 0);
      for (let presses = 0; presses < 5; presses++) await page.keyboard.press('Enter');
      // The box takes keys in their order.
      await page.keyboard.press('ArrowDown');
      await quickInput.activeItem.filter({ hasText: ACCEPT }).waitFor();
      await quickInput.waitForTitle('Terms of Meta for Llama 3.1 8B Instruct');
      await quickInput.close();
      // Had an Enter accepted them, they would be accepted now.
      await walkTo('terms');
      assert.equal(await quickInput.activeItem.count(), 0);
      await quickInput.close();
      // An extra Enter would have changed the file.
      assert.equal(await workbench.editors.isDirty('rows.jsonl'), false);
    });

    it('when a row of the summary is picked that only informs', async () => {
      await walkTo('summary');
      for (const row of ['Price', 'Balance', 'Account']) {
        await workbench.quickInput.pick(row);
        await workbench.quickInput.waitForTitle('Submit rows.jsonl to Work');
      }
      await workbench.quickInput.close();
    });
  });

  describe('the user’s choices are sent', () => {
    it('the summary shows all facts, and its rows change the choices', async () => {
      const { quickInput } = workbench;
      await walkTo('summary');
      const facts = new Map<string, string | null>();
      for (const row of ['Account', 'Dataset', 'Model', 'Label', 'Queue', 'Balance', 'Price'])
        facts.set(row, await descriptionOf(row));
      assert.deepEqual(Object.fromEntries(facts), {
        Account: `Work (${new URL(service.baseUrl).host})`,
        Dataset: 'rows.jsonl · 160 bytes · 10 rows',
        Model: 'Llama 3.1 8B Instruct, Meta',
        Label: 'rows',
        Queue: 'Standard',
        Balance: '1,000.00 USD',
        Price: 'Not known until charged',
      });
      // Back keeps the choice.
      for (const row of ['Model', 'Label', 'Queue']) {
        await quickInput.pick(row);
        await quickInput.item(CONTINUE).waitFor({ state: 'hidden' });
        await quickInput.press('Back');
        await quickInput.item(CONTINUE).waitFor();
        assert.equal(await descriptionOf(row), facts.get(row));
      }
      await walkThroughSteps(workbench, {
        fileName: 'rows.jsonl',
        model: 'Qwen3 8B',
        label: 'kept',
        queue: 'Priority queue',
        until: 'terms',
      });
      await quickInput.press('Back');
      await quickInput.item(CONTINUE).waitFor();
      assert.equal(await descriptionOf('Model'), 'Qwen3 8B, Alibaba Cloud');
      assert.equal(await descriptionOf('Label'), 'kept');
      assert.equal(await descriptionOf('Queue'), 'Priority · costs extra unless your plan includes it');
      await quickInput.close();
    });

    it('the summary lets the user choose another dataset, and checks a changed one again', async () => {
      const { quickInput } = workbench;
      await walkTo('summary');
      await quickInput.pick('Dataset');
      await quickInput.choosePath(vscode.file('other.jsonl'));
      await quickInput.waitForTitle('Submit other.jsonl to Work');
      assert.match((await descriptionOf('Dataset')) ?? '', /^other\.jsonl · .* · 5 rows$/);
      assert.equal(await descriptionOf('Label'), 'other');
      await writeFile(vscode.file('other.jsonl'), ROW.repeat(6));
      await quickInput.pick(CONTINUE);
      const said = workbench.page.getByPlaceholder(/^other\.jsonl changed and was checked again/);
      await said.waitFor();
      await workbench.screenshot('dataset-changed');
      assert.match((await descriptionOf('Dataset')) ?? '', / · 6 rows$/);
      await quickInput.close();
      assert.equal(sent(), 0);
    });

    it('a label that is too long with its marker is cut between characters', async () => {
      const { quickInput } = workbench;
      await begin();
      await walkThroughSteps(workbench, {
        fileName: 'rows.jsonl',
        // This provider has no use policy.
        model: 'Mistral 7B Instruct v0.3',
        until: 'summary',
      });
      await quickInput.pick('Label');
      await quickInput.waitForMessage(/^Label/);
      await quickInput.type(FAMILY.repeat(24));
      await quickInput.waitForMessage('264 of 243 characters. The end will be cut off.');
      await workbench.screenshot('label-too-long');
      await quickInput.accept();
      await quickInput.item(CONTINUE).waitFor();
      await walkThroughSteps(workbench, { fileName: 'rows.jsonl', until: 'confirm' });
      const said = await waitForConfirm(workbench, 'rows.jsonl');
      assert.deepEqual(said.split('\n'), [
        'rows.jsonl',
        `in ${path.dirname(vscode.file('rows.jsonl'))}`,
        '160 bytes · 10 rows',
        `Label: ${FAMILY}…${FAMILY}`,
        `Account: Work (${new URL(service.baseUrl).host})`,
        'Model: Mistral 7B Instruct v0.3 (Mistral AI) · standard queue',
        'Price: known only after the charge.',
        'Balance: 1,000.00 USD',
        'You’re charged when the service accepts the dataset. A run can’t be canceled or refunded.',
        '',
        'By submitting, you:',
        '• accept the license terms of Mistral AI',
        '• accept the service’s data policy (no link)',
        '• confirm you have the rights to this dataset',
        '• understand that results aren’t guaranteed',
      ]);
      await pressSubmit(workbench);
      const text = await workbench.dialogs.waitForToast(/Charged/);
      assert.doesNotMatch(text, /Sandbox/);
      assert.equal(sent(), 1);
      const [run] = await service.runs();
      assert.match(run?.label ?? '', new RegExp(`^ft-[\\da-z]{8} ${FAMILY.repeat(22)}$`));
      await workbench.clearNotifications();
    });

    it('the second submission takes two clicks, four keys, and three steps', async () => {
      const { page, quickInput, dialogs } = workbench;
      const explorer = await workbench.sideBar.explorer();
      // A right-click and a click.
      await explorer.chooseInContextMenu('other.jsonl', 'Submit Dataset for Training…');
      await quickInput.waitForTitle('Submit other.jsonl to Work');
      assert.equal(await descriptionOf('Model'), 'Mistral 7B Instruct v0.3, Mistral AI');
      const keys = ['Enter', 'Enter', 'Tab', 'Enter'];
      await page.keyboard.press(keys.shift() ?? '');
      await quickInput.waitForTitle('Terms of Mistral AI for Mistral 7B Instruct v0.3');
      await quickInput.activeItem.filter({ hasText: ACCEPT }).waitFor();
      await page.keyboard.press(keys.shift() ?? '');
      await waitForConfirm(workbench, 'other.jsonl');
      assert.equal(sent(), 0);
      for (const key of keys.splice(0, 2)) await page.keyboard.press(key);
      await dialogs.waitForToast(/Charged/);
      assert.deepEqual([sent(), keys], [1, []]);
      await workbench.clearNotifications();
    });

    it('an empty label is allowed, and leaves only the marker', async () => {
      await beginSubmission(workbench, 'rows.jsonl');
      await walkThroughSteps(workbench, { fileName: 'rows.jsonl', model: 'Qwen3 8B', label: '' });
      await workbench.dialogs.waitForToast(/Charged/);
      assert.equal(sent(), 1);
      assert.match((await service.runs())[0]?.label ?? '', /^ft-[\da-z]{8}$/);
    });
  });
});
