import assert from 'node:assert/strict';
import type { Account } from '../../../../src/core/accounts/account.ts';
import { golden } from '../../../helpers/golden.ts';
import { chargedReceipt } from '../../../helpers/receipts.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';

const { balanceText, balanceTooltip } = await withVscode(
  () => import('../../../../src/ui/accounts/balanceItem.ts'),
);
const { spentLines } = await withVscode(() => import('../../../../src/ui/accounts/spentLines.ts'));

type View = Parameters<typeof balanceText>[0];

describe('Balance in the status bar', () => {
  const work: Account = { kind: 'service', id: 'a', name: 'Work', baseUrl: 'https://service.test:8443/v2' };
  const sandbox: Account = { kind: 'sandbox', id: 's', name: 'Sandbox' };
  const readAtMs = Date.now();
  const charged = (created_at: string, price_cents: number) =>
    chargedReceipt({
      atMs: Date.parse(created_at),
      accountId: work.id,
      run: { run_id: created_at, price_cents },
    });
  const viewOf = (changes: Partial<View> = {}): View => ({
    account: work,
    hasOthers: false,
    balance: { balance_cents: 3_750, currency: 'USD' },
    readAtMs,
    state: 'ready',
    isLow: false,
    spent: [],
    ...changes,
  });

  it('shows the balance, and the account if there are several or no balance; its tooltip shows the rest', () => {
    const long = { ...work, name: 'Research and Development' };
    const shown = (changes: Partial<View>) => {
      const view = viewOf(changes);
      return [
        balanceText(view),
        ...balanceTooltip(view)
          .replace(/\(as of .+\)/, '(as of …)')
          .split('\n'),
      ];
    };
    const balance = { balance_cents: 3_750, currency: 'USD' };
    const receipts = [charged('2026-11-03T12:00:00Z', 517), charged('2026-10-31T12:00:00Z', 900)];
    const facts = { account: work, receipts, runs: undefined, balance, nowMs: Date.UTC(2026, 10, 30) };
    const budget = { perRunCents: 500, perMonthCents: 2_000, currency: 'USD' };
    golden('balance', {
      'one account': shown({}),
      'several accounts': shown({ hasOthers: true }),
      'a long name': shown({ hasOthers: true, account: long }),
      sandbox: shown({ account: sandbox }),
      'sandbox without a balance': shown({ account: sandbox, balance: undefined }),
      'no balance': shown({ balance: undefined }),
      offline: shown({ state: 'offline' }),
      'a rejected API key': shown({ state: 'key-rejected', balance: undefined }),
      'a missing API key': shown({ state: 'key-missing', balance: undefined }),
      'a low balance': shown({ isLow: true, spent: ['Spent', 'Budget'] }),
      'spent this month': spentLines(facts),
      'spent, with a budget': spentLines({ ...facts, account: { ...work, budget } }),
      'nothing known': spentLines({ ...facts, receipts: [], balance: undefined }),
    });
  });

  it('sanitizes the account name and the currency', () => {
    const account = { ...work, name: '\u202e$(check) [x](c:y)\u200b' };
    const balance = { balance_cents: 100, currency: '$(x)' };
    const view = viewOf({ account, balance });
    assert.equal(balanceText(view), '$(credit-card) 1.00 $ (x)');
    for (const text of [balanceText({ ...view, hasOthers: true }), balanceTooltip(view)])
      assert.doesNotMatch(text.replace('$(credit-card)', ''), /\$\(|\]\(|\u202e|\u200b/);
  });
});
