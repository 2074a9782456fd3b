import assert from 'node:assert/strict';
import {
  likelyEnds,
  estimateBefore,
  estimateOf as estimateIn,
  rangeAccuracy,
  type RunParameters,
} from '../../../../src/core/money/estimate.ts';
import type { ChargedReceipt } from '../../../../src/core/submission/submission.ts';
import { Random } from '../../../helpers/random.ts';
import { chargedReceipt, type ReceiptOptions } from '../../../helpers/receipts.ts';
import { uploadedAttempt } from '../../../helpers/submissions.ts';

const MB = 1_000_000;
let made = 0;

/** Returns a receipt for a dataset with unique bytes; each is newer than the previous one. */
function paid(megabytes: number, cents: number, options: ReceiptOptions = {}): ChargedReceipt {
  const sha256 = (++made).toString(16).padStart(64, '0');
  return chargedReceipt({
    atMs: made,
    ...options,
    dataset: { sizeBytes: Math.round(megabytes * MB), rows: undefined, sha256, ...options.dataset },
    run: { price_cents: cents, ...options.run },
  });
}
const estimateOf = (receipts: readonly ChargedReceipt[], of: RunParameters) =>
  estimateIn(receipts, of, 'USD');
const priority = { priority_processing: true };
const wanted = (megabytes: number, more: Partial<RunParameters> = {}): RunParameters => ({
  size: { bytes: megabytes * MB },
  priority: false,
  ...more,
});
const range = (receipts: readonly ChargedReceipt[], of: RunParameters) => {
  const estimate = estimateOf(receipts, of);
  assert.ok(estimate.kind === 'range', JSON.stringify(estimate));
  return [estimate.lowCents, estimate.highCents];
};
const kind = (receipts: readonly ChargedReceipt[], of: RunParameters) => estimateOf(receipts, of).kind;

/** What a service may charge for. The extension counts the first three. */
interface FullSize {
  bytes: number;
  rows: number;
  characters: number;
  tokens: number;
  isNight: boolean;
  /** How many tokens the longest row has. */
  longest: number;
}
/** Returns cents. */
type PriceRule = (size: FullSize) => number;

const RULES: Readonly<Record<string, PriceRule>> = {
  flat: () => 500,
  'per MB with a minimum': ({ bytes }) => Math.max(300, (bytes / MB) * 120),
  'per MB with a base': ({ bytes }) => 200 + (bytes / MB) * 80,
  'tiers by rows': ({ rows }) =>
    tier(rows, [1_000, 300], [5_000, 700], [20_000, 1_500], [80_000, 4_000], [Infinity, 9_000]),
  'tiers by MB': ({ bytes }) =>
    tier(bytes / MB, [1, 300], [5, 700], [20, 1_500], [80, 4_000], [Infinity, 9_000]),
  'per token': ({ tokens }) => tokens * 0.0004,
  'falling token tiers': ({ tokens }) => marginal(tokens, [1e6, 0.0008], [1e7, 0.0005], [Infinity, 0.0002]),
  'rising token tiers': ({ tokens }) => marginal(tokens, [1e6, 0.0003], [1e7, 0.0005], [Infinity, 0.0008]),
  // Smaller datasets are trained for more epochs.
  'epochs by size': ({ bytes, tokens }) =>
    tokens * 0.0002 * tier(bytes / MB, [1, 8], [5, 5], [20, 3], [Infinity, 2]),
  'rows and tokens': ({ rows, tokens }) => 100 + rows * 0.05 + tokens * 0.0003,
};

/** Rules under which equal sizes have different prices. */
const UNSEEN_RULES: Readonly<Record<string, PriceRule>> = {
  'day and night': ({ tokens, isNight }) => tokens * (isNight ? 0.0002 : 0.0004),
  'padding to the longest row': ({ rows, longest }) => rows * longest * 0.0001,
};

function tier(amount: number, ...tiers: [upTo: number, cents: number][]): number {
  return tiers.find(([upTo]) => amount <= upTo)?.[1] ?? NaN;
}

function marginal(amount: number, ...tiers: [upTo: number, centsEach: number][]): number {
  let from = 0;
  let cents = 0;
  for (const [upTo, centsEach] of tiers) {
    cents += Math.max(0, Math.min(amount, upTo) - from) * centsEach;
    from = upTo;
  }
  return cents;
}

/**
 * Returns one user's datasets: versions of one to three, which grow, are sampled, or change slightly. A fifth of the users
 * never work at night, the others half of the time. In half of the projects, all versions have the same longest row.
 * @param unseen determines what the extension doesn't count
 */
function history(random: Random, count: number, unseen: Random): FullSize[] {
  const betweenOf = (source: Random, low: number, high: number) => low * (high / low) ** source.fraction();
  const between = (low: number, high: number) => betweenOf(random, low, high);
  const nights = unseen.chance(0.2) ? 0 : 0.5;
  const longestRow = () => betweenOf(unseen, 3, 30);
  const projects = Array.from({ length: 1 + random.below(3) }, () => ({
    longest: unseen.chance(0.5) ? longestRow() : undefined,
    rows: between(200, 40_000),
    charactersEach: between(150, 3_000),
    bytesEach: random.chance(0.8) ? between(1, 1.15) : between(1.6, 2.9),
    tokensEach: between(0.2, 0.35),
  }));
  return Array.from({ length: count }, () => {
    const project = random.of(projects);
    const { charactersEach, bytesEach, tokensEach } = project;
    if (random.chance(0.35)) project.rows *= between(1.1, 2.5);
    const sample = random.chance(0.15) ? between(0.05, 0.5) : between(0.95, 1.05);
    const rows = Math.max(10, Math.round(project.rows * sample));
    const characters = Math.round(rows * charactersEach * between(0.93, 1.07));
    const tokens = Math.round(characters * tokensEach * between(0.97, 1.03));
    const longest = (project.longest ?? longestRow()) * charactersEach * tokensEach;
    const bytes = Math.round(characters * bytesEach);
    return { bytes, rows, characters, tokens, isNight: unseen.chance(nights), longest };
  });
}

describe('estimate', () => {
  describe('of a price', () => {
    const fourAndFive = [paid(4, 400), paid(5, 500)];

    it('is none without receipts', () => assert.deepEqual(estimateOf([], wanted(1)), { kind: 'none' }));

    it('is the price of the only receipt, without a range', () =>
      assert.deepEqual(estimateOf([paid(4, 400)], wanted(4)), {
        kind: 'one',
        sizeBytes: 4 * MB,
        priceCents: 400,
        currency: 'USD',
      }));

    it('is a range from two receipts on, whatever their order', () => {
      const expected = { kind: 'range', lowCents: 400, highCents: 630, currency: 'USD', runs: 2 };
      assert.deepEqual(estimateOf(fourAndFive, wanted(5)), expected);
      assert.deepEqual(estimateOf(fourAndFive.toReversed(), wanted(5)), expected);
    });

    it('is the last price of the same bytes in the same queue', () => {
      const first = paid(4, 400);
      const again = { ...paid(4, 420), dataset: first.dataset };
      const { sha256 } = first.dataset;
      assert.deepEqual(estimateOf([again, first, paid(4, 410)], wanted(4, { sha256 })), {
        kind: 'same',
        priceCents: 420,
        currency: 'USD',
        atMs: again.created.localMs,
      });
      assert.equal(kind([again, first], wanted(4, { sha256, priority: true })), 'none');
    });

    it('is none if any size differs more than fourfold', () => {
      const receipts = [paid(4, 400), paid(4, 410)];
      assert.equal(kind(receipts, wanted(16.1)), 'none');
      assert.equal(kind(receipts, wanted(16)), 'range');
      const rows = [4_500, 5_000].map((count) => paid(4, 400, { dataset: { rows: count } }));
      const kindFor = (count: number) =>
        kind(rows, { size: { bytes: 4 * MB, rows: count }, priority: false });
      assert.deepEqual([kindFor(900), kindFor(1_250)], ['none', 'range']);
    });

    it('is none while fewer than seven of the last ten ranges held, shown or not, from four ranges on', () => {
      const after = (...held: boolean[]) => {
        let cents = 400;
        const prices = [400, ...held.map((holds) => (cents = holds ? cents : 1_300 - cents))];
        // The last two agree, so that there would be a range.
        return kind(
          prices.map((price) => paid(4, price)),
          wanted(4),
        );
      };
      const [yes, no] = [true, false];
      assert.equal(after(no, no, yes), 'range');
      assert.equal(after(yes, no, no, yes), 'none');
      assert.equal(after(yes, no, yes, yes), 'range');
      const six = [no, yes, no, yes, no, yes, no, yes, yes, yes];
      assert.equal(after(...six), 'none');
      // The first one is no longer among the last ten.
      assert.equal(after(...six, yes), 'range');
      // A price of the same bytes is no range.
      const { sha256 } = paid(4, 900).dataset;
      const receipts = [400, 900, 400, 900, 400, 900].map((cents) => paid(4, cents));
      const again = paid(4, 900, { dataset: { sha256 } });
      assert.equal(kind([...receipts, again], wanted(4)), 'none');
      assert.equal(kind([...receipts, again], wanted(4, { sha256 })), 'same');
      // Runs that cost nothing have no ranges.
      const free = [0, 400, 0, 400, 0, 400, 400].map((cents) => paid(4, cents));
      assert.equal(kind(free, wanted(4)), 'range');
    });

    it('is none while only one receipt follows a changed price', () => {
      const change = paid(4, 900);
      assert.equal(kind([...fourAndFive, change], wanted(4)), 'none');
      assert.deepEqual(range([...fourAndFive, change, paid(4, 900)], wanted(4)), [720, 1_200]);
      // A charge in the other queue came after it.
      const later = paid(4, 900, { priority_processing: true });
      assert.equal(kind([...fourAndFive, change, later], wanted(4)), 'none');
    });

    it('of priority processing is none if only the standard queue is known', () => {
      const small = paid(0.1, 30, priority);
      const asked = wanted(4, { priority: true });
      for (const receipts of [fourAndFive, [...fourAndFive, small], [paid(4, 400)], [paid(40, 400), small]])
        assert.equal(kind(receipts, asked), 'none');
      const both = [...fourAndFive, paid(4, 700, priority), paid(4, 710, priority)];
      assert.deepEqual(range(both, asked), [560, 890]);
      assert.deepEqual(range(both, wanted(5)), [400, 630]);
    });

    it('of the standard queue is none if only priority processing was charged', () =>
      assert.equal(kind([paid(4, 700, priority), paid(4, 710, priority)], wanted(4)), 'none'));

    it('is none if the nearest run cost nothing, even with the same bytes', () => {
      const free = [paid(4, 0), paid(4, 0)];
      assert.equal(kind(free, wanted(4)), 'none');
      assert.equal(kind(free, wanted(4, { sha256: free[0]?.dataset.sha256 })), 'none');
      assert.equal(kind([paid(4, 0)], wanted(4)), 'none');
      // The account has other runs, so none is its one run.
      const usedUp = [...free, paid(4, 400)];
      assert.equal(kind(usedUp, wanted(4)), 'none');
      assert.equal(kind([...usedUp, paid(4, 400)], wanted(4)), 'range');
    });
  });

  describe('by the rule', () => {
    it('is proportional to every size of the nearest receipt', () => {
      const sizes = (rows: number, characters: number) => ({ dataset: { rows, characters } });
      const receipts = [paid(4, 400, sizes(1_000, 4 * MB)), paid(4, 400, sizes(1_000, 4 * MB))];
      const size = { bytes: 8 * MB, rows: 500, characters: 6 * MB };
      assert.deepEqual(range(receipts, { size, priority: false }), [160, 1_000]);
      // Rows and characters are ignored if the receipt lacks them.
      assert.deepEqual(range([paid(4, 400), paid(4, 400)], { size, priority: false }), [400, 1_000]);
    });

    it('uses the newest of equally near receipts', () =>
      assert.deepEqual(range([paid(4, 400), paid(4, 480)], wanted(4)), [380, 600]));

    it('is not below a clearly smaller run or above a clearly larger one', () => {
      assert.deepEqual(range([paid(3, 390), paid(4, 400)], wanted(4)), [390, 500]);
      assert.deepEqual(range([paid(5, 450), paid(4, 400)], wanted(4)), [320, 450]);
      // Not clearly smaller: 5 % apart.
      assert.deepEqual(range([paid(3.8, 390), paid(4, 400)], wanted(4)), [320, 500]);
    });

    it('ignores a bound that contradicts the nearest receipt', () =>
      assert.deepEqual(range([paid(16, 600), paid(4, 400), paid(1, 395)], wanted(4)), [390, 500]));

    it('is never a single number', () => {
      const flat = [paid(2, 500), paid(8, 500)];
      assert.deepEqual(range(flat, wanted(4)), [490, 510]);
    });

    it('rounds its ends outward to two digits', () => {
      assert.deepEqual(range([paid(4, 12_345), paid(4, 12_345)], wanted(4)), [9_800, 16_000]);
      assert.deepEqual(range([paid(4, 7), paid(4, 7)], wanted(4)), [5, 9]);
      assert.deepEqual(range([paid(4, 1), paid(4, 1)], wanted(4)), [0, 2]);
      // Both are exact, but not as floating-point numbers.
      assert.deepEqual(range([paid(10, 400), paid(10, 400)], wanted(11)), [400, 550]);
      assert.deepEqual(range([paid(22, 11_000), paid(22, 11_000)], wanted(15)), [6_000, 11_000]);
    });

    it('replays receipts in the order of their charges', () => {
      // It was created first but sent last, so its price is the newest.
      const late = paid(4, 900, { attempts: [uploadedAttempt(made + 10)] });
      const receipts = [late, paid(4, 400), paid(4, 410)];
      assert.equal(kind(receipts, wanted(4)), 'none');
    });

    it('uses only receipts with a known price in the balance’s currency, under the newest plan', () => {
      const noPrice = { run: { price_cents: undefined } };
      const others = [
        paid(4, 900, { run: { currency: 'EUR' } }),
        paid(4, 100, { run: { plan_name: 'Pro' } }),
        paid(4, 0, noPrice),
        paid(4, -1),
      ];
      const ours = [paid(4, 400), paid(4, 410)];
      assert.deepEqual(estimateOf([...others, ...ours], wanted(4)), {
        kind: 'range',
        lowCents: 320,
        highCents: 520,
        currency: 'USD',
        runs: 2,
      });
    });

    it('uses no price of another plan, even if it would fit', () => {
      const pro = { run: { plan_name: 'Pro' } };
      assert.equal(kind([paid(4, 400, pro), paid(4, 410)], wanted(4)), 'one');
      const unpriced = { run: { ...pro.run, price_cents: undefined } };
      assert.equal(kind([paid(4, 400), paid(4, 410), paid(4, 0, unpriced)], wanted(4)), 'none');
    });

    it('uses the currency that the balance has now, and had before a charge', () => {
      const euros = [paid(4, 200, { run: { currency: 'EUR' } }), paid(4, 210, { run: { currency: 'EUR' } })];
      const kindIn = (currency: string | undefined) => estimateIn(euros, wanted(4), currency).kind;
      assert.deepEqual(['EUR', 'JPY', undefined].map(kindIn), ['range', 'none', 'range']);
      const before = (currency: string) =>
        estimateBefore(euros, paid(4, 9, { balanceBefore: { balance_cents: 5, currency } })).kind;
      assert.deepEqual(['EUR', 'JPY'].map(before), ['range', 'none']);
    });

    it('uses the currency of the balance and any plan if the response was lost', () => {
      const first = paid(4, 400);
      const lost = paid(4, 410, {
        run: { currency: undefined, plan_name: undefined },
        balanceBefore: { balance_cents: 5_000, currency: 'USD' },
      });
      assert.deepEqual(range([first, lost], wanted(4)), [320, 520]);
      assert.equal(kind([{ ...lost, balanceBefore: undefined }], wanted(4)), 'none');
    });
  });

  describe('of a charged run', () => {
    const history = [paid(4, 400), paid(4, 400), paid(4, 410), paid(4, 900), paid(4, 900), paid(4, 910)];
    const before = (index: number) => estimateBefore(history, history[index]!);

    it('is based on what was known then', () => {
      assert.deepEqual([before(0).kind, before(1).kind, before(4).kind], ['none', 'one', 'none']);
      const { lowCents, highCents } = likelyEnds(before(3)) ?? {};
      assert.deepEqual([lowCents, highCents], [320, 520]);
    });

    it('ignores receipts that were found later', () => {
      const [first, second, third] = history as [ChargedReceipt, ChargedReceipt, ChargedReceipt];
      const late = { ...second, charge: { ...second.charge, at: { localMs: third.created.localMs + 1 } } };
      assert.equal(estimateBefore([first, late, third], third).kind, 'one');
    });

    it('counts as correct if its price was within the range in the same currency', () => {
      assert.deepEqual(rangeAccuracy(history), { correct: 2, of: 3 });
      const euros = paid(4, 900, { run: { currency: 'EUR' } });
      assert.deepEqual(rangeAccuracy([...history, euros]), { correct: 2, of: 3 });
    });
  });

  it('has ends only with a range or a price of the same bytes', () => {
    const one = { sizeBytes: 1, priceCents: 5, currency: 'USD' };
    assert.equal(likelyEnds({ kind: 'none' }), undefined);
    assert.equal(likelyEnds({ kind: 'one', ...one }), undefined);
    const ends = { lowCents: 5, highCents: 5 };
    assert.deepEqual(likelyEnds({ kind: 'same', priceCents: 5, currency: 'USD', atMs: 0 }), ends);
  });

  describe('for unknown price rules', () => {
    const rules = Object.entries(RULES);
    const results = rules.map(([name, rule]) => ({ name, ...replay(name, rule, [1]) }));
    const shareCorrect = (tries: readonly Try[]) => share(tries, ({ isCorrect }) => isCorrect);

    it('is correct for 93 % of the shown ranges, and for 80 % under each rule', () => {
      for (const { name, shown } of results)
        assert.ok(shareCorrect(shown) >= 0.8, `${name}: ${shareCorrect(shown)}`);
      const all = shareCorrect(results.flatMap(({ shown }) => shown));
      assert.ok(all >= 0.93, String(all));
    });

    it('is correct for 88 % when prices change by up to a quarter without notice', () => {
      const shown = rules.flatMap(([name, rule]) => replay(name, rule, [0.8, 0.9, 1.1, 1.25]).shown);
      assert.ok(shareCorrect(shown) >= 0.88, String(shareCorrect(shown)));
    });

    it('is wrong once when prices change by more', () => {
      const shown = rules.flatMap(([name, rule]) => replay(name, rule, [0.5, 2]).shown);
      const after = shown.filter(({ isChange }) => !isChange);
      assert.ok(shareCorrect(after) >= 0.93, String(shareCorrect(after)));
    });

    it('is narrow, and is shown for most runs', () => {
      const widths = results.flatMap(({ shown }) => shown.map(({ width }) => width)).sort((a, b) => a - b);
      const median = widths[Math.floor(widths.length / 2)] ?? NaN;
      assert.ok(median <= 1.8, String(median));
      const runs = results.reduce((sum, { runs: count }) => sum + count, 0);
      assert.ok(widths.length / runs >= 0.6, String(widths.length / runs));
    });

    it('is mostly not shown where the price follows what isn’t counted, and is correct for 70 % of what is shown', () => {
      for (const [name, rule] of Object.entries(UNSEEN_RULES)) {
        const { shown, runs } = replay(name, rule, [1], 80, 40);
        assert.ok(shareCorrect(shown) >= 0.7, `${name}: ${shareCorrect(shown)}`);
        assert.ok(shown.length / runs <= 0.5, `${name}: ${shown.length / runs}`);
      }
    });

    /** Simulates `users` who submit 3 to `most` times; midway, all prices are multiplied by one of `changes`. */
    function replay(
      name: string,
      rule: PriceRule,
      changes: number[],
      users = 200,
      most = 12,
    ): { shown: Try[]; runs: number } {
      const random = new Random(name.length);
      const unseen = new Random(name.length);
      const shown: Try[] = [];
      let runs = 0;
      for (let user = 0; user < users; user++) {
        const count = 3 + random.below(most - 2);
        const changeAt = 1 + random.below(count - 1);
        const change = random.of(changes);
        const receipts: ChargedReceipt[] = [];
        for (const [index, full] of history(random, count, unseen).entries()) {
          const { bytes, rows, characters } = full;
          const size = { bytes, rows, characters };
          const cents = Math.round(rule(full) * (index < changeAt ? 1 : change));
          const estimate = estimateOf(receipts, { size, priority: false });
          if (receipts.length >= 2) runs++;
          if (estimate.kind === 'range') {
            const { lowCents, highCents } = estimate;
            const isCorrect = lowCents <= cents && cents <= highCents;
            shown.push({ isCorrect, isChange: index === changeAt, width: highCents / lowCents });
          }
          receipts.push(paid(size.bytes / MB, cents, { dataset: size }));
        }
      }
      return { shown, runs };
    }
  });
});

interface Try {
  isCorrect: boolean;
  isChange: boolean;
  width: number;
}

function share<T>(all: readonly T[], is: (one: T) => boolean): number {
  return all.filter(is).length / all.length;
}
