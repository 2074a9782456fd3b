// Times processes as wholes, from their start to their end, one at a time.
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import type { Report } from './child.ts';
import { median, say } from './results.ts';

/** Rounds of `interleaved`. */
export const RUNS = 5;
const CAP_MS = 120_000;

/** A process to time. */
export interface Job {
  command: string;
  args: readonly string[];
  /** Whether its output is a `Report` as JSON; else it is thrown away. */
  reports?: boolean;
  /** Whether the benchmark goes on without it where it is missing, fails, or takes more than a minute. */
  isOptional?: boolean;
}

interface Run {
  ms: number;
  report: Report;
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

  /** The median time from start to end. */
  get ms(): number {
    return median(this.runs.map(({ ms }) => ms));
  }

  /** The median of one reported figure; NaN if there is none. */
  reported(key: keyof Report): number {
    return median(this.#all(key));
  }

  /** The largest of the same. */
  worst(key: keyof Report): number {
    return Math.max(...this.#all(key));
  }

  /** The median of the ratios to another series, round by round; of the work alone where a process reports it. */
  over(other: Series): number {
    const timeOf = ({ ms, report }: Run) => report.workMs ?? ms;
    return median(
      this.runs.flatMap((run, round) => (other.runs[round] ? [timeOf(run) / timeOf(other.runs[round])] : [])),
    );
  }

  #all(key: keyof Report): number[] {
    return this.runs.flatMap(({ report }) => report[key] ?? []);
  }
}

/**
 * Runs all jobs in turn, `RUNS` times, so that a machine that becomes slower does so for all of them.
 * @throws Error if a job fails that is not optional.
 */
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
      if (typeof run !== 'string') all[name].add(run);
      else if (jobs[name].isOptional === true) all[name].failure = run;
      else throw new Error(`${title}: ${name} ${run}`);
    }
    const figures = names.map(
      (name) => `${name} ${all[name].failure ?? all[name].runs.at(-1)?.ms.toFixed(0)}`,
    );
    say(`${title}, run ${round} of ${RUNS}, ms: ${figures.join(', ')}`);
  }
  return all;
}

function timed({ command, args, reports, isOptional }: Job): Promise<Run | NonNullable<Series['failure']>> {
  const capMs = isOptional === true ? CAP_MS / 2 : CAP_MS;
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
      if (code === 0) resolve({ ms, report: reports ? (JSON.parse(output) as Report) : {} });
      else resolve(signal === 'SIGKILL' && ms >= capMs ? 'timed out' : 'failed');
    });
  });
}

/**
 * Bundles a script of this folder and its workers into `folder` as the extension is shipped, so that nothing is compiled while it
 * is timed.
 * @returns what makes jobs of it; their one argument reaches the script as JSON.
 */
export async function bundled(
  folder: string,
  script: string,
  workers: Readonly<Record<string, string>> = {},
): Promise<(argument: object) => Job> {
  await build({
    entryPoints: { child: path.join(import.meta.dirname, script), ...workers },
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
  return (argument) => ({
    command: process.execPath,
    args: [path.join(folder, 'child.mjs'), JSON.stringify(argument)],
    reports: true,
  });
}

/** Gives `work` a folder that is removed afterwards. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(path.join(tmpdir(), 'fine-tuning-bench-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}
