import { KEYS } from './keys.ts';
import type { Workbench } from './workbench.ts';

/** The input for signing in. */
export interface SignInWords {
  address: string;
  name: string;
  apiKey: string;
}

/** Types URL, name, and API key into the three boxes of "Sign In…", and waits for the notification. */
export async function signIn(workbench: Workbench, words: SignInWords): Promise<void> {
  const { dialogs, quickInput } = workbench;
  await quickInput.openByKey(KEYS['fineTuning.signIn'], /^Sign In/);
  await quickInput.waitForMessage(/Service URL/);
  await quickInput.fill(words.address);
  await quickInput.waitForMessage(/A name for this account/);
  await quickInput.fill(words.name);
  await quickInput.waitForMessage(/API key for/);
  await quickInput.fill(words.apiKey);
  await dialogs.waitForToast(`Signed in to ${words.name}.`);
  await workbench.clearNotifications();
}
