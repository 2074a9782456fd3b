// The check of datasets beside the floor: one thread that splits at LF, decodes and calls JSON.parse, and checks nothing else.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { checkerFiles } from '../helpers/checker.ts';
import { chatRows, worstCases, type DatasetFile } from './datasetFiles.ts';
import { sectionOf, type DatasetFigures, type FileFigures, type Pair } from './datasetSection.ts';
import { interleaved, type Job } from './measure.ts';
import { findPeers, type Peer } from './peers.ts';
import { machine, say } from './results.ts';

const SMALL_BYTES = 60_000_000;
const LARGE_BYTES = 600_000_000;
const CAP_MS = 60_000;

type Task = 'floor' | 'readline' | 'whole' | 'shape' | 'delay' | 'idle';
type MakeJob = (task: Task, file: DatasetFile) => Job;

/** Measures the check, in about five minutes, and returns a section of RESULTS.md. */
export async function benchDataset(): Promise<string> {
  const before = machine();
  const folder = await mkdtemp(path.join(tmpdir(), 'fine-tuning-bench-'));
  try {
    const job = await jobsOf(folder);
    const peers = await findPeers();
    say('writing datasets');
    const small = {
      clean: await chatRows(folder, SMALL_BYTES, false),
      faulty: await chatRows(folder, SMALL_BYTES, true),
    };
    const large = {
      clean: await chatRows(folder, LARGE_BYTES, false),
      faulty: await chatRows(folder, LARGE_BYTES, true),
    };
    return sectionOf({
      machine: before,
      small: await sizes('60 MB', small, job, peers),
      large: await sizes('600 MB', large, job, peers),
      delay: await interleaved('event loop', {
        idle: job('idle', large.clean),
        clean: job('delay', large.clean),
        faulty: job('delay', large.faulty),
      }),
      worst: await worst(folder, small.clean, job),
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function sizes(
  title: string,
  files: Pair<DatasetFile>,
  job: MakeJob,
  peers: readonly Peer[],
): Promise<Pair<FileFigures>> {
  return {
    clean: await figuresOf(`${title} clean`, files.clean, job, peers),
    faulty: await figuresOf(`${title} faulty`, files.faulty, job),
  };
}

async function figuresOf(
  title: string,
  file: DatasetFile,
  job: MakeJob,
  others?: readonly Peer[],
): Promise<FileFigures> {
  const jobs: Record<string, Job> = {};
  if (others !== undefined) jobs['readline + JSON.parse'] = job('readline', file);
  for (const { name, command, argsFor } of others ?? [])
    jobs[name] = { command, args: argsFor(file.path), reports: false, capMs: CAP_MS };
  const ours = { floor: job('floor', file), whole: job('whole', file), shape: job('shape', file) };
  const { floor, whole, shape, ...peers } = await interleaved(title, { ...jobs, ...ours });
  for (const { runs, failure } of [floor, whole, shape])
    if (failure !== undefined || runs.some(({ said }) => said.rows !== file.rows))
      throw new Error(`not all of ${title} was read: ${failure ?? ''}`);
  return { file, floor, whole, shape, peers };
}

async function worst(folder: string, floorFile: DatasetFile, job: MakeJob): Promise<DatasetFigures['worst']> {
  const files = Object.entries(await worstCases(folder, SMALL_BYTES));
  const jobs = Object.fromEntries(files.map(([name, file]) => [name, job('whole', file)]));
  const all = await interleaved<string>('worst cases', { floor: job('floor', floorFile), ...jobs });
  const cases = files.map(([name, file]) => ({ name, file, series: all[name]! }));
  return { floor: all['floor']!, floorFile, cases };
}

/** Bundles the child and the worker as they are shipped, so that nothing is compiled while they are timed. */
async function jobsOf(folder: string): Promise<MakeJob> {
  const { worker, scanner } = await checkerFiles();
  const child = path.join(import.meta.dirname, 'datasetChild.ts');
  await build({
    entryPoints: { child, worker },
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    minify: true,
    logLevel: 'warning',
  });
  return (task, file) => ({
    command: process.execPath,
    args: [path.join(folder, 'child.mjs'), task, file.path, path.join(folder, 'worker.mjs'), scanner],
    reports: true,
    capMs: CAP_MS,
  });
}
