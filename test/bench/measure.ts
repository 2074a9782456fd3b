// Times jobs in separate processes, one after another, and writes the figures to a section of RESULTS.md.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { arch, cpus, loadavg, release, tmpdir, totalmem, type } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { format } from 'oxfmt';
import type { Report, Task } from './child.ts';

const ROUNDS = 5;
const FILE = new URL('RESULTS.md', import.meta.url);
const INTRODUCTION = `# Benchmarks

Written by \`npm run bench\`, which measures everything of a section side by side in one run: compare the ratios, absolute times are
the machine's. Each figure is the median of ${ROUNDS} runs in turn, ratios are taken round by round; files are in the system's cache. Ours
are measured from the call to its answer in a process of their own, the start of threads included; other programs as a whole. Memory
is the most that a process ever held (resident), Node itself included; growth is that from a file of a tenth. The delay of the event
loop is sampled each millisecond, and that millisecond is part of the figures. A limit stands in parentheses, a missed one in bold.`;

/** A process to time. Ours print a report; other programs may not be installed. */
export interface Job {
  command: string;
  args: readonly string[];
  isOurs?: boolean;
}

/** A row of the table, with the figures of one job. */
export interface Row {
  what: string;
  /** The job, or the milliseconds, by which the time is divided. */
  peer?: string | number;
  /** The smaller job for the growth of memory. */
  less?: string;
  limits?: Partial<Record<'ratio' | 'growthMb' | 'delayP99Ms' | 'delayMaxMs', number>>;
}

/** Measures jobs, and adds or replaces the section with this title. */
export async function measure(
  title: string,
  about: string,
  jobs: Readonly<Record<string, Job>>,
  rows: readonly Row[],
): Promise<void> {
  await writeSection(title, async () => `${about}\n\n${await figuresOf(title, jobs, rows)}`);
}

async function figuresOf(
  title: string,
  jobs: Readonly<Record<string, Job>>,
  rows: readonly Row[],
): Promise<string> {
  const figures: Record<string, Report[]> = {};
  for (let round = 1; round <= ROUNDS; round++) {
    for (const [name, job] of Object.entries(jobs)) (figures[name] ??= []).push(await timed(job));
    say(`${title}: round ${round} of ${ROUNDS}`);
  }
  const head = ['', 'Time, s', '/ peer', 'Memory, MB', 'Growth, MB', 'Delay, 99 %, ms', 'Longest, ms'];
  return table(
    head,
    rows.map((row) => cells(row, figures)),
  );
}

/** A Markdown table; the first column is text and the others are numbers. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = head.map((_, column) => (column === 0 ? '---' : '---:'));
  return [head, rule, ...rows].map((line) => `| ${line.join(' | ')} |`).join('\n');
}

export function cell(figure: number, digits: number, limit?: number): string {
  if (Number.isNaN(figure)) return '–';
  if (limit === undefined) return figure.toFixed(digits);
  const text = `${figure.toFixed(digits)} (≤ ${limit})`;
  return figure <= limit ? text : `**${text}**`;
}

function cells(
  { what, peer, less, limits = {} }: Row,
  figures: Readonly<Record<string, Report[]>>,
): string[] {
  const of = (name: string, key: keyof Report) => figures[name]?.map((report) => report[key] ?? NaN) ?? [];
  const ms = of(what, 'ms');
  const peerMs = typeof peer === 'string' ? of(peer, 'ms') : ms.map(() => peer ?? NaN);
  const growth = less === undefined ? NaN : median(of(what, 'peakMb')) - median(of(less, 'peakMb'));
  return [
    what,
    cell(median(ms) / 1000, 3),
    cell(median(ms.map((one, round) => one / (peerMs[round] ?? NaN))), 2, limits.ratio),
    cell(median(of(what, 'peakMb')), 0),
    cell(growth, 1, limits.growthMb),
    cell(median(of(what, 'delayP99Ms')), 1, limits.delayP99Ms),
    cell(median(of(what, 'delayMaxMs')), 1, limits.delayMaxMs),
  ];
}

function timed({ command, args, isOurs }: Job): Promise<Report> {
  return new Promise((resolve, reject) => {
    const startedMs = performance.now();
    const child = spawn(command, args, { stdio: ['ignore', isOurs ? 'pipe' : 'ignore', 'inherit'] });
    let output = '';
    child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.once('error', (error) => (isOurs ? reject(error) : resolve({ ms: NaN })));
    child.once('close', (code) => {
      const ms = performance.now() - startedMs;
      // A shell's code for a program that isn't installed.
      if (code === 127 && !isOurs) resolve({ ms: NaN });
      else if (code !== 0) reject(new Error(`${command} ${args.join(' ')} failed (${code})`));
      else resolve(isOurs ? (JSON.parse(output) as Report) : { ms });
    });
  });
}

/**
 * Bundles child.ts and its workers into `folder` as the packed extension is, so that no TypeScript is compiled while timing.
 * @returns a function that creates the job of a task
 */
export async function bundled(
  folder: string,
  workers: Readonly<Record<string, string>> = {},
): Promise<(task: Task) => Job> {
  await build({
    entryPoints: { child: path.join(import.meta.dirname, 'child.ts'), ...workers },
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    // For packages in CommonJS.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    minify: true,
    logLevel: 'warning',
  });
  return (task) => ({
    command: process.execPath,
    args: [path.join(folder, 'child.mjs'), JSON.stringify(task)],
    isOurs: true,
  });
}

/** Calls `work` with a folder that is removed afterwards. */
export async function inFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'fine-tuning-bench-'));
  try {
    await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Runs a benchmark, and adds or replaces the section with this title. */
export async function writeSection(title: string, bench: () => Promise<string>): Promise<void> {
  const before = machine();
  const body = `${before}\n\n${await bench()}`;
  const old = await readFile(FILE, 'utf8').catch(() => '');
  const others = old
    .split(/^(?=## )/m)
    .slice(1)
    .filter((section) => !section.startsWith(`## ${title}\n`));
  const sections = [...others, `## ${title}\n\n${body}`].map((section) => section.trim());
  const text = [INTRODUCTION, ...sections.sort()].join('\n\n');
  await writeFile(FILE, (await format('RESULTS.md', text)).code);
}

/** Describes the machine of a section without host or user names. */
function machine(): string {
  const [cpu] = cpus();
  const memoryGib = (totalmem() / 2 ** 30).toFixed(0);
  const system = `${type()} ${release().split('.', 2).join('.')}`;
  const load = loadavg()[0]?.toFixed(1) ?? '?';
  return [
    `${new Date().toISOString().slice(0, 10)}: ${cpu?.model ?? 'unknown processor'}, ${cpus().length} cores`,
    `${memoryGib} GiB of memory, ${system} (${arch()}), Node ${process.versions.node}`,
    `load before the run ${load}.`,
  ].join(', ');
}

/** The median, or NaN without values. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}
