import { overBudget } from '../shared/moneyMessages.ts';
import { askModal, showWarning } from '../shared/notifications.ts';
import { confirmMessages, type Confirmation } from './confirmMessages.ts';

/**
 * The last question of everything that sends, and its second consent, by what is known of the money when it is shown. It is a
 * modal dialog, since any extension can press whatever else VS Code shows by a command. The first button takes Enter, so it
 * sends nothing.
 * @param now undefined where there is nothing to send any longer
 * @param agreed what the user agreed to exceed
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
    // Money may have moved while that was asked.
    if (agreed.size > size) continue;
    return askModal(
      showWarning,
      confirmMessages.question(confirmation),
      confirmMessages.detail(confirmation),
      { [confirmMessages.back(confirmation)]: 'back', [confirmMessages.submit(confirmation)]: 'submit' },
    );
  }
}

/** One more deliberate step for a run that exceeds the budget, or may; the same figures are asked about once. */
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
