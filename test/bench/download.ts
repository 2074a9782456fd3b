// The download of 600 MB on loopback beside `curl -o`, without and with the SHA-256, and what it costs the rest of the process.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import type { DownloadJob } from './downloadChild.ts';
import { sectionOf } from './downloadSection.ts';
import { interleaved, type Job, type Series } from './measure.ts';
import { machine } from './results.ts';

const SMALL_BYTES = 60_000_000;
const LARGE_BYTES = 600_000_000;
const CAP_MS = 60_000;

/** Measures the download, in about a minute, and returns a section of RESULTS.md. */
export async function benchDownload(): Promise<string> {
  const before = machine();
  const folder = await mkdtemp(path.join(tmpdir(), 'fine-tuning-bench-'));
  const source = fork(path.join(import.meta.dirname, 'source.ts'));
  try {
    const [port] = (await once(source, 'message')) as [number];
    const baseUrl = `http://127.0.0.1:${port}`;
    const job = await jobsOf(folder, baseUrl);
    const { curl, ...speed } = await checked('600 MB', {
      curl: curlJob(folder, `${baseUrl}/blob/${LARGE_BYTES}`),
      plain: job({ firstBytes: SMALL_BYTES, bytes: LARGE_BYTES, hashes: false }),
      hashed: job({ firstBytes: SMALL_BYTES, bytes: LARGE_BYTES, hashes: true }),
    });
    return sectionOf({
      machine: before,
      curl,
      speed,
      small: await checked('memory, 60 MB', {
        plain: job({ bytes: SMALL_BYTES, hashes: false }),
        hashed: job({ bytes: SMALL_BYTES, hashes: true }),
      }),
      large: await checked('memory, 600 MB', {
        plain: job({ bytes: LARGE_BYTES, hashes: false }),
        hashed: job({ bytes: LARGE_BYTES, hashes: true }),
      }),
      watched: await checked('event loop, 600 MB', {
        plain: job({ firstBytes: SMALL_BYTES, bytes: LARGE_BYTES, hashes: false, watches: true }),
        hashed: job({ firstBytes: SMALL_BYTES, bytes: LARGE_BYTES, hashes: true, watches: true }),
      }),
    });
  } finally {
    source.kill();
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

/** Says itself how long it took, so that neither its start nor taking the file away is part of it. */
function curlJob(folder: string, url: string): Job {
  const report = '{"workMs":%{time_total}e3}';
  const script = 'curl -sS -f -w "$2" -o "$0" "$1" && rm "$0"';
  return {
    command: 'sh',
    args: ['-c', script, path.join(folder, 'curl.zip'), url, report],
    reports: true,
    capMs: CAP_MS,
  };
}

/** Bundles the child as the extension is shipped, so that nothing is compiled while it is timed. */
async function jobsOf(
  folder: string,
  baseUrl: string,
): Promise<(job: Omit<DownloadJob, 'folder' | 'baseUrl'>) => Job> {
  const script = path.join(folder, 'child.cjs');
  await build({
    entryPoints: [path.join(import.meta.dirname, 'downloadChild.ts')],
    outfile: script,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    minify: true,
    logLevel: 'warning',
  });
  return (job) => ({
    command: process.execPath,
    args: [script, JSON.stringify({ ...job, folder, baseUrl } satisfies DownloadJob)],
    reports: true,
    capMs: CAP_MS,
  });
}
