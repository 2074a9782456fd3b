import type { Workbench } from './workbench.ts';

/** The row of the summary that leads on. */
export const CONTINUE = 'Continue';

/** The notification of a charge, which names the label of the run. */
export function charged(name: string): RegExp {
  return new RegExp(`Submitted ${name} to .+\\. Charged [\\d.,]+ USD; balance [\\d.,]+ USD\\.`);
}

/** What a user chooses on the way to a run; `until` stops before that step is answered. */
export interface Way {
  fileName: string;
  model?: string;
  label?: string;
  queue?: 'Standard queue' | 'Priority queue';
  until?: 'summary' | 'terms' | 'confirm';
}

/** Walks the steps of a submission with the mouse. */
export async function walkThroughSteps(workbench: Workbench, way: Way): Promise<void> {
  const { quickInput } = workbench;
  await quickInput.waitForTitle(new RegExp(`Submit ${way.fileName.replaceAll('.', '\\.')} `));
  if (way.model !== undefined) await quickInput.pick(way.model);
  await quickInput.waitForMessage(/^Label \(optional\)\./);
  if (way.label === undefined) await quickInput.accept();
  else await quickInput.fill(way.label);
  await quickInput.pick(way.queue ?? 'Standard queue');
  await quickInput.item(CONTINUE).waitFor();
  if (way.until === 'summary') return;
  await quickInput.pick(CONTINUE);
  await quickInput.item('I do not accept').waitFor();
  if (way.until === 'terms') return;
  await quickInput.pick(/I accept the license terms/);
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
