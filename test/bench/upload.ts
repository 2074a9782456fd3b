// The upload of 600 MB on loopback beside `curl -F`, without and with the digest, and what it costs the rest of the process.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { sha256OfFile } from '../../src/core/api/dataset.ts';
import type { RunSubmission } from '../../src/core/api/types.ts';
import { DIGEST_WORKER } from '../helpers/digestWorker.ts';
import { interleaved, type Job, type Series } from './measure.ts';
import { machine, say } from './results.ts';
import type { UploadJob } from './uploadChild.ts';
import { sectionOf } from './uploadSection.ts';

const TINY_BYTES = 1_000;
const SMALL_BYTES = 60_000_000;
const PACED_BYTES = 120_000_000;
const LARGE_BYTES = 600_000_000;
const PACE_BYTES_PER_SECOND = 60_000_000;
const CAP_MS = 60_000;

type Dataset = RunSubmission['dataset'];

/** Measures the upload, in about two minutes, and returns a section of RESULTS.md. */
export async function benchUpload(): Promise<string> {
  const before = machine();
  const folder = await mkdtemp(path.join(tmpdir(), 'fine-tuning-bench-'));
  const sinks: ChildProcess[] = [];
  const sink = async (...args: string[]) => {
    const child = fork(path.join(import.meta.dirname, 'sink.ts'), args);
    sinks.push(child);
    const [port] = (await once(child, 'message')) as [number];
    return `http://127.0.0.1:${port}`;
  };
  try {
    const job = await jobsOf(folder);
    const fast = await sink();
    const paced = await sink(String(PACE_BYTES_PER_SECOND));
    say('writing datasets');
    const [tiny, small, middle, large] = [
      await dataset(folder, TINY_BYTES),
      await dataset(folder, SMALL_BYTES),
      await dataset(folder, PACED_BYTES),
      await dataset(folder, LARGE_BYTES),
    ] as const;
    const { curl, ...speed } = await checked('600 MB', {
      curl: curlJob(fast, large),
      plain: job({ baseUrl: fast, first: plain(small), dataset: plain(large) }),
      hashed: job({ baseUrl: fast, first: small, dataset: large }),
    });
    return sectionOf({
      machine: before,
      curl,
      speed,
      start: await checked('start', {
        plain: job({ baseUrl: fast, first: plain(tiny), dataset: plain(tiny) }),
        hashed: job({ baseUrl: fast, first: tiny, dataset: tiny }),
      }),
      small: await checked('memory, 60 MB', {
        plain: job({ baseUrl: fast, dataset: plain(small) }),
        hashed: job({ baseUrl: fast, dataset: small }),
      }),
      large: await checked('memory, 600 MB', {
        plain: job({ baseUrl: fast, dataset: plain(large) }),
        hashed: job({ baseUrl: fast, dataset: large }),
      }),
      idealMs: (PACED_BYTES / PACE_BYTES_PER_SECOND) * 1000,
      paced: await checked('120 MB at 60 MB/s', {
        plain: job({ baseUrl: paced, first: plain(tiny), dataset: plain(middle), watches: true }),
        hashed: job({ baseUrl: paced, first: tiny, dataset: middle, watches: true }),
      }),
      watched: await checked('event loop, 600 MB', {
        plain: job({ baseUrl: fast, first: plain(small), dataset: plain(large), watches: true }),
        hashed: job({ baseUrl: fast, first: small, dataset: large, watches: true }),
      }),
    });
  } finally {
    for (const child of sinks) child.kill();
    await rm(folder, { recursive: true });
  }
}

async function checked<Name extends string>(
  title: string,
  jobs: Readonly<Record<Name, Job>>,
): Promise<Record<Name, Series>> {
  const all = await interleaved(title, jobs);
  for (const [name, { failure }] of Object.entries<Series>(all))
    if (failure !== undefined) throw new Error(`${title}: ${name} ${failure}`);
  return all;
}

/** Real bytes, not a hole: reading a hole costs nothing. */
async function dataset(folder: string, sizeBytes: number): Promise<Dataset> {
  const file = path.join(folder, `${sizeBytes}.jsonl`);
  const handle = await open(file, 'w');
  const row = `${JSON.stringify({ question: 'x'.repeat(480), answer: 'y'.repeat(480) })}\n`;
  const block = Buffer.from(row.repeat(1_000));
  for (let left = sizeBytes; left > 0; left -= block.length)
    await handle.write(block, 0, Math.min(block.length, left));
  await handle.close();
  const sha256 = await sha256OfFile(file, { worker: DIGEST_WORKER });
  return { path: file, filename: 'dataset.jsonl', sizeBytes, sha256 };
}

function plain({ path, filename, sizeBytes }: Dataset): Dataset {
  return { path, filename, sizeBytes };
}

function curlJob(baseUrl: string, { path }: Dataset): Job {
  const fields = ['-F', 'model_id=m', '-F', `dataset=@${path}`];
  return {
    command: 'curl',
    args: ['-sS', '-f', '-H', 'Expect:', ...fields, `${baseUrl}/api/v1/runs`],
    reports: false,
    capMs: CAP_MS,
  };
}

/** Bundles the child and the thread that hashes as they are shipped, so that nothing is compiled while they are timed. */
async function jobsOf(folder: string): Promise<(job: Omit<UploadJob, 'digestWorker'>) => Job> {
  await build({
    entryPoints: { child: path.join(import.meta.dirname, 'uploadChild.ts'), digestWorker: DIGEST_WORKER },
    outdir: folder,
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    minify: true,
    logLevel: 'warning',
  });
  return (job) => ({
    command: process.execPath,
    args: [
      path.join(folder, 'child.cjs'),
      JSON.stringify({ ...job, digestWorker: path.join(folder, 'digestWorker.cjs') } satisfies UploadJob),
    ],
    reports: true,
    capMs: CAP_MS,
  });
}
