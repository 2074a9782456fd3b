import { overBudget } from './budgetText.ts';
import { askModal, showWarning } from '../shared/notifications.ts';
import { confirmMessages, type Confirmation } from './confirmMessages.ts';

/**
 * Asks the final question before anything is sent, which is also the second consent, with what is then known about the money.
 * It is a modal dialog, since other extensions can press anything else in VS Code by a command. Enter presses the first button,
 * so that button sends nothing.
 * @param now returns undefined if there is nothing left to send
 * @param agreed the budget warnings that the user has accepted
 */
export async function confirmSubmission(
  now: () => Confirmation | undefined,
  agreed = new Set<string>(),
): Promise<'submit' | 'back' | undefined> {
  for (;;) {
    const confirmation = now();
    if (confirmation === undefined) return 'back';
    const { size } = agreed;
    const over = await mayExceedBudget(confirmation, agreed);
    if (over !== 'continue') return over;
    // The balance or the spending may have changed in the meantime.
    if (agreed.size > size) continue;
    const { question, detail } = confirmMessages.texts(confirmation);
    return askModal(showWarning, question, detail, {
      [confirmMessages.back(confirmation)]: 'back',
      [confirmMessages.submit(confirmation)]: 'submit',
    });
  }
}

/** Asks for one more confirmation if a run exceeds or may exceed the budget; the same figures are confirmed only once. */
export async function mayExceedBudget(
  confirmation: Confirmation,
  agreed: Set<string>,
): Promise<'continue' | 'back' | undefined> {
  const { account, money, wanted } = confirmation;
  const over = overBudget(money.checkBudget(wanted), account.name);
  if (over === undefined || agreed.has(over.detail)) return 'continue';
  const choice = await askModal(showWarning, over.message, over.detail, {
    [confirmMessages.back(confirmation)]: 'back',
    [confirmMessages.overBudget()]: 'continue',
  });
  if (choice === 'continue') agreed.add(over.detail);
  return choice;
}
