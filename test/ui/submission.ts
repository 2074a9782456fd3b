import type { Workbench } from './workbench.ts';

/** The row of the summary that leads on. */
export const CONTINUE = 'Continue';

/** The notification of a charge, which names the label of the run. */
export function charged(name: string): RegExp {
  return new RegExp(`Submitted ${name} to .+\\. Charged [\\d.,]+ USD; balance [\\d.,]+ USD\\.`);
}

/** The row that gives the first consent. */
export const ACCEPT = 'Accept and Continue';

/** What a user changes on the way to a run; `until` stops before that surface is answered. */
export interface Way {
  fileName: string;
  model?: string;
  label?: string;
  queue?: 'Priority queue';
  until?: 'summary' | 'terms' | 'confirm';
}

/** Begins with the button beside the tabs, which for a moment is still that of the editor before. */
export async function beginSubmission({ editors, quickInput }: Workbench, fileName: string): Promise<void> {
  for (;;) {
    await editors.titleAction('Submit Dataset…').click();
    await quickInput.waitForTitle(/^Submit .+ to /);
    if ((await quickInput.title()).startsWith(`Submit ${fileName} to `)) return;
    await quickInput.close();
  }
}

/** Walks the way of a submission with the mouse. */
export async function walkThroughSteps(workbench: Workbench, way: Way): Promise<void> {
  const { quickInput } = workbench;
  await quickInput.waitForTitle(new RegExp(`Submit ${way.fileName.replaceAll('.', '\\.')} to `));
  if (way.model !== undefined) {
    // The first submission of an account asks for it.
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

/** Waits for the last question, and returns what it says. */
export function waitForConfirm({ dialogs }: Workbench, fileName: string): Promise<string> {
  return dialogs.waitForModal(
    new RegExp(`^Submit ${fileName.replaceAll('.', '\\.')} to (the sandbox|.+ and pay)\\?$`),
  );
}

/** Says yes to the last question. */
export async function pressSubmit({ dialogs }: Workbench): Promise<void> {
  const submit = (await dialogs.modalButtons()).find((button) => button.startsWith('Submit'));
  await dialogs.press(submit ?? 'Submit');
}
