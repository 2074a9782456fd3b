// Inspecting, verifying and measuring an adapter of 500 MB beside `sha256sum`, which reads the same bytes.
import path from 'node:path';
import type { AdapterJob } from './adapterChild.ts';
import { BenchAdapter } from './adapterFiles.ts';
import { bundled, inFolder, interleaved, RUNS, type Series } from './measure.ts';
import { megabytes, say, seconds, table } from './results.ts';

const SMALL_BYTES = 50_000_000;
const LARGE_BYTES = 500_000_000;
const RANK = 16;

/** Measures adapters, in about two minutes, and returns a section of RESULTS.md. */
export function benchAdapter(): Promise<string> {
  return inFolder(async (folder) => {
    const worker = path.join(import.meta.dirname, '../../src/core/adapters/worker.ts');
    const jobOf = await bundled(folder, 'adapterChild.ts', { worker });
    const job = (task: AdapterJob['task'], file: string) =>
      jobOf({ task, file, worker: path.join(folder, 'worker.mjs') } satisfies AdapterJob);
    say('writing adapters');
    const [small, large, packed] = ['small.zip', 'large.zip', 'large.tar.gz'].map((name) =>
      path.join(folder, name),
    ) as [string, string, string];
    await new BenchAdapter(SMALL_BYTES, RANK).writeZip(small);
    await new BenchAdapter(LARGE_BYTES, RANK).writeZip(large);
    await new BenchAdapter(LARGE_BYTES, RANK).writeTarGz(packed);
    const ofLarge = await interleaved('500 MB', {
      sha256sum: { command: 'sha256sum', args: [large] },
      inspect: job('inspect', large),
      verify: job('verify', large),
      measure: job('measure', large),
    });
    const ofPacked = await interleaved('500 MB, packed', {
      gzip: { command: 'gzip', args: ['-t', packed] },
      inspect: job('inspect', packed),
      measure: job('measure', packed),
    });
    const ofSmall = await interleaved('50 MB', {
      inspect: job('inspect', small),
      verify: job('verify', small),
      measure: job('measure', small),
    });
    return [
      `An adapter of 500 MB in brain floats, beside \`sha256sum\` of the same file (${seconds(ofLarge.sha256sum.ms)} s), and packed as tar.gz
beside \`gzip -t\` (${seconds(ofPacked.gzip.ms)} s). Each figure is the median of ${RUNS} runs in turn, ratios are taken round by round. Each run is a
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
          row('Inspecting a ZIP', ofLarge.inspect, ofLarge.sha256sum, ofSmall.inspect),
          row('Verifying it', ofLarge.verify, ofLarge.sha256sum, ofSmall.verify),
          row('Measuring it', ofLarge.measure, ofLarge.sha256sum, ofSmall.measure),
          row('Inspecting a tar.gz', ofPacked.inspect, ofPacked.gzip),
          row('Measuring it', ofPacked.measure, ofPacked.gzip),
        ],
      ),
    ].join('\n\n');
  });
}

function row(what: string, series: Series, peer: Series, less?: Series): string[] {
  const bytes = series.reported('peakBytes');
  return [
    what,
    seconds(series.reported('workMs'), 3),
    series.over(peer).toFixed(2),
    megabytes(bytes),
    less === undefined ? '–' : megabytes(bytes - less.reported('peakBytes'), 1),
    series.reported('delayP99Ms').toFixed(1),
    series.reported('delayMaxMs').toFixed(1),
  ];
}
