import assert from 'node:assert/strict';
import { toCsv, toJsonl } from '../../../../src/core/money/exports.ts';
import { chargedRunsOf } from '../../../../src/core/money/spending.ts';
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
  detail: () => ({ run_id: 'b', status: 'x', model_id: '-m', price_cents: 99.6 }),
  label: () => undefined,
  isCompleteSince: () => true,
};
const runs = chargedRunsOf([receipt], elsewhere, { balance_cents: 5, currency: 'EUR' });

/** By RFC 4180 alone. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  let fields: string[] = [];
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    fields.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    rows.push(fields);
    fields = [];
  }
  return rows;
}

describe('exports of spending', () => {
  const [names = [], ...rows] = parseCsv(toCsv(runs));
  const field = (row: number, name: string) => rows[row]?.[names.indexOf(name)];
  const index = rows.findIndex((row) => row.includes('517'));
  const other = 1 - index;

  it('as CSV have integer cents, ISO 8601 in UTC, and every text unchanged', () => {
    assert.equal(rows.length, 2);
    for (const row of rows) assert.equal(row.length, names.length);
    assert.equal(field(index, 'price_cents'), '517');
    assert.equal(field(index, 'balance_after_cents'), '-17');
    assert.equal(field(index, 'created_at'), '2026-11-22T12:00:00.000Z');
    assert.equal(field(index, 'dataset_path'), '/data/a,"b".jsonl');
    assert.equal(field(index, 'dataset_sha256'), '0'.repeat(64));
    assert.equal(field(index, 'dataset_characters'), '1200');
    assert.deepEqual(
      ['price_cents', 'currency', 'currency_assumed', 'queue', 'dataset_path'].map((name) =>
        field(other, name),
      ),
      ['100', 'EUR', 'true', '', ''],
    );
  });

  it('as CSV hold no formula', () => {
    assert.equal(field(index, 'label'), '\'=HYPERLINK("http://a.test")\r\n, \u{1f4a7}');
    assert.equal(field(index, 'run_id'), "'@run");
    assert.equal(field(other, 'model_id'), "'-m");
  });

  it('as CSV hold none behind another separator or a line break either', () => {
    for (const [label, safe] of [
      ['x;=1', "x;'=1"],
      ['x;"=1', 'x;"\'=1'],
      ['x\t@a;-1', "x\t'@a;'-1"],
      ['x\n+1', "x\n'+1"],
      ['+1', "'+1"],
      ['\t1', "'\t1"],
      ['\r1', "'\r1"],
      ['a-b; =c', 'a-b; =c'],
    ] as const) {
      const charged = chargedRunsOf([chargedReceipt({ label })], undefined, undefined);
      const [row] = parseCsv(toCsv(charged)).slice(1);
      assert.equal(row?.[names.indexOf('label')], safe);
    }
  });

  it('as CSV have a header without any run', () => assert.deepEqual(parseCsv(toCsv([])), [names]));

  it('as JSONL say the same, with null for what is unknown', () => {
    const objects = toJsonl(runs)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    assert.deepEqual(Object.keys(objects[0] ?? {}), names);
    assert.equal(objects[index]?.['label'], receipt.label);
    assert.equal(objects[other]?.['dataset_sha256'], null);
  });
});
