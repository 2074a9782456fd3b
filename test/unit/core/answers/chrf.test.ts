import assert from 'node:assert/strict';
import { Chrf } from '../../../../src/core/answers/chrf.ts';
import { Random } from '../../../helpers/random.ts';

describe('Chrf', () => {
  const score = (answer: string, expected: string) => new Chrf(expected).score(answer);

  it('has the values of sacrebleu', () => {
    for (const [answer, expected, value] of [
      ['The cat sat on the mat.', 'The cat is on the mat.', 67.17273492330233],
      ['{"sum": 7}', '{"sum": 8}', 68.66402116402116],
      ['The sum is 7.', '{"sum": 7}', 13.626485591586194],
      ['Grüße 👩‍🚀 aus Köln', 'Grüße aus Köln 👩‍🚀', 60.21811521811522],
      ['no no no no', 'no', 55.00000000000001],
    ] as const)
      assert.ok(Math.abs(score(answer, expected) - value) < 1e-9, `${answer} ${score(answer, expected)}`);
  });

  it('is 100 for equal texts, whatever their white space, and 0 without any in common', () => {
    for (const text of ['a', 'abc', 'a\u2003\n b', '\ud800', '__proto__'.repeat(1_000)])
      assert.ok(Math.abs(score(text, text.replace(/\s+/g, '')) - 100) < 1e-9, text);
    for (const [answer, expected] of [
      ['', ''],
      ['', 'a'],
      ['a', ''],
      [' ', ' '],
      ['abc', 'xyz'],
    ] as const)
      assert.equal(score(answer, expected), 0);
  });

  it('is what a simple way to compute it says', () => {
    const random = new Random(1);
    const letters = Array.from('aab c\n👩🚀é\ud800');
    const text = (most: number) => random.several(most, () => random.of(letters)).join('');
    for (let time = 0; time < 400; time++) {
      const most = random.of([3, 12, 300]);
      const [expected, base] = [text(most), text(most)];
      const adapter = random.chance(0.5) ? expected.replace(random.of(letters), 'x') : text(most);
      const chrf = new Chrf(expected);
      // The answers don't influence each other, in any order.
      for (const answer of random.chance(0.5) ? [base, adapter] : [adapter, base])
        assert.ok(Math.abs(chrf.score(answer) - simpleChrf(answer, expected)) < 1e-9);
    }
  });

  it('compares 8,000 code points, and says so', () => {
    const text = '👩 '.repeat(8_000);
    const whole = new Chrf(text);
    assert.ok(Math.abs(whole.score(text) - 100) < 1e-9);
    assert.ok(!whole.isShortened);
    assert.ok(Math.abs(whole.score(`${text} \n`) - 100) < 1e-9);
    assert.ok(!whole.isShortened);
    const answered = new Chrf(text);
    assert.ok(Math.abs(answered.score(`${text}x`) - 100) < 1e-9);
    assert.ok(answered.isShortened);
    assert.ok(new Chrf(`${text}x`).isShortened);
  });

  it('compares texts in which no n-gram is twice', () => {
    const points = Array.from({ length: 8_000 }, (_, index) => 0x4e00 + index);
    const expected = String.fromCodePoint(...points);
    const answer = String.fromCodePoint(...points.slice(4_000), ...points.slice(0, 4_000));
    assert.ok(Math.abs(score(answer, expected) - simpleChrf(answer, expected)) < 1e-9);
  });
});

function simpleChrf(answer: string, expected: string): number {
  const [ours, theirs] = [answer, expected].map((text) => Array.from(text.replace(/\s/g, ''))) as [
    string[],
    string[],
  ];
  let [precision, recall, orders] = [0, 0, 0];
  for (let n = 1; n <= 6; n++) {
    const [one, other] = [gramsOf(ours, n), gramsOf(theirs, n)];
    if (one.length === 0 || other.length === 0) continue;
    const left = new Map<string, number>();
    for (const gram of other) left.set(gram, (left.get(gram) ?? 0) + 1);
    let matches = 0;
    for (const gram of one) {
      const count = left.get(gram) ?? 0;
      if (count > 0) matches++;
      left.set(gram, count - 1);
    }
    precision += matches / one.length;
    recall += matches / other.length;
    orders++;
  }
  const [p, r] = [precision / orders, recall / orders];
  return p + r > 0 ? (500 * p * r) / (4 * p + r) : 0;
}

function gramsOf(points: readonly string[], n: number): string[] {
  return Array.from({ length: Math.max(0, points.length - n + 1) }, (_, at) =>
    points.slice(at, at + n).join(''),
  );
}
