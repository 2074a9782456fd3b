import { l10n } from 'vscode';
import type { AccountBudget } from '../../core/accounts/account.ts';
import type { AccountStore } from '../../core/accounts/accountStore.ts';
import { parseAmount, plainAmount } from '../../core/money/amount.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import type { CommandResult } from '../shared/commands.ts';
import { notAnAmount } from '../shared/format.ts';
import { showInformation } from '../shared/notifications.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { limitsText } from '../shared/spendingText.ts';
import { ask, mapEnd, runSteps, type DialogEnd, type DialogTitle } from '../shared/steps.ts';

type Limits = Pick<AccountBudget, 'perRunCents' | 'perMonthCents'>;

/** Asks for the active account's spending limits per run and per month; empty input means no limit. */
export async function setBudget(
  accounts: AccountStore,
  sessions: Sessions,
): Promise<CommandResult | undefined> {
  const session = sessions.active;
  if (session === undefined) return { outcome: 'unavailable' };
  const { id, name, budget } = session.account;
  const { currency } = session.balance.current ?? (await session.balance.refresh());
  // Limits in another currency don't apply to this one.
  const { perRunCents, perMonthCents } = budget?.currency === currency ? budget : {};
  const limits = await runSteps<Limits>(
    l10n.t('Budget for {0}', sanitizeServiceText(name)),
    [
      (state, place) => askForLimit(state, place, 'perRunCents', currency),
      (state, place) => askForLimit(state, place, 'perMonthCents', currency),
    ],
    { perRunCents, perMonthCents },
  );
  if (limits === undefined) return { outcome: 'cancelled' };
  const isSet = (limits.perRunCents ?? limits.perMonthCents) !== undefined;
  const set = isSet ? { ...limits, currency } : undefined;
  await accounts.change(id, { budget: set });
  void showInformation(
    set === undefined
      ? l10n.t('{0} has no budget.', name)
      : l10n.t('Budget for {0}: {1}. It warns you but can’t stop a charge.', name, limitsText(set)),
  );
}

/** Asks for one limit; empty input means none. */
async function askForLimit(
  state: Limits,
  place: DialogTitle,
  limit: keyof Limits,
  currency: string,
): Promise<DialogEnd<Limits>> {
  const cents = state[limit];
  const unit = sanitizeServiceText(currency);
  const answer = await ask(place, {
    prompt:
      limit === 'perRunCents'
        ? l10n.t('Limit per run in {0}. It only warns you.', unit)
        : l10n.t('Limit per month (UTC) in {0}. It only warns you.', unit),
    placeholder: l10n.t('No limit'),
    value: cents === undefined ? '' : plainAmount(cents, currency),
    validate: (text) => (text.trim() === '' || parseAmount(text) !== undefined ? undefined : notAnAmount()),
  });
  return mapEnd(answer, (text) => ({ ...state, [limit]: parseAmount(text) }));
}
