import assert from 'node:assert/strict';
import type { Estimate } from '../../../../src/core/money/estimate.ts';
import { withVscode } from '../../../helpers/standInForVscode.ts';

const { estimateText, likelyPrice, priceText, rangeTooltip, unexpectedPrice } = await withVscode(
  () => import('../../../../src/ui/shared/moneyMessages.ts'),
);

const currency = 'USD';
const atMs = Date.UTC(2026, 4, 3, 12);
const range: Estimate = { kind: 'range', lowCents: 280, highCents: 410, currency, runs: 5 };
const nearest = { sizeBytes: 4_000_000, priceCents: 517, currency };
const far: Estimate = { kind: 'far', ratio: 9.1, measure: 'bytes', isLarger: true, ...nearest };

describe('messages of a price', () => {
  it('say what is known of it, and never that it will cost', () => {
    const texts: [Estimate, string, string?][] = [
      [{ kind: 'none' }, 'Not known until charged'],
      [range, 'Likely 2.80–4.10 USD · from 5 runs', 'likely 2.80–4.10 USD'],
      [
        { kind: 'same', priceCents: 517, currency, atMs },
        '5.17 USD last time (May 3, 2026)',
        '5.17 USD last time',
      ],
      [
        { kind: 'one', sizeBytes: 1_200_000, priceCents: 300, currency },
        'Not known until charged · one earlier run (1.2 MB) cost 3.00 USD',
      ],
      [far, 'Not known until charged · 9 times the size of your nearest run (4.0 MB, 5.17 USD)'],
      [
        { ...far, isLarger: false, measure: 'rows' },
        'Not known until charged · your nearest run differs in size (4.0 MB, 5.17 USD)',
      ],
      [
        { kind: 'changed', atMs, priceCents: 410, currency },
        'Not known until charged · prices changed on May 3, 2026 (4.10 USD)',
      ],
      [
        { kind: 'priority', lowCents: 280, currency },
        'At least 2.80 USD · priority costs extra unless your plan includes it',
        'at least 2.80 USD',
      ],
      [{ kind: 'included' }, 'Not known until charged · your nearest run was included in your plan'],
    ];
    for (const [estimate, row, lens] of texts) {
      assert.equal(priceText(estimate), row);
      assert.equal(likelyPrice(estimate), lens);
    }
  });

  it('say what a range rests on, and how well the last ones held', () => {
    assert.match(rangeTooltip({ held: 1, of: 1 }), /at most in proportion\.$/);
    assert.match(rangeTooltip({ held: 4, of: 5 }), /\. Such a range held for 4 of your last 5 runs\.$/);
  });

  it('say beside a price what was known of it, and of a price that is another one only that', () => {
    const same: Estimate = { kind: 'same', priceCents: 517, currency, atMs };
    assert.deepEqual([range, same, far].map(estimateText), [
      '2.80–4.10 USD',
      '5.17 USD last time',
      undefined,
    ]);
    assert.equal(unexpectedPrice(range, 590, 'USD'), '5.90 USD, outside the estimate of 2.80–4.10 USD');
    assert.equal(unexpectedPrice(same, 590, 'USD'), '5.90 USD instead of 5.17 USD last time');
    for (const [before, cents, of] of [
      [range, 280, 'USD'],
      [range, 410, 'USD'],
      [range, 590, 'EUR'],
      [range, 590, undefined],
      [same, 517, 'USD'],
      [far, 1, 'USD'],
    ] as const)
      assert.equal(unexpectedPrice(before, cents, of), undefined);
  });
});
