import { RUNS, type Series } from './measure.ts';
import { median, table } from './results.ts';

/** The download without the SHA-256, as curl does it, and with it, as people get it. */
interface Pair {
  plain: Series;
  hashed: Series;
}

export interface DownloadFigures {
  /** What it was measured on. */
  machine: string;
  /** 600 MB. */
  curl: Series;
  speed: Pair;
  /** 60 MB and 600 MB, each the first download of its process. */
  small: Pair;
  large: Pair;
  /** 600 MB while the event loop is watched. */
  watched: Pair;
}

/** The section of RESULTS.md. */
export function sectionOf({ machine, curl, speed, small, large, watched }: DownloadFigures): string {
  const both = (of: (name: keyof Pair) => number) => [of('plain'), of('hashed')] as const;
  const ratios = both((name) => overCurl(speed[name], curl));
  const growth = both((name) => (large[name].said('peakBytes') - small[name].said('peakBytes')) / 1e6);
  return [
    machine,
    `The download on loopback beside \`curl -o\` to the same disk, without and with the SHA-256. Each figure is the median of ${RUNS} runs
in turn, ratios are taken round by round. Each run is a process of its own; curl says itself how long it took, ours is measured from
the call to the file under its final name, in a process that has done a download before. Ours is durable by then; curl leaves that to
the system. What gives the bytes out is a process too, and its work is part of all figures.`,
    '### Targets',
    table(
      ['Download', 'Target', 'Measured', 'Verdict'],
      [
        atMost('600 MB without SHA-256: time / curl', 1.1, ratios[0], 2),
        atMost('600 MB with SHA-256: time / curl', 1.35, ratios[1], 2),
        atMost('growth of memory from 60 to 600 MB, the worse of both, MB', 8, Math.max(...growth), 1),
      ],
    ),
    '### Figures',
    table(
      ['', 'curl', 'Ours without SHA-256', 'Ours with SHA-256'],
      [
        [
          '600 MB, s',
          seconds(curl.said('workMs')),
          ...both((name) => speed[name].said('workMs')).map(seconds),
        ],
        ['600 MB, time / curl', '1.00', ...ratios.map((ratio) => ratio.toFixed(2))],
        [
          'Most memory (resident), 60 MB, MB',
          '–',
          ...both((name) => small[name].said('peakBytes') / 1e6).map(one),
        ],
        ['Most memory, 600 MB, MB', '–', ...both((name) => large[name].said('peakBytes') / 1e6).map(one)],
        ['Growth from 60 to 600 MB, MB', '–', ...growth.map(one)],
        [
          'Event loop delay at full speed, 99th percentile, ms',
          '–',
          ...both((name) => watched[name].said('delayP99Ms')).map(one),
        ],
        [
          'Event loop delay at full speed, longest, ms',
          '–',
          ...both((name) => watched[name].said('delayMaxMs')).map(one),
        ],
      ],
    ),
  ].join('\n\n');
}

/** The median of the ratios, round by round. */
function overCurl(ours: Series, curl: Series): number {
  return median(
    ours.runs.map(({ said }, round) => (said.workMs ?? NaN) / (curl.runs[round]?.said.workMs ?? NaN)),
  );
}

function atMost(what: string, limit: number, figure: number, digits: number): string[] {
  return [what, `≤ ${limit}`, figure.toFixed(digits), figure <= limit ? 'met' : 'missed'];
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(2);
}

function one(figure: number): string {
  return figure.toFixed(1);
}
