// The download of 600 MB on loopback beside `curl -o`, and what it costs the rest of the process.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import type { DownloadJob } from './downloadChild.ts';
import { interleaved, RUNS, type Job, type Series } from './measure.ts';
import { machine, median, table } from './results.ts';

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
    const { curl, ours } = await checked('600 MB', {
      curl: curlJob(folder, `${baseUrl}/blob/${LARGE_BYTES}`),
      ours: job({ firstBytes: SMALL_BYTES, bytes: LARGE_BYTES }),
    });
    const { small, large, watched } = await checked('memory and event loop', {
      small: job({ bytes: SMALL_BYTES }),
      large: job({ bytes: LARGE_BYTES }),
      watched: job({ firstBytes: SMALL_BYTES, bytes: LARGE_BYTES, watches: true }),
    });
    const ratios = ours.runs.map(
      ({ said }, round) => (said.workMs ?? NaN) / (curl.runs[round]?.said.workMs ?? NaN),
    );
    const [smallMb, largeMb] = [small, large].map((series) => series.said('peakBytes') / 1e6);
    const growth = (largeMb ?? NaN) - (smallMb ?? NaN);
    return [
      before,
      `The download on loopback, with its SHA-256, beside \`curl -o\` to the same disk. Each figure is the median of ${RUNS} runs in turn,
the ratio is taken round by round. Each run is a process of its own; curl reports its own time, ours is measured from the call to the
file under its final name, in a process that has downloaded before. Ours is durable by then; curl leaves that to the system. What
provides the bytes is a process too, and its work is part of all figures.`,
      '### Targets',
      table(
        ['Download', 'Target', 'Measured', 'Verdict'],
        [
          atMost('600 MB: time / curl', 1.35, median(ratios), 2),
          atMost('growth of memory from 60 to 600 MB, MB', 8, growth, 1),
        ],
      ),
      '### Figures',
      table(
        ['', 'curl', 'Ours'],
        [
          ['600 MB, s', seconds(curl.said('workMs')), seconds(ours.said('workMs'))],
          ['Most memory (resident), 60 MB, MB', '–', (smallMb ?? NaN).toFixed(1)],
          ['Most memory, 600 MB, MB', '–', (largeMb ?? NaN).toFixed(1)],
          ['Event loop delay at full speed, 99th percentile, ms', '–', watched.said('delayP99Ms').toFixed(1)],
          ['Event loop delay at full speed, longest, ms', '–', watched.said('delayMaxMs').toFixed(1)],
        ],
      ),
    ].join('\n\n');
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

function atMost(what: string, limit: number, figure: number, digits: number): string[] {
  return [what, `≤ ${limit}`, figure.toFixed(digits), figure <= limit ? 'met' : 'missed'];
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(2);
}
