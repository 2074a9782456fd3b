import assert from 'node:assert/strict';
import { Values, type MeasuredDtype } from '../../../../../src/core/adapters/measure/values.ts';
import { encode } from '../../../../helpers/adapters/safetensorsWriter.ts';

const SAMPLE = [0, 1, -1, 0.5, 1.5, -2.75, 65504, 2 ** -14, 2 ** -24, -(2 ** -20), 0.099_975_585_937_5];

describe('values of tensors', () => {
  const decode = (dtype: MeasuredDtype, bytes: Buffer, pieceBytes: number) => {
    const values = new Values();
    const found: number[] = [];
    values.begin(dtype);
    for (let at = 0; at < bytes.length; at += pieceBytes)
      values.add(bytes.subarray(at, at + pieceBytes), (batch) => found.push(...batch));
    return { found, sums: values.end() };
  };

  for (const [dtype, exact] of [
    ['F32', (value: number) => Math.fround(value)],
    ['F16', (value: number) => value],
    [
      'BF16',
      (value: number) =>
        new Float32Array(
          Uint32Array.of((new Uint32Array(Float32Array.of(value).buffer)[0]! >>> 16) << 16).buffer,
        )[0]!,
    ],
  ] as const)
    it(`are the same in ${dtype}, however the bytes come`, () => {
      for (const pieceBytes of [1, 2, 3, 5, 7, 1000]) {
        const { found, sums } = decode(dtype, encode(dtype, SAMPLE), pieceBytes);
        const expected = SAMPLE.map(exact);
        assert.deepEqual(found, expected);
        assert.equal(sums.values, SAMPLE.length);
        const squares = expected.reduce((sum, value) => sum + value * value, 0);
        assert.ok(Math.abs(sums.squares - squares) <= 1e-9 * squares);
      }
    });

  it('are all zero, whatever their signs, or not', () => {
    for (const dtype of ['F32', 'F16', 'BF16'] as const) {
      assert.equal(decode(dtype, encode(dtype, [0, -0, 0]), 3).sums.isZero, true);
      for (const bit of [0, 1, 7]) {
        const bytes = encode(dtype, [0, -0, 0]);
        bytes[bytes.length - 2] = 1 << bit;
        assert.equal(decode(dtype, bytes, 3).sums.isZero, false);
      }
    }
  });

  it('of one tensor are not mixed with those of the next', () => {
    const values = new Values();
    values.begin('F32');
    values.add(Buffer.from([1, 2, 3]), () => assert.fail());
    values.begin('BF16');
    const found: number[] = [];
    values.add(encode('BF16', [2]), (batch) => found.push(...batch));
    assert.deepEqual([found, values.end().values], [[2], 1]);
  });
});
