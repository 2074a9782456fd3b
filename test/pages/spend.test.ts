import assert from 'node:assert/strict';
import { SpendPage } from '../ui/spendPage.ts';
import { untilEqual } from '../ui/waits.ts';
import { standIn } from './previews.ts';
import { FORMER, Spending, SPENDING } from './spending.ts';
import { useViews, type View } from './view.ts';
import { THEMES } from './webviews.ts';

describe('the spend page', () => {
  const show = useViews();
  const opened: Spending[] = [];
  let spending: Spending;
  let view: View;
  let page: SpendPage;

  async function open(state: keyof typeof SPENDING): Promise<void> {
    spending = await Spending.start();
    opened.push(spending);
    await SPENDING[state](spending);
    view = await show(spending.create);
    page = new SpendPage(view);
    await page.frame.getByRole('heading', { level: 1, name: /^Spending: / }).waitFor();
  }
  after(() => Promise.all(opened.map((one) => one.end())));

  const text = (cents: number) => (cents / 100).toLocaleString('en', { minimumFractionDigits: 2 });
  const money = (cents: number) => `${text(cents)} USD`;
  const sum = (amounts: readonly number[]) => amounts.reduce((total, cents) => total + cents, 0);
  const listed = async (column: number) => (await page.rows('runs')).map((cells) => cells[column]);
  /** The prices in the sandbox, oldest first. */
  const prices = async () =>
    (await spending.service.runs()).map(({ price_cents = 0 }) => price_cents).reverse();

  it('shows that there are no runs yet', async () => {
    await open('empty');
    await page.frame.getByText('No runs yet.').waitFor();
    assert.equal(await page.button('Export CSV…').getAttribute('aria-disabled'), 'true');
    await view.assertAccessible();
  });

  it('says why sums are missing or incomplete, or which limits they exceed', async () => {
    for (const [state, why] of [
      ['loading', 'Loading…'],
      ['unreadable', 'Couldn’t read the receipts on this machine.'],
      ['signed out', /^This account is signed out\./],
      ['API key rejected', /rejected this account’s API key/],
      ['offline', /^Offline since /],
      ['over budget', /· monthly limit exceeded · limit per run exceeded this month$/],
    ] as const) {
      await open(state);
      await page.frame.getByText(why).first().waitFor();
    }
  });

  describe('in one currency', () => {
    before(() => open('in one currency'));

    it('agrees with the sandbox to the cent', async () => {
      const cents = await prices();
      assert.equal(new Set(cents).size, 3);
      await page.waitForFact(/^Total for 3 runs$/, money(sum(cents)));
      assert.equal(await page.fact(/\(UTC\)$/).innerText(), money(sum(cents)));
      assert.equal(await page.fact(/^Balance$/).innerText(), money(await spending.service.balanceCents()));
      assert.deepEqual(await listed(1), cents.toReversed().map(money));
      const [, , total] = (await page.rows('groups'))[0] ?? [];
      assert.equal(total, money(sum(cents)));
    });

    it('groups by model and plan', async () => {
      const [small = 0, large = 0, middle = 0] = await prices();
      await page.button('Model').first().click();
      await page.frame.getByRole('rowheader', { name: 'Qwen3 8B' }).first().waitFor();
      assert.deepEqual((await page.rows('groups')).sort(), [
        ['Llama 3.1 8B Instruct', '1', money(large)],
        ['Qwen3 8B', '2', money(small + middle)],
      ]);
      await page.frame.getByRole('group', { name: 'Spending by' }).first().getByText('Plan').click();
      await page.frame.getByRole('rowheader', { name: /Sandbox/ }).waitFor();
      assert.equal(await page.button('Plan').first().getAttribute('aria-pressed'), 'true');
    });

    it('sorts and searches by keyboard', async () => {
      const { keyboard } = view.page;
      const dear = (await prices()).toSorted((one, other) => other - one).map(money);
      await page.frame.locator('button[data-sort=price]').focus();
      await keyboard.press('Enter');
      await page.frame.locator('th[aria-sort=descending]').getByText('Price').waitFor();
      assert.deepEqual(await listed(1), dear);
      await keyboard.press('Enter');
      await page.frame.locator('th[aria-sort=ascending]').getByText('Price').waitFor();
      assert.deepEqual(await listed(1), dear.toReversed());
      await page.search.fill('QWEN');
      await page.frame.getByText('2 runs', { exact: true }).last().waitFor();
      assert.deepEqual((await listed(3)).sort(), ['run of middle', 'run of small']);
      await page.search.fill('');
      await page.run('run of large').waitFor();
    });

    it('asks for the budget and for the page of a run, and shows a budget that is set', async () => {
      standIn.forget();
      await page.button('Set Budget…').click();
      await page.run('run of large').getByRole('button').click();
      const accountId = spending.session.account.id;
      const [large] = (await spending.service.runs()).filter(({ label }) => label === 'run of large');
      await untilEqual(
        [
          ['fineTuning.setBudget', { accountId, id: '' }],
          ['fineTuning.showRun', { accountId, id: large?.run_id }],
        ],
        () => Promise.resolve(standIn.executed),
      );
      spending.change({ budget: { perRunCents: 2_000, perMonthCents: 5_050, currency: 'USD' } });
      await page.waitForFact(/^Budget$/, '20.00 USD per run · 50.50 USD per month');
    });

    it('is readable and accessible in each theme', () => view.assertAccessible(THEMES));

    it('is readable in 300 pixels', async () => {
      await view.resize(300);
      await view.assertFits();
    });
  });

  it('shows what is unknown about runs submitted elsewhere, and offers to load them', async () => {
    await open('with unknown prices');
    await page.frame.getByText('Not all runs are loaded, so totals may be too low.').waitFor();
    await page.waitForFact(/^Total for/, /^at least .+ prices unknown, not all runs loaded\)$/);
    await view.assertAccessible();
    await page.button('Load All Runs').waitFor();
    await view.resize(900);
    await view.assertFits('.runs .scroller');
  });

  it('keeps three currencies and an unknown one apart, with a long name and every note', async () => {
    await open('in several currencies');
    // A currency stays when the details are read again.
    await page.button('Load Prices').click();
    await page
      .run(FORMER)
      .getByText(/^[\d.]+\*\*$/)
      .waitFor();
    await page
      .run('elsewhere in euros')
      .getByText(/EUR\*$/)
      .waitFor();
    await page.frame.getByText('* Currency assumed from the balance. ** Currency unknown.').waitFor();
    const [small = 0, large = 0, other = 0, euros = 0] = await prices();
    const all = `${text(euros)} EUR · ${text(other)} (currency unknown) · ${money(small + large)}`;
    assert.equal(await page.fact(/^Total for 4 runs$/).innerText(), all);
    assert.equal(await page.fact(/\(UTC\)$/).innerText(), all);
    assert.match(await page.fact(/^Balance$/).innerText(), / JPY$/);
    await view.assertAccessible();
    await view.resize(300);
    await view.assertFits();
    const nameBox = await page.frame.locator('section.groups tbody th').first().boundingBox();
    assert.ok((nameBox?.width ?? 0) > 60, 'a name is not broken into letters');
  });
});
