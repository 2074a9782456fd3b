// The download of 600 MB on loopback beside `curl -o`, and what it costs the rest of the process.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { DownloadJob } from './downloadChild.ts';
import { bundled, inFolder, interleaved, RUNS, type Job } from './measure.ts';
import { atMost, megabytes, seconds, table } from './results.ts';

const SMALL_BYTES = 60_000_000;
const LARGE_BYTES = 600_000_000;

/** Measures the download, in about a minute, and returns a section of RESULTS.md. */
export function benchDownload(): Promise<string> {
  return inFolder(async (folder) => {
    const source = fork(path.join(import.meta.dirname, 'source.ts'));
    try {
      const [port] = (await once(source, 'message')) as [number];
      return await measure(folder, `http://127.0.0.1:${port}`);
    } finally {
      source.kill();
    }
  });
}

async function measure(folder: string, baseUrl: string): Promise<string> {
  const jobOf = await bundled(folder, 'downloadChild.ts');
  const job = (what: Pick<DownloadJob, 'firstBytes' | 'bytes'>) =>
    jobOf({ folder, baseUrl, ...what } satisfies DownloadJob);
  const { curl, ours } = await interleaved('600 MB', {
    curl: curlJob(folder, `${baseUrl}/blob/${LARGE_BYTES}`),
    ours: job({ firstBytes: SMALL_BYTES, bytes: LARGE_BYTES }),
  });
  const { small, large } = await interleaved('memory', {
    small: job({ bytes: SMALL_BYTES }),
    large: job({ bytes: LARGE_BYTES }),
  });
  const growth = large.reported('peakBytes') - small.reported('peakBytes');
  return [
    `The download on loopback, with its SHA-256, beside \`curl -o\` to the same disk. Each figure is the median of ${RUNS} runs in turn,
the ratio is taken round by round. Each run is a process of its own; curl reports its own time, ours is measured from the call to the
file under its final name, in a process that has downloaded before. Ours is durable by then; curl leaves that to the system. What
provides the bytes is a process too, and its work is part of all figures.`,
    '### Targets',
    table(
      ['Download', 'Target', 'Measured', 'Verdict'],
      [
        atMost('600 MB: time / curl', 1.35, ours.over(curl), 2),
        atMost('growth of memory from 60 to 600 MB, MB', 8, growth / 1e6, 1),
      ],
    ),
    '### Figures',
    table(
      ['', 'curl', 'Ours'],
      [
        ['600 MB, s', seconds(curl.reported('workMs')), seconds(ours.reported('workMs'))],
        ['Most memory (resident), 60 MB, MB', '–', megabytes(small.reported('peakBytes'), 1)],
        ['Most memory, 600 MB, MB', '–', megabytes(large.reported('peakBytes'), 1)],
        ['Event loop delay at full speed, 99th percentile, ms', '–', ours.reported('delayP99Ms').toFixed(1)],
        ['Event loop delay at full speed, longest, ms', '–', ours.reported('delayMaxMs').toFixed(1)],
      ],
    ),
  ].join('\n\n');
}

/** Reports its own time, so that neither its start nor removing the file is part of it. */
function curlJob(folder: string, url: string): Job {
  const script = 'curl -sS -f -w "$2" -o "$0" "$1" && rm "$0"';
  const args = ['-c', script, path.join(folder, 'curl.zip'), url, '{"workMs":%{time_total}e3}'];
  return { command: 'sh', args, reports: true };
}
