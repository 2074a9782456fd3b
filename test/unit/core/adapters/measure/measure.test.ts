import assert from 'node:assert/strict';
import { measureAdapter, type MeasureOptions } from '../../../../../src/core/adapters/measure/measure.ts';
import type { Measurements } from '../../../../../src/core/adapters/report.ts';
import { sampleAdapter, type SampleOptions } from '../../../../helpers/adapters/sampleAdapter.ts';
import {
  encode,
  withHeader,
  writeTensors,
  type WrittenTensor,
} from '../../../../helpers/adapters/safetensorsWriter.ts';
import { Random } from '../../../../helpers/random.ts';
import { MEASURE_WORKER, Place, tarGzOf, zipOf } from '../../../../helpers/adapters/support.ts';

const WEIGHTS = 'adapter_model.safetensors';
const Q = 'base_model.model.model.layers.0.self_attn.q_proj';

describe('measuring an adapter', () => {
  const place = new Place();

  async function measure(bytes: Buffer, options: Partial<MeasureOptions> = {}): Promise<Measurements> {
    return await measureAdapter(await place.file(bytes), { worker: MEASURE_WORKER, ...options });
  }
  const measureSample = (options: SampleOptions) => measure(zipOf(sampleAdapter(options)));

  for (const dtype of ['F32', 'F16', 'BF16'])
    for (const rank of [1, 3, 4, 9])
      it(`finds norms and exact updates in ${dtype} of rank ${rank}`, async () => {
        const kept: WrittenTensor[] = [];
        const found = await measureSample({
          dtype,
          rank,
          tensors: (all) => {
            kept.push(...all);
            return all;
          },
        });
        const exact = await exactly(rank, dtype);
        assert.equal(found.pairs.length, 4);
        let squares = 0;
        for (const [index, pair] of found.pairs.entries()) {
          const { a, b, update } = exact[index]!;
          close(pair.a?.norm, a);
          close(pair.b?.norm, b);
          close(pair.update, 2 * update);
          close(pair.updateBound, 2 * a * b);
          assert.ok(pair.update! <= pair.updateBound!);
          squares += (2 * update) ** 2;
        }
        close(found.update, Math.sqrt(squares));
        assert.deepEqual(
          [found.nans, found.infinities, found.zeroPairs, found.hasNoEffect],
          [0, 0, 0, false],
        );
        assert.equal(
          found.values,
          kept.reduce((sum, { shape }) => sum + shape[0]! * shape[1]!, 0),
        );
      });

  /** By multiplying A and B. */
  async function exactly(rank: number, dtype: string): Promise<{ a: number; b: number; update: number }[]> {
    const tensors: WrittenTensor[] = [];
    // The sample's values are the same in each dtype, and F32 is easily read.
    sampleAdapter({ rank, dtype: 'F32', tensors: (all) => (tensors.push(...all), all) });
    assert.ok(dtype);
    return await Promise.resolve(
      [0, 2, 4, 6].map((at) => {
        const [a, b] = [tensors[at]!, tensors[at + 1]!].map(
          ({ data }) => new Float32Array(new Uint8Array(data).buffer),
        ) as [Float32Array, Float32Array];
        const inputs = a.length / rank;
        let squares = 0;
        for (let row = 0; row < b.length / rank; row++)
          for (let column = 0; column < inputs; column++) {
            let sum = 0;
            for (let k = 0; k < rank; k++) sum += b[row * rank + k]! * a[k * inputs + column]!;
            squares += sum * sum;
          }
        const norm = (values: Float32Array) =>
          Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));
        return { a: norm(a), b: norm(b), update: Math.sqrt(squares) };
      }),
    );
  }

  it('finds the same in large matrices, whatever the container', async () => {
    const random = new Random(3);
    const values = (count: number) => Array.from({ length: count }, () => random.fraction() - 0.5);
    const [a, b] = [values(16 * 5000), values(9001 * 16)];
    // B first, and A far behind it.
    const weights = writeTensors([
      { name: `${Q}.lora_B.weight`, dtype: 'F32', shape: [9001, 16], data: encode('F32', b) },
      { name: 'base_model.model.lm_head.weight', dtype: 'F32', shape: [3], data: encode('F32', [1, 2, 3]) },
      { name: `${Q}.lora_A.weight`, dtype: 'F32', shape: [16, 5000], data: encode('F32', a) },
    ]);
    const files = { ...sampleAdapter({ rank: 16 }), [WEIGHTS]: weights };
    // Of random values, rows of BA are nearly independent: ‖BA‖² is about r·m·n/144.
    const results = [
      await measure(zipOf(files)),
      await measure(zipOf(files, { isDeflated: true })),
      await measure(tarGzOf(files)),
    ];
    for (const { pairs, update } of results) {
      // Sums of other batches round otherwise.
      for (const key of ['update', 'updateBound'] as const)
        close(pairs[0]?.[key], results[0]!.pairs[0]![key]!);
      close(update, results[0]?.update ?? NaN);
      assert.ok(Math.abs(update / 2 / Math.sqrt((16 * 5000 * 9001) / 144) - 1) < 0.02, `${update}`);
    }
  });

  it('tells what has no effect', async () => {
    const zero = await measureSample({ isZero: true });
    assert.deepEqual([zero.zeroPairs, zero.hasNoEffect, zero.update], [4, true, 0]);
    assert.ok(zero.pairs.every(({ a, b }) => b?.isZero === true && !a?.isZero));
    const saved = await measureSample({
      isZero: true,
      tensors: (all) => [
        ...all,
        { name: 'base_model.model.lm_head.weight', dtype: 'F32', shape: [1], data: encode('F32', [1]) },
      ],
    });
    assert.deepEqual([saved.zeroPairs, saved.hasNoEffect], [4, false]);
    const unseen = await measureSample({
      isZero: true,
      tensors: (all) => [
        ...all,
        { name: 'base_model.model.lm_head.weight', dtype: 'I8', shape: [1], data: encode('I8', [0]) },
      ],
    });
    assert.deepEqual([unseen.zeroPairs, unseen.hasNoEffect], [4, false]);
    const one = await measureSample({
      isZero: true,
      tensors: ([a, b, ...rest]) => [
        a!,
        { ...b!, data: Buffer.concat([b!.data.subarray(4), encode('F32', [1e-45])]) },
        ...rest,
      ],
    });
    assert.deepEqual([one.zeroPairs, one.hasNoEffect], [3, false]);
    const negative = await measureSample({
      isZero: true,
      dtype: 'BF16',
      tensors: (all) =>
        all.map((one) =>
          one.name.includes('lora_B')
            ? {
                ...one,
                data: encode(
                  'BF16',
                  Array.from({ length: one.data.length / 2 }, () => -0),
                ),
              }
            : one,
        ),
    });
    assert.equal(negative.hasNoEffect, true);
  });

  for (const dtype of ['F32', 'F16', 'BF16'])
    it(`counts what is not finite in ${dtype}`, async () => {
      const width = dtype === 'F32' ? 4 : 2;
      const found = await measureSample({
        dtype,
        tensors: ([a, ...rest]) => [
          {
            ...a!,
            data: Buffer.concat([
              encode(dtype, [NaN, Infinity, -Infinity, NaN, NaN]),
              a!.data.subarray(5 * width),
            ]),
          },
          ...rest,
        ],
      });
      assert.deepEqual([found.nans, found.infinities], [3, 2]);
      assert.deepEqual(found.nonFinite, [`${Q}.lora_A.weight`]);
      const { a, b, update, updateBound } = found.pairs[0]!;
      assert.deepEqual(
        [a?.nans, a?.infinities, a?.norm, b?.nans, update, updateBound],
        [3, 2, NaN, 0, undefined, undefined],
      );
      assert.ok(found.pairs[1]!.update! > 0);
    });

  it('finds the largest values finite', async () => {
    const largest = 3.4028234663852886e38;
    const { pairs, infinities } = await measureSample({
      tensors: ([a, ...rest]) => [
        {
          ...a!,
          data: encode(
            'F32',
            Array.from({ length: 96 }, () => largest),
          ),
        },
        ...rest,
      ],
    });
    close(pairs[0]?.a?.norm, largest * Math.sqrt(96));
    assert.equal(infinities, 0);
  });

  it('names what it does not measure', async () => {
    const { notMeasured, values, pairs, hasNoEffect } = await measureSample({ dtype: 'F64' });
    assert.deepEqual(notMeasured, [{ dtype: 'F64', tensors: 8, parameters: 576, sizeBytes: 8 * 576 }]);
    assert.deepEqual(
      [values, hasNoEffect, pairs[0]],
      [0, false, { path: 'model.layers.0.self_attn.q_proj', layer: 0, module: 'q_proj' }],
    );
  });

  it('knows no update without a partner, a scale or a fitting rank', async () => {
    for (const options of [
      {
        tensors: (all: WrittenTensor[]) =>
          all.map((one) => (one.name.includes('lora_B') ? { ...one, shape: [one.shape[0]!, 2, 2] } : one)),
      },
      { tensors: (all: WrittenTensor[]) => all.filter(({ name }) => name.includes('lora_A')) },
      { config: { lora_alpha: null } },
      {
        tensors: (all: WrittenTensor[]) =>
          all.map((one) =>
            one.name.includes('lora_B') ? { ...one, shape: [1, one.shape[0]! * one.shape[1]!] } : one,
          ),
      },
    ])
      for (const { update } of (await measureSample(options)).pairs) assert.equal(update, undefined);
  });

  it('tells how far it is', async () => {
    const told: number[] = [];
    const file = zipOf(sampleAdapter({ layers: 40, modules: { q_proj: [512, 512] }, rank: 16 }));
    await measure(file, { onProgress: ({ doneBytes, totalBytes }) => told.push(doneBytes / totalBytes) });
    assert.equal(told.at(-1), 1);
    assert.deepEqual(
      told,
      told.toSorted((a, b) => a - b),
    );
  });

  it('leaves at once when it is told to', async () => {
    await assert.rejects(measure(zipOf(sampleAdapter()), { signal: AbortSignal.abort() }), {
      code: 'cancelled',
    });
    const stop = new AbortController();
    const going = measure(zipOf(sampleAdapter({ layers: 60 })), { signal: stop.signal });
    setTimeout(() => stop.abort(), 20);
    await assert.rejects(going, { code: 'cancelled' });
  });

  it('says why there is nothing to measure', async () => {
    const wrongCrc = zipOf(sampleAdapter(), { crc: 1 });
    for (const [bytes, verdict] of [
      [Buffer.from('no archive'), { code: 'not-an-archive' }],
      [
        zipOf({ ...sampleAdapter(), [WEIGHTS]: withHeader('{}', Buffer.from('x')) }),
        { code: 'broken', fault: 'safetensors-length', entry: WEIGHTS },
      ],
      [wrongCrc, { code: 'broken', fault: 'zip-crc', entry: 'adapter_config.json' }],
    ] as const)
      await assert.rejects(measure(bytes), { code: 'not-an-adapter', verdict });
    await assert.rejects(measure(zipOf(sampleAdapter()), { worker: `${place.folder}/none.js` }), {
      code: 'measuring-failed',
    });
  });
});

function close(found: number | undefined, expected: number): void {
  assert.ok(
    found !== undefined && Math.abs(found - expected) <= 1e-9 * Math.abs(expected),
    `${found} is not ${expected}`,
  );
}
