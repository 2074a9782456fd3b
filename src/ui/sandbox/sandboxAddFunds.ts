import { askForFunds, tellFunds, tellFundsRefused } from './sandboxDialogs.ts';
import type { SandboxControls } from './sandboxAccess.ts';
import type { Sessions } from '../../core/runs/sessions.ts';

/** Adds play money to the sandbox's balance: the cents of the argument, or what the person enters. */
export function sandboxAddFunds(sandbox: () => Promise<SandboxControls | undefined>, sessions: Sessions) {
  return async (argument: unknown): Promise<void> => {
    const controls = await sandbox();
    if (controls === undefined) return;
    const { currency } = sessions.active?.balance.current ??
      (await sessions.active?.balance.refresh()) ?? { currency: '' };
    const cents = typeof argument === 'number' ? argument : await askForFunds(currency);
    if (cents === undefined) return;
    const balanceCents = controls.addFunds(cents);
    if (balanceCents === undefined) {
      tellFundsRefused();
      return;
    }
    tellFunds(balanceCents, currency);
    await sessions.active?.balance.refresh();
  };
}
