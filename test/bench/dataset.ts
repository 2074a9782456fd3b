// The check of datasets beside the floor: one thread that splits at LF, decodes and calls JSON.parse, and checks nothing else.
import path from 'node:path';
import { checkerFiles } from '../helpers/checker.ts';
import type { DatasetJob } from './datasetChild.ts';
import { chatRows, hasTarget, worstCases, type DatasetFile } from './datasetFiles.ts';
import { bundled, inFolder, interleaved, RUNS, type Job, type Series } from './measure.ts';
import { findPeers, type Peer } from './peers.ts';
import { atMost, megabytes, say, seconds, table } from './results.ts';

const SMALL_BYTES = 60_000_000;
const LARGE_BYTES = 600_000_000;
const OURS = 'our check';
/** The check takes as many at most, where there are as many cores. */
const WORKERS = [1, 2, 3, 4];

type MakeJob = (task: DatasetJob['task'], file: DatasetFile, workers?: number) => Job;

/** The figures of one file of chat rows. */
interface Figures {
  file: DatasetFile;
  floor: Series;
  check: Series;
  /** Both for the second time in a process, without its start. */
  floorAgain: Series;
  checkAgain: Series;
  /** Other programs by name, only for files without faults. */
  peers: Record<string, Series>;
}

/** Measures the check, in about five minutes, and returns a section of RESULTS.md. */
export function benchDataset(): Promise<string> {
  return inFolder(async (folder) => {
    const { worker, scanner } = await checkerFiles();
    const jobOf = await bundled(folder, 'datasetChild.ts', { worker });
    const job: MakeJob = (task, { path: file }, workers) =>
      jobOf({
        ...{ task, file, worker: path.join(folder, 'worker.mjs'), scanner },
        ...(workers === undefined ? {} : { workers }),
      } satisfies DatasetJob);
    const peers = await findPeers();
    say('writing datasets');
    const figures = [
      await measure('60 MB, clean', await chatRows(folder, SMALL_BYTES, false), job, peers),
      await measure('60 MB, faulty', await chatRows(folder, SMALL_BYTES, true), job),
      await measure('600 MB, clean', await chatRows(folder, LARGE_BYTES, false), job, peers),
      await measure('600 MB, faulty', await chatRows(folder, LARGE_BYTES, true), job),
    ] as const;
    const [small, , large] = figures;
    const { idle } = await interleaved('event loop', { idle: job('idle', large[1].file) });
    const byWorkers = await interleaved<string>(
      'workers',
      Object.fromEntries(WORKERS.map((count) => [String(count), job('check', large[1].file, count)])),
    );
    const worst = Object.entries(await worstCases(folder, SMALL_BYTES));
    const series = await interleaved<string>('worst cases', {
      floor: job('floor', small[1].file),
      ...Object.fromEntries(worst.map(([name, file]) => [name, { ...job('check', file), isOptional: true }])),
    });
    const cases = worst.map(([name, file]) => ({ name, file, series: series[name] as Series }));
    /** How fast a worst case goes, beside the floor with the clean file; 0 if it failed. */
    const speedOverFloor = ({ file, series: { failure }, series: one }: (typeof cases)[number]) =>
      failure === undefined
        ? file.sizeBytes / small[1].file.sizeBytes / one.over(series['floor'] as Series)
        : 0;
    return [
      `Each figure is the median of ${RUNS} runs in turn. Each run is a process of its own, measured from its start to its end: Node's own
start is part of all figures, and so is that of our workers and the compilation of the scanner; the files are in the system's
cache. **The floor** is one thread that splits at LF, decodes and calls \`JSON.parse\`, and checks nothing else. **The check** is
as users get it, secrets and duplicates included. **Again** is the second time in a process, without its start, of both.
Ratios are taken round by round. Files are chat rows of \`gen-jsonl.mjs\`; in the faulty ones every hundredth row is broken.`,
      '### Targets',
      targets(
        figures.map(([, of]) => of),
        Math.min(...cases.filter(({ name }) => hasTarget(name)).map(speedOverFloor)),
      ),
      '### Time',
      table(
        ['File', 'Floor, s', 'Floor, MB/s', 'Check, s', '/ floor', 'Again, s', '/ floor again'],
        figures.map(([name, { file, floor, check, floorAgain, checkAgain }]) => [
          name,
          ...[seconds(floor.ms), speed(file, floor), seconds(check.ms), check.over(floor).toFixed(2)],
          ...[seconds(checkAgain.reported('workMs')), checkAgain.over(floorAgain).toFixed(2)],
        ]),
      ),
      '### Memory',
      'The most that the process ever held (resident), Node itself included, in MB.',
      table(
        ['File', 'Floor', 'Check'],
        figures.map(([name, { floor, check }]) => [
          name,
          ...[floor, check].map((one) => megabytes(one.reported('peakBytes'))),
        ]),
      ),
      `The clean file of 600 MB, by workers. The check takes as many as there are cores, two to four: here more than two only cost
memory, the same wherever they run.`,
      table(
        ['Workers', 'Check, s', 'Memory, MB'],
        Object.entries(byWorkers).map(([count, one]) => [
          count,
          seconds(one.ms),
          megabytes(one.reported('peakBytes')),
        ]),
      ),
      '### Event loop',
      `The delay, in ms, in the process that has a file of 600 MB checked, and in one that does nothing. It is sampled
each millisecond, and that millisecond is part of the figures.`,
      table(
        ['Process', '99th percentile', 'Longest', 'Longest of all runs'],
        (
          [
            ['does nothing', idle],
            ['checks the clean file', large[1].check],
            ['checks the faulty file', figures[3][1].check],
          ] as const
        ).map(([name, one]) => [
          name,
          one.reported('delayP99Ms').toFixed(1),
          one.reported('delayMaxMs').toFixed(1),
          one.worst('delayMaxMs').toFixed(1),
        ]),
      ),
      '### Other programs',
      'The clean file; after 60 s they are stopped.',
      table(
        ['Program', '60 MB, s', '/ floor', '600 MB, s', '/ floor'],
        Object.keys({ ...small[1].peers, [OURS]: '' }).map((name) => [
          name,
          ...[small[1], large[1]].flatMap((of) => besideFloor(of, of.peers[name] ?? of.check)),
        ]),
      ),
      '### Worst cases',
      'Files of 60 MB, beside the floor with the clean file of that size.',
      table(
        ['File', 's', 'MB/s', 'Speed / floor', 'Memory, MB'],
        cases.map((one) => {
          if (one.series.failure !== undefined) return [one.name, one.series.failure, '–', '–', '–'];
          const memory = megabytes(one.series.reported('peakBytes'));
          const ratio = speedOverFloor(one).toFixed(2);
          return [one.name, seconds(one.series.ms), speed(one.file, one.series), ratio, memory];
        }),
      ),
    ].join('\n\n');
  });
}

async function measure(
  title: string,
  file: DatasetFile,
  job: MakeJob,
  others?: readonly Peer[],
): Promise<readonly [title: string, figures: Figures]> {
  const jobs: Record<string, Job> = {};
  if (others !== undefined) jobs['readline + JSON.parse'] = job('readline', file);
  for (const { name, command, argsFor } of others ?? [])
    jobs[name] = { command, args: argsFor(file.path), isOptional: true };
  const ours = {
    floor: job('floor', file),
    check: job('check', file),
    floorAgain: job('floorAgain', file),
    checkAgain: job('checkAgain', file),
  };
  const { floor, check, floorAgain, checkAgain, ...peers } = await interleaved(title, { ...jobs, ...ours });
  for (const { runs } of [floor, check, floorAgain, checkAgain])
    if (runs.some(({ report }) => report.rows !== file.rows)) throw new Error(`not all of ${title} was read`);
  return [title, { file, floor, check, floorAgain, checkAgain, peers }];
}

function targets(figures: readonly Figures[], slowest: number): string {
  const [smallClean, smallFaulty, ...large] = figures as [Figures, Figures, Figures, Figures];
  const small = [smallClean, smallFaulty];
  const worse = (files: readonly Figures[], of: (one: Figures) => number) => Math.max(...files.map(of));
  const growth = Math.max(
    ...small.map(
      (one, index) => (large[index]?.check.reported('peakBytes') ?? NaN) - one.check.reported('peakBytes'),
    ),
  );
  return table(
    ['The worse of clean and faulty', 'Target', 'Measured', 'Verdict'],
    [
      atMost(
        '600 MB: time / floor',
        0.45,
        worse(large, ({ check, floor }) => check.over(floor)),
        2,
      ),
      atMost(
        '60 MB, again: time / floor',
        1,
        worse(small, ({ checkAgain, floorAgain }) => checkAgain.over(floorAgain)),
        2,
      ),
      ...(
        [
          ['600 MB: event loop delay, 99th percentile, ms', 5, 'delayP99Ms'],
          ['600 MB: event loop delay, longest, ms', 20, 'delayMaxMs'],
        ] as const
      ).map(([what, limit, key]) =>
        atMost(
          what,
          limit,
          worse(large, ({ check }) => check.reported(key)),
          1,
        ),
      ),
      atMost('growth of memory from 60 to 600 MB, MB', 32, growth / 1e6, 1),
      [
        'slowest worst case of 60 MB: speed / floor',
        '≥ 0.25',
        slowest.toFixed(2),
        slowest >= 0.25 ? 'met' : 'missed',
      ],
    ],
  );
}

function besideFloor({ floor }: Figures, series: Series): string[] {
  return series.failure === undefined
    ? [seconds(series.ms), series.over(floor).toFixed(2)]
    : [series.failure, '–'];
}

/** MB/s. */
function speed({ sizeBytes }: DatasetFile, { ms }: Series): string {
  return (sizeBytes / 1000 / ms).toFixed(0);
}
