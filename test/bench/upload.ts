// The upload of 600 MB on loopback beside `curl -F`, in one run, in turn, against one sink.
import { fork, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from '../../src/api/client.ts';
import { Transport } from '../../src/api/transport.ts';
import { machine, median, say, table } from './results.ts';

const SIZE_BYTES = 600_000_000;
const RUNS = 5;

/** Measures the upload and returns a section of RESULTS.md. */
export async function benchUpload(): Promise<string> {
  const before = machine();
  const folder = await mkdtemp(path.join(tmpdir(), 'fine-tuning-bench-'));
  const dataset = path.join(folder, 'dataset.jsonl');
  const sink = fork(path.join(import.meta.dirname, 'sink.ts'));
  const transport = new Transport({ strictSsl: true, systemCertificates: false, env: {} });
  try {
    await fill(dataset);
    const [port] = (await once(sink, 'message')) as [number];
    const baseUrl = `http://127.0.0.1:${port}`;
    const client = new Client({ baseUrl, apiKey: 'service_bench' }, () => transport);
    await upload(client, dataset);
    const rssBytes = process.memoryUsage().rss;
    let peakBytes = rssBytes;
    const pairs: { ours: number; curl: number }[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      const ours = await timed(() =>
        upload(client, dataset, () => (peakBytes = Math.max(peakBytes, process.memoryUsage.rss()))),
      );
      const curl = await timed(() => curlUpload(baseUrl, dataset));
      pairs.push({ ours, curl });
      say(`run ${run + 1}: ours ${ours.toFixed(0)} ms, curl ${curl.toFixed(0)} ms`);
    }
    return section(before, pairs, peakBytes - rssBytes);
  } finally {
    transport.dispose();
    sink.kill();
    await rm(folder, { recursive: true });
  }
}

function section(before: string, pairs: { ours: number; curl: number }[], grownBytes: number): string {
  const seconds = (values: number[]) => (median(values) / 1000).toFixed(2);
  return [
    before,
    `The upload of 600 MB on loopback beside \`curl -F\`, the median of ${RUNS} runs in turn. curl is measured with its start; ours runs in
a process that has done one upload before, and its memory is what the process grew by since.`,
    table(
      ['curl, s', 'Ours, s', 'Ours / curl', 'Growth of memory, MB'],
      [
        [
          seconds(pairs.map(({ curl }) => curl)),
          seconds(pairs.map(({ ours }) => ours)),
          median(pairs.map(({ ours, curl }) => ours / curl)).toFixed(2),
          (grownBytes / 1e6).toFixed(1),
        ],
      ],
    ),
  ].join('\n\n');
}

/** Real bytes, not a hole: reading a hole costs nothing. */
async function fill(file: string): Promise<void> {
  const handle = await open(file, 'w');
  const row = `${JSON.stringify({ question: 'x'.repeat(480), answer: 'y'.repeat(480) })}\n`;
  const block = Buffer.from(row.repeat(1_000));
  for (let left = SIZE_BYTES; left > 0; left -= block.length)
    await handle.write(block, 0, Math.min(block.length, left));
  await handle.close();
}

async function upload(client: Client, file: string, onProgress: () => void = () => undefined): Promise<void> {
  await client.createRun(
    {
      idempotencyKey: randomUUID(),
      boundary: randomUUID(),
      dataset: { path: file, filename: 'dataset.jsonl', sizeBytes: SIZE_BYTES },
      model_id: 'm',
      model_terms_accepted: true,
      data_policy_accepted: true,
      priority_processing: false,
    },
    { onProgress },
  );
}

function curlUpload(baseUrl: string, file: string): void {
  const fields = ['-F', 'model_id=m', '-F', `dataset=@${file}`];
  const { status } = spawnSync('curl', ['-sS', '-f', '-H', 'Expect:', ...fields, `${baseUrl}/api/v1/runs`]);
  if (status !== 0) throw new Error('curl is missing or failed');
}

async function timed(work: () => unknown): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}
