import { RUNS, type Series } from './measure.ts';
import { median, table } from './results.ts';

/** The upload without the digest, as curl does it, and with it, as people get it. */
interface Pair {
  plain: Series;
  hashed: Series;
}

export interface UploadFigures {
  /** What it was measured on. */
  machine: string;
  /** 600 MB. */
  curl: Series;
  speed: Pair;
  /** 1 kB in a process that has done nothing before. */
  start: Pair;
  /** 60 MB and 600 MB, each the first upload of its process. */
  small: Pair;
  large: Pair;
  /** 120 MB to a service that takes 60 MB/s, and how long that takes at best. */
  paced: Pair;
  idealMs: number;
  /** 600 MB while the event loop is watched. */
  watched: Pair;
}

/** The section of RESULTS.md. */
export function sectionOf(figures: UploadFigures): string {
  const { speed, start, small, large, paced, watched, curl, idealMs } = figures;
  const both = (of: (name: keyof Pair) => number) => [of('plain'), of('hashed')] as const;
  const ratios = both((name) => overCurl(speed[name], curl));
  const growth = both((name) => (large[name].said('peakBytes') - small[name].said('peakBytes')) / 1e6);
  const pace = both((name) => paced[name].said('workMs') / idealMs);
  const delay = both((name) => watched[name].said('delayP99Ms'));
  const pacedDelay = both((name) => paced[name].said('delayP99Ms'));
  return [
    figures.machine,
    `The upload on loopback beside \`curl -F\`, without and with the digest: the SHA-256 of the very bytes that are sent, for which the
closing boundary waits. Each figure is the median of ${RUNS} runs in turn, ratios are taken round by round. Each run is a process of its own;
curl is measured from its start to its end, ours from the call to the answer, in a process that has done an upload before. What
takes the bytes is a process too, and its work is part of all figures; files are in the system's cache.`,
    '### Targets',
    table(
      ['Upload', 'Target', 'Measured', 'Verdict'],
      [
        atMost('600 MB without the digest: time / curl', 2.5, ratios[0], 2),
        atMost('the same, stretch', 2, ratios[0], 2),
        atMost('600 MB with the digest: time / curl', 3.5, ratios[1], 2),
        atMost('the same, stretch', 3, ratios[1], 2),
        atMost('growth of memory from 60 to 600 MB, the worse of both, MB', 8, Math.max(...growth), 1),
        atMost('120 MB with the digest at 60 MB/s: time / ideal', 1.02, pace[1], 3),
        atMost('event loop delay at full speed with the digest, 99th percentile, ms', 10, delay[1], 1),
        atMost('event loop delay at 60 MB/s with the digest, 99th percentile, ms', 10, pacedDelay[1], 1),
      ],
    ),
    '### Figures',
    table(
      ['', 'curl', 'Ours without the digest', 'Ours with the digest'],
      [
        ['600 MB, s', seconds(curl.ms), ...both((name) => speed[name].said('workMs')).map(seconds)],
        ['600 MB, time / curl', '1.00', ...ratios.map((ratio) => ratio.toFixed(2))],
        [
          'First upload of a process, 1 kB, with the start of Node, s',
          '–',
          ...both((name) => start[name].said('firstMs')).map(seconds),
        ],
        ['1 kB, the second upload, ms', '–', ...both((name) => start[name].said('workMs')).map(one)],
        [
          'Most memory (resident), 60 MB, MB',
          '–',
          ...both((name) => small[name].said('peakBytes') / 1e6).map(one),
        ],
        ['Most memory, 600 MB, MB', '–', ...both((name) => large[name].said('peakBytes') / 1e6).map(one)],
        ['Growth from 60 to 600 MB, MB', '–', ...growth.map(one)],
        ['120 MB at 60 MB/s, time / ideal', '–', ...pace.map((ratio) => ratio.toFixed(3))],
        ['Event loop delay at 60 MB/s, 99th percentile, ms', '–', ...pacedDelay.map(one)],
        ['Event loop delay at full speed, 99th percentile, ms', '–', ...delay.map(one)],
        [
          'Event loop delay at full speed, longest, ms',
          '–',
          ...both((name) => watched[name].said('delayMaxMs')).map(one),
        ],
      ],
    ),
    `The event loop is looked at each millisecond, and that millisecond is part of the figures. What takes 60 MB/s has its tokens in a
bucket of 1 MB that is empty at the first byte, so that a pause of ours is lost for good.`,
  ].join('\n\n');
}

/** The median of the ratios, round by round. */
function overCurl(ours: Series, curl: Series): number {
  return median(ours.runs.flatMap(({ said }, round) => (said.workMs ?? NaN) / (curl.runs[round]?.ms ?? NaN)));
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
