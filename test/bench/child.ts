// Runs and times the task in its argument, and prints a report. Modules are loaded before.
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, openSync, readFileSync, readSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { RunSubmission } from '../../src/core/api/types.ts';
import type { PrepareChoices } from '../../src/core/datasets/copyTypes.ts';

export type Task =
  | { kind: 'inspect' | 'verify' | 'measure'; file: string; worker: string }
  | {
      kind: 'floor' | 'check';
      file: string;
      worker: string;
      scanner: string;
      workers?: number;
      isAgain?: boolean;
    }
  | { kind: 'facts'; file: string; worker: string; scanner: string }
  | { kind: 'prepare'; file: string; worker: string; scanner: string; choices: PrepareChoices }
  | {
      kind: 'also in' | 'find' | 'keep' | 'between';
      file: string;
      other: string;
      kept: string;
      worker: string;
      scanner: string;
    }
  | { kind: 'download'; folder: string; baseUrl: string; bytes: number }
  | { kind: 'upload'; baseUrl: string; dataset: RunSubmission['dataset'] }
  | { kind: 'append' | 'rewrite'; folder: string; times: number };

/** A process's report; other programs only have a time. */
export interface Report {
  ms: number;
  peakMb?: number;
  delayP99Ms?: number;
  delayMaxMs?: number;
}

const CHUNK_BYTES = 1024 * 1024;
const LF = 0x0a;
const WARM_UP_BYTES = 1_000_000;
const API_KEY = { apiKey: 'service_bench', keyId: 'key-1' };

/** Returns the function to be timed. */
async function prepare(task: Task): Promise<() => unknown> {
  switch (task.kind) {
    case 'inspect':
    case 'measure': {
      const { runInWorker } = await import('../../src/core/adapters/report.ts');
      const { kind, file, worker } = task;
      return () => runInWorker(kind, file, { worker });
    }
    case 'verify': {
      const { verifyArchive } = await import('../../src/core/adapters/archive.ts');
      return () => verifyArchive(task.file);
    }
    case 'floor':
      if (task.isAgain) floor(task.file);
      return () => floor(task.file);
    case 'check': {
      const { DatasetChecker } = await import('../../src/core/datasets/checker.ts');
      const checker = new DatasetChecker(task);
      const check = () => checker.check(task.file, { ...(task.workers && { workers: task.workers }) });
      if (task.isAgain) await check();
      return check;
    }
    case 'facts': {
      const { readFacts } = await import('../../src/core/datasets/readFacts.ts');
      return () => readFacts(task.file);
    }
    case 'prepare':
      return prepareCopyOf(task);
    case 'also in':
    case 'find':
    case 'keep':
    case 'between':
      return prepareComparison(task);
    case 'download':
      return prepareDownload(task);
    case 'upload':
      return prepareUpload(task);
    case 'append':
      return prepareAppend(task);
    case 'rewrite':
      return prepareRewrite(task);
  }
}

/** The minimum that JavaScript must do to read every row. */
function floor(file: string): void {
  const fd = openSync(file, 'r');
  let chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  for (let kept = 0; ;) {
    const read = readSync(fd, chunk, kept, chunk.length - kept, null);
    const end = kept + read;
    let from = 0;
    for (let to = chunk.indexOf(LF); to !== -1 && to < end; to = chunk.indexOf(LF, from)) {
      parse(chunk.toString('utf8', from, to));
      from = to + 1;
    }
    kept = end - from;
    if (read === 0) return;
    if (kept === chunk.length) chunk = Buffer.concat([chunk], 2 * kept);
    else chunk.copyWithin(0, from, end);
  }
}

/** Ignores invalid rows. */
function parse(row: string): void {
  try {
    JSON.parse(row);
  } catch {
    return;
  }
}

async function transportAndClient(baseUrl: string) {
  const { Client } = await import('../../src/core/api/client.ts');
  const { Transport } = await import('../../src/core/api/transport.ts');
  const transport = new Transport({ strictSsl: true, systemCertificates: false, env: {} });
  return { transport, client: new Client({ baseUrl, ...API_KEY }, () => transport) };
}

/** Returns the copy of a dataset, which is removed before the next one. */
async function prepareCopyOf(task: Extract<Task, { kind: 'prepare' }>): Promise<() => unknown> {
  const { DatasetChecker } = await import('../../src/core/datasets/checker.ts');
  const { inspectDataset } = await import('../../src/core/datasets/fileKind.ts');
  const { prepareCopy } = await import('../../src/core/datasets/writeCopy.ts');
  const checker = new DatasetChecker(task);
  const source = await inspectDataset(task.file, Infinity);
  if (typeof source === 'string') throw new Error(source);
  const { name, dir } = path.parse(task.file);
  for (const what of ['prepared', 'holdout'])
    rmSync(path.join(dir, `${name}.${what}.jsonl`), { force: true });
  return () => prepareCopy(checker, source, task.choices, { maxBytes: Infinity });
}

/** Prepares a comparison of rows: with another file, with kept fingerprints, or of two kept ones; or keeps those of a file. */
async function prepareComparison(
  task: Extract<Task, { kind: 'also in' | 'find' | 'keep' | 'between' }>,
): Promise<() => unknown> {
  const { DatasetChecker } = await import('../../src/core/datasets/checker.ts');
  const { inspectDataset } = await import('../../src/core/datasets/fileKind.ts');
  const { Fingerprints } = await import('../../src/core/datasets/fingerprints.ts');
  const checker = new DatasetChecker(task);
  const folder = task.kind === 'keep' ? mkdtempSync(task.kept) : task.kept;
  const fingerprints = new Fingerprints(folder, () => Promise.resolve(checker));
  if (task.kind === 'between') return () => fingerprints.between(task.file, task.other);
  const file = await inspectDataset(task.file, Infinity);
  if (typeof file === 'string') throw new Error(file);
  if (task.kind === 'also in') return () => fingerprints.alsoIn(task.other, file);
  if (task.kind === 'find') {
    const rows = readFileSync(task.other).subarray(0, 100_000);
    return () => fingerprints.find(rows.subarray(0, rows.lastIndexOf(LF)), { file });
  }
  return () => fingerprints.keep({ id: 'one', dataset: file, submittedAtMs: 0 }, []);
}

async function prepareDownload(task: Extract<Task, { kind: 'download' }>): Promise<() => unknown> {
  const { Downloads } = await import('../../src/core/downloads/downloads.ts');
  const { Session } = await import('../../src/core/runs/session.ts');
  const { baseUrl } = task;
  const { transport, client } = await transportAndClient(baseUrl);
  const folder = mkdtempSync(path.join(task.folder, 'download-'));
  const session = new Session(
    { kind: 'service', id: 'bench', name: 'bench', baseUrl },
    () => Promise.resolve({ baseUrl, ...API_KEY }),
    () => client,
  );
  const downloads = new Downloads({
    runsFolder: path.join(folder, 'runs'),
    transport: () => transport,
    sessionOf: () => session,
    // Verification is measured separately.
    verify: () => Promise.resolve('unknown'),
  });
  mkdirSync(path.join(folder, 'out'));
  const download = (bytes: number) => {
    const target = path.join(folder, 'out', `${bytes}.zip`);
    return downloads.start({ session, runId: String(bytes), artifact: { type: 'model' }, target });
  };
  await download(WARM_UP_BYTES);
  return () => download(task.bytes);
}

async function prepareUpload(task: Extract<Task, { kind: 'upload' }>): Promise<() => unknown> {
  const { client } = await transportAndClient(task.baseUrl);
  await client.getBalance();
  return () =>
    client.createRun({
      idempotencyKey: randomUUID(),
      boundary: randomUUID(),
      dataset: task.dataset,
      model_id: 'm',
      model_terms_accepted: true,
      data_policy_accepted: true,
      priority_processing: false,
    });
}

/** Returns the appending of versions to a record. */
async function prepareAppend(task: Extract<Task, { times: number }>): Promise<() => unknown> {
  const { VersionStore } = await import('../../src/core/storage/versions.ts');
  const store = new VersionStore<{ id: string }>(path.join(task.folder, randomUUID()), {
    parse: (id) => ({ id }),
    format: ({ id }) => id,
    isOver: () => false,
  });
  let head = await store.claim('0'.repeat(32), [], { id: recordOf(0) });
  return async () => {
    for (let time = 1; time <= task.times; time++) head = await store.append(head, { id: recordOf(time) });
  };
}

/** Returns the same with one file that is replaced, compared with what was last written before and right before that. */
async function prepareRewrite(task: Extract<Task, { times: number }>): Promise<() => unknown> {
  const { writeFileDurably } = await import('../../src/core/storage/durableFile.ts');
  const file = path.join(task.folder, randomUUID(), 'record.json');
  let written = recordOf(0);
  await writeFileDurably(file, written);
  const compare = async () => {
    if ((await readFile(file, 'utf8')) !== written) throw new Error('overtaken');
  };
  return async () => {
    for (let time = 1; time <= task.times; time++) {
      await compare();
      await compare();
      await writeFileDurably(file, recordOf(time));
      written = recordOf(time);
    }
  };
}

/** About as long as a submission. */
function recordOf(time: number): string {
  return `${time} ${'x'.repeat(2_000)}`;
}

/** Peak resident memory of this process. Not `maxRSS`, which starts at the parent's value. */
function peakMb(): number {
  const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return (Number(kib) * 1024) / 1e6;
}

const work = await prepare(JSON.parse(process.argv[2] ?? '') as Task);
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const startedMs = performance.now();
await work();
const ms = performance.now() - startedMs;
delay.disable();
const report: Report = {
  ms,
  peakMb: peakMb(),
  delayP99Ms: delay.percentile(99) / 1e6,
  delayMaxMs: delay.max / 1e6,
};
process.stdout.write(JSON.stringify(report), () => process.exit());
