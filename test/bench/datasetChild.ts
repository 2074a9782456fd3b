// Does one thing with one dataset.
import { createReadStream, openSync, readSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { DatasetChecker } from '../../src/core/datasets/checker.ts';
import { argument, report, type Report } from './child.ts';

const CHUNK_BYTES = 1024 * 1024;
const IDLE_MS = 1000;
const LF = 0x0a;

export interface DatasetJob {
  task: keyof typeof TASKS;
  file: string;
  worker: string;
  scanner: string;
  /** As many as the check itself takes, if not given. */
  workers?: number;
}

const { task, file, worker, scanner, workers } = argument() as DatasetJob;

const TASKS = {
  floor,
  readline,
  check,
  floorAgain: () => again(floor),
  checkAgain: () => again(check),
  idle: () => setTimeout(IDLE_MS, {}),
};

/** The least that JavaScript can do to read every row. */
function floor(): Promise<Report> {
  const fd = openSync(file, 'r');
  let chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  let kept = 0;
  let rows = 0;
  for (;;) {
    const read = readSync(fd, chunk, kept, chunk.length - kept, null);
    const end = kept + read;
    let from = 0;
    for (let to = chunk.indexOf(LF); to !== -1 && to < end; to = chunk.indexOf(LF, from)) {
      parse(chunk.toString('utf8', from, to));
      rows++;
      from = to + 1;
    }
    kept = end - from;
    if (read === 0) break;
    if (kept === chunk.length) chunk = Buffer.concat([chunk], 2 * kept);
    else chunk.copyWithin(0, from, end);
  }
  if (kept > 0) {
    parse(chunk.toString('utf8', 0, kept));
    rows++;
  }
  return Promise.resolve({ rows });
}

async function readline(): Promise<Report> {
  let rows = 0;
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    parse(line);
    rows++;
  }
  return { rows };
}

/** What is broken is passed over. */
function parse(row: string): void {
  try {
    JSON.parse(row);
  } catch {
    return;
  }
}

const checker = new DatasetChecker({ worker, scanner });

async function check(): Promise<Report> {
  const { rows } = await checker.check(file, workers === undefined ? {} : { workers });
  return { rows };
}

/** The time of the second of two: the first leaves code that is compiled, and workers that are warm. */
async function again(work: () => Promise<Report>): Promise<Report> {
  await work();
  const startedMs = performance.now();
  const result = await work();
  return { ...result, workMs: performance.now() - startedMs };
}

await report(async () => {
  const result = { workMs: undefined, ...(await TASKS[task]()) };
  await checker.dispose();
  return result;
});
