import type { AccountBudget } from '../../core/accounts/account.ts';
import type { AccountStore } from '../../core/accounts/accountStore.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import { notAnAmount, parseAmount } from '../shared/format.ts';
import { ask, mapAnswer, runSteps, type Answer, type Place } from '../shared/steps.ts';
import { budgetSteps, notifyBudget } from './messages.ts';

type Limits = Pick<AccountBudget, 'perRunCents' | 'perMonthCents'>;

/** Asks what the active account may spend for a run and in a month; nothing entered is no budget. */
export async function setBudget(accounts: AccountStore, sessions: Sessions): Promise<void> {
  const session = sessions.active;
  if (session === undefined) return;
  const { id, name, budget } = session.account;
  const { currency } = session.balance.current ?? (await session.balance.refresh());
  // Amounts in another currency are no amounts in this one.
  const { perRunCents, perMonthCents } = budget?.currency === currency ? budget : {};
  const limits = await runSteps<Limits>(
    budgetSteps.title(name),
    [
      (state, place) => askForLimit(state, place, 'perRunCents', budgetSteps.perRun(currency)),
      (state, place) => askForLimit(state, place, 'perMonthCents', budgetSteps.perMonth(currency)),
    ],
    { perRunCents, perMonthCents },
  );
  if (limits === undefined) return;
  const isNone = limits.perRunCents === undefined && limits.perMonthCents === undefined;
  const set = isNone ? undefined : { ...limits, currency };
  await accounts.change(id, { budget: set });
  notifyBudget(name, set);
}

async function askForLimit(
  state: Limits,
  place: Place,
  field: keyof Limits,
  prompt: string,
): Promise<Answer<Limits>> {
  const cents = state[field];
  const answer = await ask(place, {
    prompt,
    placeholder: budgetSteps.placeholder(),
    value: cents === undefined ? '' : amountOf(cents),
    validate: (text) => (text.trim() === '' || parseAmount(text) !== undefined ? undefined : notAnAmount()),
  });
  return mapAnswer(answer, (text) => ({ ...state, [field]: parseAmount(text) }));
}

function amountOf(cents: number): string {
  return (cents / 100).toFixed(cents % 100 === 0 ? 0 : 2);
}
