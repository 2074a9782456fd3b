// Inspecting, verifying and measuring an adapter of 500 MB beside `sha256sum`, which reads the same bytes.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { BenchAdapter } from './adapterFiles.ts';
import { interleaved, RUNS, type Job, type Series } from './measure.ts';
import { machine, median, say, table } from './results.ts';

const SMALL_BYTES = 50_000_000;
const LARGE_BYTES = 500_000_000;
const CAP_MS = 120_000;
const SOURCES = {
  child: path.join(import.meta.dirname, 'adapterChild.ts'),
  worker: path.join(import.meta.dirname, '../../src/core/adapters/measure/measureWorker.ts'),
};

/** Measures the adapter room, in about two minutes, and returns a section of RESULTS.md. */
export async function benchAdapter(): Promise<string> {
  const before = machine();
  const folder = await mkdtemp(path.join(tmpdir(), 'fine-tuning-bench-'));
  try {
    const job = await jobsOf(folder);
    say('writing adapters');
    const file = (name: string) => path.join(folder, name);
    await new BenchAdapter(SMALL_BYTES, 16).writeZip(file('small.zip'));
    await new BenchAdapter(LARGE_BYTES, 16).writeZip(file('large.zip'));
    await new BenchAdapter(LARGE_BYTES, 16).writeTarGz(file('large.tar.gz'));
    const large = await checked('500 MB', {
      sha256sum: { command: 'sha256sum', args: [file('large.zip')], reports: false, capMs: CAP_MS },
      inspect: job('inspect', file('large.zip')),
      verify: job('verify', file('large.zip')),
      measure: job('measure', file('large.zip')),
    });
    const packed = await checked('500 MB, packed', {
      gzip: { command: 'gzip', args: ['-t', file('large.tar.gz')], reports: false, capMs: CAP_MS },
      inspect: job('inspect', file('large.tar.gz')),
      measure: job('measure', file('large.tar.gz')),
    });
    const small = await checked('50 MB', {
      inspect: job('inspect', file('small.zip')),
      verify: job('verify', file('small.zip')),
      measure: job('measure', file('small.zip')),
    });
    return sectionOf(before, large, packed, small);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function sectionOf(
  before: string,
  large: Record<'sha256sum' | 'inspect' | 'verify' | 'measure', Series>,
  packed: Record<'gzip' | 'inspect' | 'measure', Series>,
  small: Record<'inspect' | 'verify' | 'measure', Series>,
): string {
  const row = (what: string, series: Series, peer: Series, less?: Series) => [
    what,
    (series.said('workMs') / 1000).toFixed(3),
    over(series, peer).toFixed(2),
    (series.said('peakBytes') / 1e6).toFixed(0),
    less === undefined ? '–' : ((series.said('peakBytes') - less.said('peakBytes')) / 1e6).toFixed(1),
    series.said('delayP99Ms').toFixed(1),
    series.said('delayMaxMs').toFixed(1),
  ];
  const { sha256sum } = large;
  return [
    before,
    `An adapter of 500 MB in brain floats, beside \`sha256sum\` of the same file (${(sha256sum.ms / 1000).toFixed(2)} s), and packed as tar.gz
beside \`gzip -t\` (${(packed.gzip.ms / 1000).toFixed(2)} s). Each figure is the median of ${RUNS} runs in turn, ratios are taken round by round. Each run is a
process of its own; ours is measured from the call to its answer, the start of its thread included; the files are in the system's
cache. Inspecting reads headers only, of a packed archive everything. Verifying reads everything once, with CRC-32. Measuring reads
each value once, in a worker thread, for NaN, infinity and norms. Memory is the most that the process ever
held (resident), Node itself included; growth is from 50 to 500 MB. The event loop is sampled each millisecond, and that
millisecond is part of the figures.`,
    table(
      [
        '500 MB',
        'Time, s',
        '/ peer',
        'Memory, MB',
        'Growth, MB',
        'Event loop delay, 99th percentile, ms',
        'Longest, ms',
      ],
      [
        row('Inspecting a ZIP', large.inspect, sha256sum, small.inspect),
        row('Verifying it', large.verify, sha256sum, small.verify),
        row('Measuring it', large.measure, sha256sum, small.measure),
        row('Inspecting a tar.gz', packed.inspect, packed.gzip),
        row('Measuring it', packed.measure, packed.gzip),
      ],
    ),
  ].join('\n\n');
}

/** The median of the ratios, round by round. */
function over(ours: Series, peer: Series): number {
  return median(ours.runs.flatMap(({ said }, round) => (said.workMs ?? NaN) / (peer.runs[round]?.ms ?? NaN)));
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

/** Bundles the child and the thread as they are shipped. */
async function jobsOf(folder: string): Promise<(task: string, file: string) => Job> {
  await build({
    entryPoints: { child: SOURCES.child, worker: SOURCES.worker },
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    // Packages are CommonJS.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    minify: true,
    logLevel: 'warning',
  });
  return (task, file) => ({
    command: process.execPath,
    args: [path.join(folder, 'child.mjs'), task, file, path.join(folder, 'worker.mjs')],
    reports: true,
    capMs: CAP_MS,
  });
}
