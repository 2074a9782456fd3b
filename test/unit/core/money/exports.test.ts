import assert from 'node:assert/strict';
import { toCsv } from '../../../../src/core/money/exports.ts';
import { chargedRunsOf } from '../../../../src/core/money/spending.ts';
import { rowsOfCsv } from '../../../helpers/csv.ts';
import { chargedReceipt } from '../../../helpers/receipts.ts';

const receipt = chargedReceipt({
  atMs: Date.UTC(2026, 10, 22, 12),
  label: '=HYPERLINK("http://a.test")\r\n, \u{1f4a7}',
  dataset: { path: '/data/a,"b".jsonl', sizeBytes: 1_234, rows: 7, characters: 1_200 },
  balanceBefore: { balance_cents: 1_000, currency: 'USD' },
  run: { run_id: '@run', price_cents: 517, balance_after_cents: -17 },
});
const elsewhere = {
  rows: [{ run_id: 'b', status: 'x', model_id: '-m', artifacts_available: false }],
  detail: () => ({ run_id: 'b', status: 'x', model_id: '-m', price_cents: 99.6, assumedCurrency: 'EUR' }),
  label: () => undefined,
  isCompleteSince: () => true,
};
const runs = chargedRunsOf([receipt], elsewhere);

describe('exports of spending', () => {
  const rows = rowsOfCsv(toCsv(runs));
  const [ours, other] = rows[0]?.['price_cents'] === '517' ? rows : rows.toReversed();

  it('as CSV have integer cents, ISO 8601 in UTC, and every text unchanged', () => {
    assert.equal(rows.length, 2);
    assert.equal(ours?.['price_cents'], '517');
    assert.equal(ours['balance_after_cents'], '-17');
    assert.equal(ours['created_at'], '2026-11-22T12:00:00.000Z');
    assert.equal(ours['dataset_path'], '/data/a,"b".jsonl');
    assert.equal(ours['dataset_sha256'], '0'.repeat(64));
    assert.equal(ours['dataset_characters'], '1200');
    const names = ['status', 'price_cents', 'currency', 'currency_assumed', 'queue', 'dataset_path'];
    assert.deepEqual(
      names.map((name) => other?.[name]),
      ['x', '100', 'EUR', 'true', '', ''],
    );
  });

  it('as CSV contain no formula', () => {
    assert.equal(ours?.['label'], '\'=HYPERLINK("http://a.test")\r\n, \u{1f4a7}');
    assert.equal(ours['run_id'], "'@run");
    assert.equal(other?.['model_id'], "'-m");
  });

  it('as CSV contain no formula after another separator, a line break, blanks or control characters, and none in full width', () => {
    for (const [label, safe] of [
      ['x;=1', "x;'=1"],
      ['x;"=1', 'x;"\'=1'],
      ['x\t@a;-1', "x\t'@a;'-1"],
      ['x\n+1', "x\n'+1"],
      ['+1', "'+1"],
      ['\t1', "'\t1"],
      ['\r1', "'\r1"],
      ['a-b; =c', "a-b; '=c"],
      ['a-b; c=+-@', 'a-b; c=+-@'],
      ...['＝1', '＋1', '－1', '＠a', '﹦1', '₊1'].map((formula) => [formula, `'${formula}`]),
      ...['\0', '\v', '\f', '\xa0', ' ', '\u200b', '\ufe0f', '\ufeff\x1b "'].map((blank) => [
        `${blank}=1;${blank}＝2`,
        `${blank}'=1;${blank}'＝2`,
      ]),
    ] as [string, string][]) {
      const charged = chargedRunsOf([chargedReceipt({ label })], undefined);
      assert.equal(rowsOfCsv(toCsv(charged))[0]?.['label'], safe);
    }
  });

  it('as CSV have a header even without runs', () => assert.match(toCsv([]), /^run_id,[a-z_,0-9]+\r\n$/));
});
