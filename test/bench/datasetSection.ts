import { hasTarget, type DatasetFile } from './datasetFiles.ts';
import { RUNS, type Series } from './measure.ts';
import { table } from './results.ts';

/** The figures of one file of chat rows. */
export interface FileFigures {
  file: DatasetFile;
  floor: Series;
  /** Everything, secrets and SHA-256 included, with two workers at most. */
  whole: Series;
  /** Grammar, UTF-8 and shape alone, in one worker. */
  shape: Series;
  /** Other programs, by what they are called; only for the file without faults. */
  peers: Record<string, Series>;
}

/** A chat file without faults, and one in which every hundredth row has one. */
export interface Pair<T> {
  clean: T;
  faulty: T;
}

export interface DatasetFigures {
  /** What it was measured on. */
  machine: string;
  /** 60 MB. */
  small: Pair<FileFigures>;
  /** 600 MB. */
  large: Pair<FileFigures>;
  /** The event loop while the large file is checked, and while nothing is. */
  delay: Pair<Series> & { idle: Series };
  worst: { floor: Series; floorFile: DatasetFile; cases: readonly WorstCase[] };
}

interface WorstCase {
  name: string;
  file: DatasetFile;
  series: Series;
}

/** The section of RESULTS.md. */
export function sectionOf(figures: DatasetFigures): string {
  return [
    figures.machine,
    `Each figure is the median of ${RUNS} runs in turn. Each run is a process of its own, measured from its start to its end: Node's own
start is part of all figures, and so is that of our workers and the compilation of the scanner; the files are in the system's
cache. **The floor** is one thread that splits at LF, decodes and calls \`JSON.parse\`, and checks nothing else. **Everything** is
the check as people get it, secrets, duplicates and SHA-256 included, with two workers at most. **Shape alone** is grammar, UTF-8
and shape in one worker. Ratios are taken round by round. Files are chat rows of \`gen-jsonl.mjs\`; in the faulty ones every
hundredth row is broken.`,
    '### Targets',
    targets(figures),
    '### Time',
    times(figures),
    '### Memory',
    'The most that the process ever held (resident), Node itself included, in MB.',
    memory(figures),
    '### Event loop',
    `The delay, in ms, in the process that has a file of 600 MB checked for everything, and in one that does nothing. It is looked at
each millisecond, and that millisecond is part of the figures.`,
    delays(figures),
    '### Other programs',
    'The clean file; after 60 s they are stopped.',
    peers(figures),
    '### Worst cases',
    'Everything, files of 60 MB, beside the floor with the clean file of that size.',
    worstCases(figures),
  ].join('\n\n');
}

function targets({ small, large, delay, worst }: DatasetFigures): string {
  const worse = (of: (pair: 'clean' | 'faulty') => number) => Math.max(of('clean'), of('faulty'));
  const whole = worse((pair) => large[pair].whole.over(large[pair].floor));
  const shape = worse((pair) => large[pair].shape.over(large[pair].floor));
  const growth = worse((pair) => growthOf(small[pair], large[pair]));
  const judged = worst.cases.filter(({ name }) => hasTarget(name));
  const slowest = Math.min(...judged.map((one) => speedOverFloor(worst, one)));
  const atMost = (what: string, limit: number, figure: number, digits: number) => [
    what,
    `≤ ${limit.toFixed(digits)}`,
    figure.toFixed(digits),
    figure <= limit ? 'met' : 'missed',
  ];
  return table(
    ['The worse of clean and faulty, 600 MB', 'Target', 'Measured', 'Verdict'],
    [
      atMost('everything, two workers at most: time / floor', 0.7, whole, 2),
      atMost('the same, stretch', 0.45, whole, 2),
      atMost('shape alone, one worker: time / floor', 0.6, shape, 2),
      atMost(
        'event loop delay, 99th percentile, ms',
        5,
        worse((pair) => delay[pair].said('delayP99Ms')),
        1,
      ),
      atMost(
        'event loop delay, longest, ms',
        20,
        worse((pair) => delay[pair].said('delayMaxMs')),
        1,
      ),
      atMost('everything: growth of memory from 60 MB, MB', 32, growth / 1e6, 1),
      [
        'slowest worst case of 60 MB: speed / floor',
        '≥ 0.25',
        slowest.toFixed(2),
        slowest >= 0.25 ? 'met' : 'missed',
      ],
    ],
  );
}

function times(figures: DatasetFigures): string {
  const row = (name: string, { file, floor, whole, shape }: FileFigures) => [
    name,
    seconds(floor),
    speed(file, floor).toFixed(0),
    seconds(whole),
    whole.over(floor).toFixed(2),
    seconds(shape),
    shape.over(floor).toFixed(2),
  ];
  return table(
    ['File', 'Floor, s', 'Floor, MB/s', 'Everything, s', '/ floor', 'Shape alone, s', '/ floor'],
    named(figures).map(([name, of]) => row(name, of)),
  );
}

function memory(figures: DatasetFigures): string {
  return table(
    ['File', 'Floor', 'Everything', 'Shape alone'],
    named(figures).map(([name, { floor, whole, shape }]) => [
      name,
      ...[floor, whole, shape].map((series) => megabytes(series.said('peakBytes'))),
    ]),
  );
}

function delays({ delay }: DatasetFigures): string {
  const row = (name: string, series: Series) => [
    name,
    series.said('delayP99Ms').toFixed(1),
    series.said('delayMaxMs').toFixed(1),
    series.worst('delayMaxMs').toFixed(1),
  ];
  return table(
    ['Process', '99th percentile', 'Longest', 'Longest of all runs'],
    [
      row('does nothing', delay.idle),
      row('checks the clean file', delay.clean),
      row('checks the faulty file', delay.faulty),
    ],
  );
}

function peers({ small, large }: DatasetFigures): string {
  const row = (of: FileFigures, series: Series) =>
    series.failure === undefined
      ? [seconds(series), series.over(of.floor).toFixed(2)]
      : [series.failure, '–'];
  const all = (of: FileFigures): Record<string, Series> => ({
    ...of.peers,
    'our check of everything': of.whole,
  });
  return table(
    ['Program', '60 MB, s', '/ floor', '600 MB, s', '/ floor'],
    Object.entries(all(small.clean)).map(([name, series]) => [
      name,
      ...row(small.clean, series),
      ...row(large.clean, all(large.clean)[name] ?? series),
    ]),
  );
}

function worstCases({ worst }: DatasetFigures): string {
  return table(
    ['File', 's', 'MB/s', 'Speed / floor', 'Memory, MB'],
    worst.cases.map((one) => {
      const { name, file, series } = one;
      if (series.failure !== undefined) return [name, series.failure, '–', '–', '–'];
      const memory = megabytes(series.said('peakBytes'));
      return [
        name,
        seconds(series),
        speed(file, series).toFixed(0),
        speedOverFloor(worst, one).toFixed(2),
        memory,
      ];
    }),
  );
}

function named({ small, large }: DatasetFigures): [name: string, figures: FileFigures][] {
  return [
    ['60 MB, clean', small.clean],
    ['60 MB, faulty', small.faulty],
    ['600 MB, clean', large.clean],
    ['600 MB, faulty', large.faulty],
  ];
}

function growthOf(small: FileFigures, large: FileFigures): number {
  return large.whole.said('peakBytes') - small.whole.said('peakBytes');
}

/** How fast a worst case goes, beside the floor; 0 if it failed. */
function speedOverFloor({ floor, floorFile }: DatasetFigures['worst'], { file, series }: WorstCase): number {
  if (series.failure !== undefined) return 0;
  return file.sizeBytes / floorFile.sizeBytes / series.over(floor);
}

/** MB/s. */
function speed({ sizeBytes }: DatasetFile, { ms }: Series): number {
  return sizeBytes / 1000 / ms;
}

function seconds({ ms }: Series): string {
  return (ms / 1000).toFixed(2);
}

function megabytes(bytes: number): string {
  return Number.isNaN(bytes) ? 'not measured' : (bytes / 1e6).toFixed(0);
}
