import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Service } from './service.ts';
import { signIn } from './signingIn.ts';
import { CONTINUE, pressSubmit, waitForConfirm, walkThroughSteps } from './submission.ts';
import { VSCode } from './vscode.ts';
import type { Workbench } from './workbench.ts';

const ROW = '{"messages":[]}\n';
/** One character to a person, 11 to the service. */
const FAMILY = '👩‍👩‍👧‍👦';

describe('consents and steps of a submission', () => {
  let folder: string;
  let service: Service;
  let vscode: VSCode;
  let workbench: Workbench;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'fine-tuning-ui-'));
    await writeFile(path.join(folder, 'rows.jsonl'), ROW.repeat(10));
    service = await Service.start('service_consents_test');
    vscode = await VSCode.start();
    workbench = await vscode.open(folder);
    await workbench.sideBar.open('Fine-Tuning');
    await signIn(workbench, { address: service.baseUrl, name: 'Work', apiKey: 'service_consents_test' });
    await workbench.editors.open(path.join(folder, 'rows.jsonl'));
  });

  after(async () => {
    await vscode.close();
    await service.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function begin(): Promise<void> {
    await workbench.editors.titleAction('Submit Dataset…').click();
    await workbench.quickInput.waitForTitle(/^Submit rows\.jsonl to Work \(1\/6\)/);
  }

  async function walkTo(step: 1 | 2 | 3 | 4 | 5 | 6): Promise<void> {
    const { quickInput } = workbench;
    await begin();
    const answers = [
      () => quickInput.pick('Llama 3.1 8B Instruct'),
      () => quickInput.accept(),
      () => quickInput.pick('Standard queue'),
      () => quickInput.pick(CONTINUE),
      () =>
        quickInput.pick('I accept the license terms and the use policy of Meta for Llama 3.1 8B Instruct'),
    ];
    for (const [index, answer] of answers.slice(0, step - 1).entries()) {
      await answer();
      if (index === 4) await waitForConfirm(workbench, 'rows.jsonl');
      else await quickInput.waitForTitle(new RegExp(`\\(${index + 2}/6\\)`));
    }
  }

  function descriptionOf(row: string): Promise<string | null> {
    return workbench.quickInput.item(row).locator('.label-description').textContent();
  }

  describe('nothing is sent', () => {
    afterEach(async () => {
      // A box that was answered stays for a moment, in which the next one would come.
      await workbench.quickInput.waitUntilClosed();
      assert.equal(await workbench.dialogs.modal.count(), 0);
      assert.equal(service.submissions, 0, 'submissions that reached the service');
      assert.equal(await service.balanceCents(), 100_000);
    });

    it('when the terms are declined', async () => {
      await walkTo(5);
      await workbench.screenshot('consent-terms');
      await workbench.quickInput.pick('I do not accept');
      await workbench.quickInput.waitUntilClosed();
    });

    it('when the last question is declined', async () => {
      await walkTo(6);
      await workbench.screenshot('confirm');
      await workbench.dialogs.press('Cancel');
    });

    it('when the last question is answered with Enter, which goes back to the summary', async () => {
      await walkTo(6);
      await workbench.page.keyboard.press('Enter');
      await workbench.quickInput.waitForTitle(/\(4\/6\)/);
      assert.equal(await descriptionOf('Model'), 'Llama 3.1 8B Instruct, Meta');
      await workbench.quickInput.close();
    });

    for (const step of [1, 2, 3, 4, 5] as const) {
      it(`when step ${step} is left with Esc`, async () => {
        await walkTo(step);
        await workbench.quickInput.close();
      });
    }

    it('when the last question is left with Esc', async () => {
      await walkTo(6);
      await workbench.page.keyboard.press('Escape');
      await workbench.dialogs.modal.waitFor({ state: 'hidden' });
    });

    it('when Enter is pressed until the steps end', async () => {
      await begin();
      // No model is chosen beforehand.
      await workbench.page.keyboard.press('ArrowDown');
      const titles = new Set<string>();
      for (let presses = 0; presses < 30 && (await workbench.quickInput.isOpen()); presses++) {
        const title = await workbench.quickInput.title();
        titles.add(/\d\/6/.exec(title)?.[0] ?? '');
        await workbench.page.keyboard.press('Enter');
        await workbench.quickInput.waitUntilOther(title);
      }
      assert.equal(await workbench.quickInput.isOpen(), false);
      assert.ok(titles.has('5/6') && !titles.has('6/6'), [...titles].join(', '));
      // An Enter too many would have gone into the file.
      assert.equal(await workbench.editors.isDirty('rows.jsonl'), false);
    });

    it('by rows of the summary that only inform', async () => {
      await walkTo(4);
      for (const row of ['Price', 'Balance', 'Account', 'Final']) {
        await workbench.quickInput.pick(row);
        await workbench.quickInput.waitForTitle(/\(4\/6\)/);
      }
      await workbench.quickInput.close();
    });
  });

  describe('what is sent is what was chosen', () => {
    it('the summary says what there is to know, and its rows lead back to their steps', async () => {
      const { quickInput } = workbench;
      await walkTo(4);
      await workbench.screenshot('summary');
      const [marker] = /ft-[\da-z]{8}$/.exec((await descriptionOf('Label')) ?? '') ?? [];
      const facts = new Map<string, string | null>();
      for (const row of ['Account', 'Dataset', 'Model', 'Label', 'Queue', 'Balance', 'Price', 'Final'])
        facts.set(row, await descriptionOf(row));
      assert.deepEqual(Object.fromEntries(facts), {
        Account: 'Work',
        Dataset: 'rows.jsonl, 160 bytes',
        Model: 'Llama 3.1 8B Instruct, Meta',
        Label: `rows ${marker}`,
        Queue: 'standard',
        Balance: '1,000.00 USD',
        Price: 'Not known until charged',
        Final: 'A run can’t be canceled or refunded',
      });
      for (const [row, step] of [
        ['Model', 1],
        ['Label', 2],
        ['Queue', 3],
      ] as const) {
        await quickInput.pick(row);
        await quickInput.waitForTitle(new RegExp(`\\(${step}/6\\)`));
        for (let next = step + 1; next <= 4; next++) {
          await quickInput.accept();
          await quickInput.waitForTitle(new RegExp(`\\(${next}/6\\)`));
        }
      }
      await quickInput.close();
    });

    it('Back keeps what was chosen, but no consent', async () => {
      const { quickInput } = workbench;
      await begin();
      await quickInput.pick('Qwen3 8B');
      await quickInput.waitForTitle(/\(2\/6\)/);
      await quickInput.fill('kept');
      await quickInput.waitForTitle(/\(3\/6\)/);
      await quickInput.pick('Priority queue');
      await quickInput.waitForTitle(/\(4\/6\)/);
      for (const step of [3, 2, 1]) {
        await quickInput.press('Back');
        await quickInput.waitForTitle(new RegExp(`\\(${step}/6\\)`));
        if (step === 2) assert.equal(await quickInput.value(), 'kept');
      }
      for (const step of [2, 3, 4]) {
        await quickInput.accept();
        await quickInput.waitForTitle(new RegExp(`\\(${step}/6\\)`));
      }
      assert.equal(await descriptionOf('Model'), 'Qwen3 8B, Alibaba Cloud');
      assert.match((await descriptionOf('Label')) ?? '', /^kept ft-[\da-z]{8}$/);
      assert.equal(await descriptionOf('Queue'), 'priority: costs extra unless your plan includes it');
      await quickInput.pick(CONTINUE);
      await quickInput.pick('I accept the license terms and the use policy of Alibaba Cloud for Qwen3 8B');
      await waitForConfirm(workbench, 'rows.jsonl');
      await workbench.dialogs.press('Back to Summary');
      await quickInput.pick(CONTINUE);
      await quickInput.waitForTitle(/\(5\/6\)/);
      // Not ticked by having been accepted before: the first row, which Enter takes, declines.
      await quickInput.accept();
      await quickInput.waitUntilClosed();
      assert.equal(service.submissions, 0);
    });

    it('a label that is too long with its marker is cut at whole characters, and only both consents send', async () => {
      const { quickInput } = workbench;
      await begin();
      await quickInput.pick('Mistral 7B Instruct v0.3');
      await quickInput.waitForTitle(/\(2\/6\)/);
      await quickInput.type(FAMILY.repeat(24));
      await quickInput.waitForMessage('264 of 243 characters: the end will be cut.');
      await workbench.screenshot('label-too-long');
      await quickInput.accept();
      await quickInput.pick('Standard queue');
      await quickInput.pick(CONTINUE);
      // This provider has no use policy.
      await quickInput.pick('I accept the license terms of Mistral AI for Mistral 7B Instruct v0.3');
      const said = await waitForConfirm(workbench, 'rows.jsonl');
      assert.deepEqual(said.split('\n'), [
        `Account: Work (${new URL(service.baseUrl).host})`,
        'Model: Mistral 7B Instruct v0.3 (Mistral AI) · standard queue',
        'Dataset: rows.jsonl · 160 bytes · 10 rows',
        'Price: not known until charged',
        'Balance: 1,000.00 USD',
        'You’re charged when the service accepts the dataset.',
        'A run can’t be canceled or refunded.',
        'By submitting you:',
        '• accept the license terms of Mistral AI',
        '• accept the service’s data policy',
        '• confirm that you have the rights to this dataset',
        '• understand that results aren’t guaranteed',
      ]);
      await pressSubmit(workbench);
      const text = await workbench.dialogs.waitForToast(/Charged/);
      assert.doesNotMatch(text, /Sandbox/);
      assert.equal(service.submissions, 1);
      const [run] = await service.runs();
      assert.match(run?.label ?? '', new RegExp(`^ft-[\\da-z]{8} ${FAMILY.repeat(22)}$`));
      await workbench.clearNotifications();
    });

    it('an empty label is allowed: then it is the marker alone', async () => {
      await workbench.editors.titleAction('Submit Dataset…').click();
      await walkThroughSteps(workbench, { fileName: 'rows.jsonl', model: 'Qwen3 8B', label: '' });
      await workbench.dialogs.waitForToast(/Charged/);
      assert.equal(service.submissions, 2);
      assert.match((await service.runs())[0]?.label ?? '', /^ft-[\da-z]{8}$/);
    });
  });
});
