import { l10n } from 'vscode';
import { accountMoneyOf, type MoneyFacts } from '../../core/money/accountMoney.ts';
import { compact } from '../shared/format.ts';
import { limitsText, monthAmountsText, monthText } from '../shared/spendingText.ts';
import { factLine, TERMS } from '../shared/terms.ts';

/** Returns one line about an account's spending this month, and one about its budget. */
export function spentLines(facts: Omit<MoneyFacts, 'pending'>): string[] {
  const { spending } = accountMoneyOf({ ...facts, pending: [] });
  const { budget } = facts.account;
  return compact(
    spending && l10n.t('Spent in {0}: {1}', monthText(spending.month), monthAmountsText(spending)),
    budget && factLine(TERMS.budget, limitsText(budget)),
  );
}
