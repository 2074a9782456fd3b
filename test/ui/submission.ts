import type { Workbench } from './workbench.ts';

export const ACCEPT_DATA_POLICY = 'I accept all three, and submit';

/** What a person chooses on the way to a run; `until` stops before that step is answered. */
export interface Way {
  fileName: string;
  model?: string;
  label?: string;
  queue?: 'Standard queue' | 'Priority queue';
  until?: 'summary' | 'terms' | 'data policy';
}

/** Walks the steps of a submission to the sandbox with the mouse, as a person would. */
export async function walkThroughSteps({ quickInput }: Workbench, way: Way): Promise<void> {
  await quickInput.waitForTitle(new RegExp(`Submit ${way.fileName.replaceAll('.', '\\.')} `));
  if (way.model !== undefined) await quickInput.pick(way.model);
  await quickInput.waitForMessage(/Label, to find the run again/);
  if (way.label === undefined) await quickInput.accept();
  else await quickInput.fill(way.label);
  await quickInput.pick(way.queue ?? 'Standard queue');
  await quickInput.item('Continue to the two consents').waitFor();
  if (way.until === 'summary') return;
  await quickInput.pick('Continue to the two consents');
  await quickInput.item('I do not accept').waitFor();
  if (way.until === 'terms') return;
  await quickInput.pick(/I accept the license terms/);
  await quickInput.item(ACCEPT_DATA_POLICY).waitFor();
  if (way.until === 'data policy') return;
  await quickInput.pick(ACCEPT_DATA_POLICY);
}
