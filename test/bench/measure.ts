// Times processes as wholes, from their start to their end, one at a time.
import { spawn } from 'node:child_process';
import { median, say } from './results.ts';

/** Rounds of `interleaved`. */
export const RUNS = 5;

/** A process to time. What it writes is read as JSON if it `reports`, else thrown away. */
export interface Job {
  command: string;
  args: readonly string[];
  reports: boolean;
  /** After so long it is killed, and its figure is "timed out". */
  capMs: number;
}

/** What processes of `datasetChild.ts` and `uploadChild.ts` say; each its own part of it. */
export interface Said {
  rows?: number;
  /** Of what it was started for, without its start and what it did to be warm. */
  workMs?: number;
  /** From the start of the process to the end of its first work. */
  firstMs?: number;
  /** Undefined where the system does not tell. */
  peakBytes?: number;
  delayP99Ms?: number;
  delayMaxMs?: number;
}

interface Run {
  ms: number;
  said: Said;
}

/** The runs of one job; those of a job that failed are not repeated. */
export class Series {
  readonly #runs: Run[] = [];
  /** Why there are no figures. */
  failure: 'missing' | 'failed' | 'timed out' | undefined;

  get runs(): readonly Run[] {
    return this.failure === undefined ? this.#runs : [];
  }

  add(run: Run): void {
    this.#runs.push(run);
  }

  get ms(): number {
    return median(this.runs.map(({ ms }) => ms));
  }

  /** The median of the ratios to another series, round by round. */
  over(other: Series): number {
    return median(
      this.runs.flatMap(({ ms }, round) => (other.runs[round] ? [ms / other.runs[round].ms] : [])),
    );
  }

  /** The median of what the processes said of one thing; NaN if nothing. */
  said(key: keyof Said): number {
    return median(this.#all(key));
  }

  /** The largest of the same. */
  worst(key: keyof Said): number {
    return Math.max(...this.#all(key));
  }

  #all(key: keyof Said): number[] {
    return this.runs.flatMap(({ said }) => said[key] ?? []);
  }
}

/** Runs all jobs in turn, `RUNS` times, so that a machine that becomes slower does so for all of them. */
export async function interleaved<Name extends string>(
  title: string,
  jobs: Readonly<Record<Name, Job>>,
): Promise<Record<Name, Series>> {
  const names = Object.keys(jobs) as Name[];
  const all = Object.fromEntries(names.map((name) => [name, new Series()])) as Record<Name, Series>;
  for (let round = 1; round <= RUNS; round++) {
    for (const name of names) {
      if (all[name].failure !== undefined) continue;
      const run = await timed(jobs[name]);
      if (typeof run === 'string') all[name].failure = run;
      else all[name].add(run);
    }
    const figures = names.map(
      (name) => `${name} ${all[name].failure ?? all[name].runs.at(-1)?.ms.toFixed(0)}`,
    );
    say(`${title}, run ${round} of ${RUNS}, ms: ${figures.join(', ')}`);
  }
  return all;
}

function timed({ command, args, reports, capMs }: Job): Promise<Run | NonNullable<Series['failure']>> {
  return new Promise((resolve) => {
    const startedMs = performance.now();
    const child = spawn(command, args, {
      stdio: ['ignore', reports ? 'pipe' : 'ignore', reports ? 'inherit' : 'ignore'],
      timeout: capMs,
      killSignal: 'SIGKILL',
    });
    let output = '';
    child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.once('error', () => resolve('missing'));
    child.once('close', (code, signal) => {
      const ms = performance.now() - startedMs;
      if (code === 0) resolve({ ms, said: reports ? (JSON.parse(output) as Said) : {} });
      else resolve(signal === 'SIGKILL' && ms >= capMs ? 'timed out' : 'failed');
    });
  });
}
