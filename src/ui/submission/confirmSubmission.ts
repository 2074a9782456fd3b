import { showWarning } from '../shared/notifications.ts';
import { confirmMessages, type Confirmation } from './confirmMessages.ts';

/**
 * The last question of a submission, and its second consent. It is a modal dialog, since any extension can press whatever
 * else VS Code shows by a command. The first button takes Enter, so it sends nothing.
 */
export async function confirmSubmission(confirmation: Confirmation): Promise<'submit' | 'back' | undefined> {
  const submit = confirmMessages.submit(confirmation);
  const back = confirmMessages.back(confirmation);
  const choice = await showWarning(
    confirmMessages.question(confirmation),
    { modal: true, detail: confirmMessages.detail(confirmation) },
    back,
    submit,
  );
  return choice === submit ? 'submit' : choice === back ? 'back' : undefined;
}
