import assert from 'node:assert/strict';
import { runInWorker, type Measurements, type WorkerOptions } from '../../../../src/core/adapters/report.ts';
import { sampleAdapter, type SampleOptions } from '../../../helpers/adapters/sampleAdapter.ts';
import {
  encode,
  tensor,
  withHeader,
  writeTensors,
  type WrittenTensor,
} from '../../../helpers/adapters/safetensorsWriter.ts';
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

  it('measures the norm of each B', async () => {
    // Each dtype represents the sample's values exactly; F32 is the easiest to read.
    const plain: WrittenTensor[] = [];
    sampleAdapter({ tensors: (all) => (plain.push(...all), all) });
    const norms = plain
      .filter(({ name }) => name.includes('lora_B'))
      .map(({ data }) => Math.hypot(...new Float32Array(new Uint8Array(data).buffer)));
    const values = plain.reduce((sum, { shape }) => sum + shape[0]! * shape[1]!, 0);
    for (const dtype of DTYPES) {
      const found = await measureSample({ dtype });
      found.pairs.forEach(({ norm }, index) => close(norm, norms[index]!));
      assert.deepEqual([found.pairs.length, found.values], [norms.length, values]);
      assert.deepEqual([found.nans, found.infinities, found.hasNoEffect], [0, 0, false]);
    }
  });

  it('measures large tensors at odd offsets, in any container', async () => {
    const values = (count: number) =>
      Array.from({ length: count }, (_, index) => Math.fround(Math.sin(index)));
    const [a, b] = [values(4 * 50_001), values(100_003 * 4)];
    const weights = writeTensors([
      tensorOf('odd.weight', 'I8', [1]),
      tensorOf(`${Q}.lora_B.weight`, 'F32', b, 4),
      tensorOf(`${Q}.lora_A.weight`, 'BF16', a, 50_001),
    ]);
    const files = { ...sampleAdapter(), [WEIGHTS]: weights };
    for (const bytes of [zipOf(files), zipOf(files, { isDeflated: true }), tarGzOf(files)]) {
      const { pairs, values: count } = await measure(bytes);
      close(pairs[0]?.norm, Math.sqrt(b.reduce((sum, value) => sum + value ** 2, 0)));
      assert.equal(count, a.length + b.length);
    }
  });

  it('measures A of embeddings, because their A starts at zero', async () => {
    const embedding = 'base_model.model.model.embed_tokens.lora_embedding_';
    const { pairs } = await measureSample({
      tensors: () => [
        tensorOf(`${embedding}A`, 'F32', [3, 4], 2),
        tensorOf(`${embedding}B`, 'F32', [1, 1, 1, 1]),
      ],
    });
    close(pairs[0]?.norm, 5);
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
      assert.deepEqual(
        [found.hasNoEffect, found.pairs.filter(({ isZero }) => isZero).length],
        [hasNoEffect, zeros],
      );
    }
  });

  it('counts NaN and infinity', async () => {
    const broken = [NaN, Infinity, -Infinity, NaN, NaN];
    const tensors = replaceB((count) => [...broken, ...Array<number>(count - 5).fill(1)]);
    for (const dtype of DTYPES) {
      const found = await measureSample({ dtype, tensors });
      assert.deepEqual([found.nans, found.infinities, found.nonFinite.length], [12, 8, 4]);
      assert.equal(found.nonFinite[0], `${Q}.lora_B.weight`);
      const { isZero, nonFinite, norm } = found.pairs[0]!;
      assert.deepEqual([isZero, nonFinite, norm], [false, 5, undefined]);
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

function close(found: number | undefined, expected: number): void {
  assert.ok(
    found !== undefined && Math.abs(found - expected) <= 1e-9 * Math.abs(expected),
    `${found} is not ${expected}`,
  );
}
