import assert from 'node:assert/strict';
import type { Account } from '../../../../src/core/accounts/account.ts';
import type { Receipt } from '../../../../src/core/submission/intent.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';
import { intentOf } from '../../../helpers/submissions.ts';

const { balanceText, balanceTooltip } = await withVscode(
  () => import('../../../../src/ui/accounts/balanceItem.ts'),
);
const { spentLines } = await withVscode(() => import('../../../../src/ui/accounts/spentLines.ts'));
const { formatMoment } = await withVscode(() => import('../../../../src/ui/shared/format.ts'));

type View = Parameters<typeof balanceText>[0];

describe('Balance in the status bar', () => {
  const work: Account = { kind: 'service', id: 'a', name: 'Work', baseUrl: 'https://service.test:8443/v2' };
  const sandbox: Account = { kind: 'sandbox', id: 's', name: 'Sandbox' };
  const readAtMs = Date.now();
  const charged = (created_at: string, price_cents: number): Receipt => {
    const at = { localMs: Date.parse(created_at) };
    const run = { run_id: created_at, price_cents, currency: 'USD' };
    const settled = { kind: 'charged', how: 'answered', at, run } as const;
    return { ...intentOf({ accountId: work.id, created: at }), settled };
  };
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

  it('shows the name of the account if there are several accounts or no balance', () => {
    const long = { ...work, name: 'Research and Development' };
    for (const [changes, text] of [
      [{}, '$(credit-card) 37.50 USD'],
      [{ hasOthers: true }, '$(credit-card) Work 37.50 USD'],
      [{ hasOthers: true, account: long }, '$(credit-card) Research…lopment 37.50 USD'],
      [{ account: sandbox }, '$(beaker) Sandbox 37.50 USD'],
      [{ account: sandbox, balance: undefined }, '$(beaker) Sandbox'],
      [{ balance: undefined }, '$(credit-card) Work'],
      [{ state: 'offline' }, '$(credit-card) 37.50 USD'],
      [{ state: 'key-rejected', balance: undefined }, '$(key) Work'],
      [{ state: 'key-missing', balance: undefined }, '$(key) Work'],
    ] satisfies [Partial<View>, string][])
      assert.equal(balanceText(viewOf(changes)), text);
  });

  it('has a tooltip with the account, the host, and the balance with its time', () => {
    const linesOf = (changes: Partial<View>) => balanceTooltip(viewOf(changes)).split('\n');
    assert.deepEqual(linesOf({}), [
      'Fine-Tuning account: Work',
      'Service: service.test:8443',
      `Balance: 37.50 USD (read ${formatMoment(readAtMs, Date.now())})`,
      'Click for the account menu.',
    ]);
    assert.equal(linesOf({ account: sandbox })[1], 'Sandbox: no training, no charges.');
    assert.deepEqual(linesOf({ isLow: true, spent: ['Spent', 'Budget'] }).slice(3, 6), [
      'Spent',
      'Budget',
      'Below your low-balance threshold.',
    ]);
  });

  it('has a tooltip with the spending of this month and the budget', () => {
    const balance = { balance_cents: 3_750, currency: 'USD' };
    const receipts = [charged('2026-11-03T12:00:00Z', 517), charged('2026-10-31T12:00:00Z', 900)];
    const facts = {
      account: work,
      receipts,
      runs: undefined,
      balance,
      nowMs: Date.UTC(2026, 10, 30),
    };
    assert.deepEqual(spentLines(facts), ['Spent in November (UTC): at least 5.17 USD (not all runs loaded)']);
    const budget = { perRunCents: 500, perMonthCents: 2_000, currency: 'USD' };
    assert.equal(
      spentLines({ ...facts, account: { ...work, budget } })[1],
      'Budget: 5.00 USD per run · 20.00 USD per month',
    );
    assert.deepEqual(spentLines({ ...facts, receipts: [], balance: undefined }), []);
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
