// The upload of 600 MB on loopback beside `curl -F`, and what it costs the rest of the process.
import { fork, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import path from 'node:path';
import type { RunSubmission } from '../../src/core/api/types.ts';
import { DIGEST_WORKER } from '../helpers/digestWorker.ts';
import { bundled, inFolder, interleaved, RUNS } from './measure.ts';
import { atMost, megabytes, say, seconds, table } from './results.ts';
import type { UploadJob } from './uploadChild.ts';

const TINY_BYTES = 1_000;
const SMALL_BYTES = 60_000_000;
const PACED_BYTES = 120_000_000;
const LARGE_BYTES = 600_000_000;
const PACE_BYTES_PER_SECOND = 60_000_000;
const PACED_MS = (PACED_BYTES / PACE_BYTES_PER_SECOND) * 1000;

type Dataset = RunSubmission['dataset'];

/** Measures the upload, in about two minutes, and returns a section of RESULTS.md. */
export function benchUpload(): Promise<string> {
  return inFolder(async (folder) => {
    const sinks: ChildProcess[] = [];
    const sink = async (...args: string[]) => {
      const child = fork(path.join(import.meta.dirname, 'sink.ts'), args);
      sinks.push(child);
      const [port] = (await once(child, 'message')) as [number];
      return `http://127.0.0.1:${port}`;
    };
    try {
      return await measure(folder, await sink(), await sink(String(PACE_BYTES_PER_SECOND)));
    } finally {
      for (const child of sinks) child.kill();
    }
  });
}

async function measure(folder: string, fast: string, paced: string): Promise<string> {
  const jobOf = await bundled(folder, 'uploadChild.ts', { digestWorker: DIGEST_WORKER });
  say('writing datasets');
  const [tiny, small, middle, large] = [
    await writeDataset(folder, TINY_BYTES),
    await writeDataset(folder, SMALL_BYTES),
    await writeDataset(folder, PACED_BYTES),
    await writeDataset(folder, LARGE_BYTES),
  ] as const;
  const job = (baseUrl: string, dataset: Dataset, first?: Dataset) =>
    jobOf({
      baseUrl,
      dataset,
      first,
      digestWorker: path.join(folder, 'digestWorker.mjs'),
    } satisfies UploadJob);
  const fields = ['-F', 'model_id=m', '-F', `dataset=@${large.path}`];
  const curlArgs = ['-sS', '-f', '-H', 'Expect:', ...fields, `${fast}/api/v1/runs`];
  const full = await interleaved('600 MB', {
    curl: { command: 'curl', args: curlArgs },
    ours: job(fast, large, small),
  });
  const { ours: started } = await interleaved('start', { ours: job(fast, tiny, tiny) });
  const { ours: ofSmall } = await interleaved('memory, 60 MB', { ours: job(fast, small) });
  const { ours: ofLarge } = await interleaved('memory, 600 MB', { ours: job(fast, large) });
  const { ours: slowed } = await interleaved('120 MB at 60 MB/s', { ours: job(paced, middle, tiny) });

  const ratio = full.ours.over(full.curl);
  const growth = ofLarge.reported('peakBytes') - ofSmall.reported('peakBytes');
  const pace = slowed.reported('workMs') / PACED_MS;
  const delay = full.ours.reported('delayP99Ms');
  const slowedDelay = slowed.reported('delayP99Ms');
  return [
    `The upload on loopback beside \`curl -F\`, with the SHA-256 of the very bytes that are sent, for which the closing boundary
waits. Each figure is the median of ${RUNS} runs in turn, ratios are taken round by round. Each run is a process of its own;
curl is measured from its start to its end, ours from the call to the answer, in a process that has done an upload before. What
takes the bytes is a process too, and its work is part of all figures; files are in the system's cache.`,
    '### Targets',
    table(
      ['Upload', 'Target', 'Measured', 'Verdict'],
      [
        atMost('600 MB: time / curl', 3.5, ratio, 2),
        atMost('the same, stretch', 3, ratio, 2),
        atMost('growth of memory from 60 to 600 MB, MB', 8, growth / 1e6, 1),
        atMost('120 MB at 60 MB/s: time / ideal', 1.02, pace, 3),
        atMost('event loop delay at full speed, 99th percentile, ms', 10, delay, 1),
        atMost('event loop delay at 60 MB/s, 99th percentile, ms', 10, slowedDelay, 1),
      ],
    ),
    '### Figures',
    table(
      ['', 'curl', 'Ours'],
      [
        ['600 MB, s', seconds(full.curl.ms), seconds(full.ours.reported('workMs'))],
        ['600 MB, time / curl', '1.00', ratio.toFixed(2)],
        [
          'First upload of a process, 1 kB, with the start of Node, s',
          '–',
          seconds(started.reported('firstMs')),
        ],
        ['1 kB, the second upload, ms', '–', started.reported('workMs').toFixed(1)],
        ['Most memory (resident), 60 MB, MB', '–', megabytes(ofSmall.reported('peakBytes'), 1)],
        ['Most memory, 600 MB, MB', '–', megabytes(ofLarge.reported('peakBytes'), 1)],
        ['Growth from 60 to 600 MB, MB', '–', megabytes(growth, 1)],
        ['120 MB at 60 MB/s, time / ideal', '–', pace.toFixed(3)],
        ['Event loop delay at 60 MB/s, 99th percentile, ms', '–', slowedDelay.toFixed(1)],
        ['Event loop delay at full speed, 99th percentile, ms', '–', delay.toFixed(1)],
        ['Event loop delay at full speed, longest, ms', '–', full.ours.reported('delayMaxMs').toFixed(1)],
      ],
    ),
    `The event loop is sampled each millisecond, and that millisecond is part of the figures. What takes 60 MB/s has its tokens in a
bucket of 1 MB that is empty at the first byte, so that a pause of ours is lost for good.`,
  ].join('\n\n');
}

/** Real bytes, not a hole: reading a hole costs nothing. */
async function writeDataset(folder: string, sizeBytes: number): Promise<Dataset> {
  const file = path.join(folder, `${sizeBytes}.jsonl`);
  const handle = await open(file, 'w');
  const row = `${JSON.stringify({ question: 'x'.repeat(480), answer: 'y'.repeat(480) })}\n`;
  const block = Buffer.from(row.repeat(1_000));
  const sha256 = createHash('sha256');
  for (let left = sizeBytes; left > 0; left -= block.length) {
    const bytes = block.subarray(0, left);
    sha256.update(bytes);
    await handle.write(bytes);
  }
  await handle.close();
  return { path: file, filename: 'dataset.jsonl', sizeBytes, sha256: sha256.digest('hex') };
}
