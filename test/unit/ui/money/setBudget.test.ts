import assert from 'node:assert/strict';
import type { Account, AccountBudget, AccountChange } from '../../../../src/core/accounts/account.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';

const standIn = await withVscode(() => import('../../../helpers/vscodeStandIn.ts'));
const { setBudget } = await withVscode(() => import('../../../../src/ui/money/setBudget.ts'));

describe('setBudget', () => {
  beforeEach(() => standIn.forget());

  /** Enters texts one after another; undefined is Esc. */
  async function enter(
    texts: (string | undefined)[],
    budget?: AccountBudget,
  ): Promise<AccountChange | undefined> {
    let change: AccountChange | undefined;
    const account: Account = { kind: 'sandbox', id: 's', name: 'Sandbox', budget };
    const balance = { current: { balance_cents: 1, currency: 'USD' } };
    standIn.shown.pick = () => texts.shift();
    await setBudget(
      { change: (_: string, to: AccountChange) => Promise.resolve(void (change = to)) } as never,
      { active: { account, balance } } as never,
    );
    return change;
  }

  it('accepts amounts in the currency of the balance, with or without cents', async () => {
    assert.deepEqual(await enter(['5', '12,5']), {
      budget: { perRunCents: 500, perMonthCents: 1_250, currency: 'USD' },
    });
    assert.match(standIn.shown.sentences[0] ?? '', /5\.00 USD per run · 12\.50 USD per month/);
    const prompts = standIn.shown.inputs.map(({ prompt }) => prompt).join(' ');
    assert.match(prompts, /^Limit per run in USD\..* Limit per month \(UTC\) in USD\./);
  });

  it('removes the budget after empty input, and changes nothing after Esc', async () => {
    assert.deepEqual(await enter(['', ' '], { perRunCents: 1, currency: 'USD' }), { budget: undefined });
    assert.equal(await enter(['5', undefined]), undefined);
  });

  it('suggests the current limits, unless they are in another currency', async () => {
    const offered = async (currency: string, perRunCents = 1_205) => {
      standIn.forget();
      const values: string[] = [];
      standIn.shown.pick = (input) => void values.push(input.value);
      const account: Account = {
        kind: 'sandbox',
        id: 's',
        name: 'S',
        budget: { perRunCents, currency },
      };
      const balance = { current: { balance_cents: 1, currency: currency === 'EUR' ? 'USD' : currency } };
      await setBudget({} as never, { active: { account, balance } } as never);
      return values;
    };
    assert.deepEqual([await offered('USD'), await offered('EUR')], [['12.05'], ['']]);
    assert.deepEqual([await offered('USD', 1_200), await offered('JPY', 1_200)], [['12.00'], ['12']]);
  });

  it('rejects other texts', async () => {
    for (const text of ['-5', '1e3', '12.505', '5 USD', '.5', '1234567890']) {
      assert.equal(await enter([text, '5']), undefined, text);
      assert.match(String(standIn.shown.inputs.at(-1)?.validationMessage), /such as 20 or 12\.50/);
    }
  });
});
