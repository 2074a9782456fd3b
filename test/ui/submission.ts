import assert from 'node:assert/strict';
import { KEYS } from './keys.ts';
import { until } from './waits.ts';
import type { Workbench } from './workbench.ts';

/** The summary's row that continues to the terms. */
export const CONTINUE = 'Continue';

/** The notification of a charge, which contains the run's label. */
export function charged(name: string): RegExp {
  const [real, sandbox] = [
    'Charged [\\d.,]+ USD(; balance [\\d.,]+ USD|, over the budget of [\\d.,]+ USD per run)',
    '[\\d.,]+ USD of sandbox money; [\\d.,]+ left',
  ];
  return new RegExp(
    `(Submitted ${name} to .+\\. ${real}|Sandbox: submitted ${name}(?: on attempt \\d+)?\\. ${sandbox})\\.`,
  );
}

/** The row that accepts the terms. */
export const ACCEPT = 'Accept and Continue';

/** The user's choices in a submission; `until` stops at that step without answering it. */
export interface Way {
  fileName: string;
  model?: string;
  label?: string;
  queue?: 'Priority queue';
  until?: 'summary' | 'terms' | 'confirm';
}

/** Starts with the button beside the tabs, which belongs to the previous editor for a moment. */
export async function beginSubmission({ editors, quickInput }: Workbench, fileName: string): Promise<void> {
  await until(`the submission of ${fileName} begins`, async () => {
    await editors.pressTitleAction('Submit Dataset for Training…', quickInput.titled(/^Submit .+ to /));
    if ((await quickInput.title()).startsWith(`Submit ${fileName} to `)) return true;
    await quickInput.close();
    return false;
  });
}

/** Starts with the list of the workspace's datasets, which is offered while no dataset is open. */
export async function beginFromList({ quickInput }: Workbench, fileName: string): Promise<void> {
  await quickInput.openByKey(KEYS['fineTuning.submitDataset'], 'Choose a Dataset');
  await quickInput.pick(fileName);
}

/** Walks through the steps of a submission with the mouse. */
export async function walkThroughSteps(workbench: Workbench, way: Way): Promise<void> {
  const { quickInput } = workbench;
  await quickInput.waitForTitle(new RegExp(`Submit ${way.fileName.replaceAll('.', '\\.')} to `));
  if (way.model !== undefined) {
    // An account's first submission asks for the model.
    await quickInput.item(CONTINUE).or(quickInput.item(way.model)).first().waitFor();
    if ((await quickInput.item(CONTINUE).count()) > 0) await quickInput.pick('Model');
    await quickInput.pick(way.model);
  }
  await quickInput.item(CONTINUE).waitFor();
  if (way.label !== undefined) {
    await quickInput.pick('Label');
    await quickInput.waitForMessage(/^Label \(optional, /);
    await quickInput.fill(way.label);
    await quickInput.item(CONTINUE).waitFor();
  }
  if (way.queue !== undefined) {
    await quickInput.pick('Queue');
    await quickInput.pick(way.queue);
    await quickInput.item(CONTINUE).waitFor();
  }
  if (way.until === 'summary') return;
  await quickInput.pickUntil(CONTINUE, quickInput.item(ACCEPT));
  if (way.until === 'terms') return;
  await quickInput.pickUntil(ACCEPT, workbench.dialogs.modal);
  await waitForConfirm(workbench, way.fileName);
  if (way.until === 'confirm') return;
  await pressSubmit(workbench);
}

/** Waits for the final confirmation, which identifies the file, and returns its detail. */
export async function waitForConfirm({ dialogs }: Workbench, fileName: string): Promise<string> {
  const detail = await dialogs.waitForModal(/^Submit (this dataset to .+ and pay|.+ to the sandbox)\?$/);
  assert.match(detail, new RegExp(`^${fileName.replaceAll('.', '\\.')}$`, 'm'));
  return detail;
}

/** Confirms the final dialog. */
export async function pressSubmit({ dialogs }: Workbench): Promise<void> {
  const submit = (await dialogs.modalButtons()).find((button) => button.startsWith('Submit'));
  await dialogs.press(submit ?? 'Submit');
}
