import assert from 'node:assert/strict';
import { runInWorker, type Measurements, type WorkerOptions } from '../../../../src/core/adapters/report.ts';
import {
  encode,
  tensor,
  withHeader,
  writeTensors,
  type WrittenTensor,
} from '../../../helpers/adapters/safetensorsWriter.ts';
import { sampleAdapter, type SampleOptions } from '../../../helpers/adapters/sampleAdapter.ts';
import { Place, tarGzOf, WORKER, zipOf } from '../../../helpers/adapters/support.ts';

const WEIGHTS = 'adapter_model.safetensors';
const Q = 'base_model.model.model.layers.0.self_attn.q_proj';
const DTYPES = ['F32', 'F16', 'BF16'] as const;

describe('measurePass', () => {
  const place = new Place();

  async function measure(bytes: Buffer, options: Partial<WorkerOptions> = {}): Promise<Measurements> {
    return await runInWorker('measure', await place.file(bytes), { worker: WORKER, ...options });
  }
  const measureSample = (options: SampleOptions) => measure(zipOf(sampleAdapter(options)));
  const tensorOf = (name: string, dtype: string, values: readonly number[], columns = 1) =>
    tensor(name, [values.length / columns, columns], dtype, (index) => values[index]!);
  const replaceB = (values: (count: number) => number[]) => (all: WrittenTensor[]) =>
    all.map((one) =>
      one.name.includes('lora_B')
        ? { ...one, data: encode(one.dtype, values(one.shape[0]! * one.shape[1]!)) }
        : one,
    );

  it('counts the values of each dtype', async () => {
    for (const dtype of DTYPES) {
      const { values, nans, infinities, zeroPairs, hasNoEffect } = await measureSample({ dtype });
      assert.deepEqual([values, nans, infinities], [2 * (4 * 24 + 16 * 4 + 4 * 24 + 8 * 4), 0, 0]);
      assert.deepEqual([zeroPairs, hasNoEffect], [0, false]);
    }
  });

  it('measures large tensors at odd offsets, in any container', async () => {
    const odd = (count: number, values: Readonly<Record<number, number>>) =>
      Array.from({ length: count }, (_, index) => values[index] ?? 0);
    const a = odd(4 * 50_001, { 70_000: NaN, [4 * 50_001 - 1]: -1e-38 });
    const b = odd(100_003 * 4, { 0: Infinity, 65_537: NaN, [100_003 * 4 - 1]: -Infinity });
    const weights = writeTensors([
      tensorOf('odd.weight', 'I8', [1]),
      tensorOf(`${Q}.lora_B.weight`, 'F32', b, 4),
      tensorOf(`${Q}.lora_A.weight`, 'BF16', a, 50_001),
    ]);
    const files = { ...sampleAdapter(), [WEIGHTS]: weights };
    for (const bytes of [zipOf(files), zipOf(files, { isDeflated: true }), tarGzOf(files)]) {
      const { values, nans, infinities } = await measure(bytes);
      assert.deepEqual([values, nans, infinities], [a.length + b.length, 2, 2]);
    }
  });

  it('finds one value that isn’t zero at the end of a large tensor', async () => {
    const zeros = (count: number) => Array<number>(count).fill(0);
    for (const [last, zeroPairs] of [
      [-0, 1],
      [1e-45, 0],
    ] as const) {
      const found = await measureSample({
        tensors: () => [
          tensorOf(`${Q}.lora_A.weight`, 'F32', [1, 1]),
          tensorOf(`${Q}.lora_B.weight`, 'F32', [...zeros(100_001), last]),
        ],
      });
      assert.deepEqual([found.zeroPairs, found.hasNoEffect], [zeroPairs, zeroPairs === 1]);
    }
  });

  it('reports no effect only if every pair and every other tensor is zero', async () => {
    const extra = (dtype: string, values: number[]) => (all: WrittenTensor[]) => [
      ...all,
      tensorOf('base_model.model.lm_head.weight', dtype, values),
    ];
    const first = (values: (count: number) => number[]) => (all: WrittenTensor[]) => [
      ...replaceB(values)(all.slice(0, 2)),
      ...all.slice(2),
    ];
    for (const [options, hasNoEffect, zeros] of [
      [{}, true, 4],
      [{ tensors: extra('F32', [1]) }, false, 4],
      [{ tensors: extra('F32', [0]) }, true, 4],
      // Values of this dtype are not read.
      [{ tensors: extra('I8', [0]) }, false, 4],
      [{ tensors: first((count) => [...Array<number>(count - 1).fill(0), 1e-45]) }, false, 3],
      [{ dtype: 'BF16', tensors: replaceB((count) => Array<number>(count).fill(-0)) }, true, 4],
    ] as const) {
      const found = await measureSample({ isZero: true, ...options });
      assert.deepEqual([found.hasNoEffect, found.zeroPairs], [hasNoEffect, zeros]);
    }
  });

  it('counts NaN and infinity', async () => {
    const broken = [NaN, Infinity, -Infinity, NaN, NaN];
    const tensors = replaceB((count) => [...broken, ...Array<number>(count - 5).fill(1)]);
    for (const dtype of DTYPES) {
      const found = await measureSample({ dtype, tensors });
      assert.deepEqual([found.nans, found.infinities, found.nonFinite.length], [12, 8, 4]);
      assert.equal(found.nonFinite[0], `${Q}.lora_B.weight`);
      assert.equal(found.zeroPairs, 0);
    }
  });

  it('stops at once when canceled', async () => {
    await assert.rejects(measure(zipOf(sampleAdapter()), { signal: AbortSignal.abort() }), {
      code: 'cancelled',
    });
    const stop = new AbortController();
    const measuring = measure(zipOf(sampleAdapter({ layers: 60 })), { signal: stop.signal });
    setTimeout(() => stop.abort(), 20);
    await assert.rejects(measuring, { code: 'cancelled' });
  });

  it('throws the reason if there is nothing to measure', async () => {
    for (const [bytes, verdict] of [
      [Buffer.from('no archive'), { code: 'not-an-archive' }],
      [
        zipOf({ ...sampleAdapter(), [WEIGHTS]: withHeader('{}', Buffer.from('x')) }),
        { code: 'broken', fault: 'length', entry: WEIGHTS },
      ],
      [
        zipOf(sampleAdapter(), { crc: 1 }),
        { code: 'broken', fault: 'checksum', entry: 'adapter_config.json' },
      ],
    ] as const)
      await assert.rejects(measure(bytes), { code: 'not-an-adapter', verdict });
    await assert.rejects(measure(zipOf(sampleAdapter()), { worker: `${place.folder}/none.js` }), Error);
  });
});
