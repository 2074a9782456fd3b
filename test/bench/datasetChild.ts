// Does one thing with one dataset.
import { createReadStream, openSync, readSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { DatasetChecker, type CheckOptions } from '../../src/core/datasets/checker.ts';
import { argument, report, type Report } from './child.ts';

const CHUNK_BYTES = 1024 * 1024;
const IDLE_MS = 1000;
const LF = 0x0a;

export interface DatasetJob {
  task: keyof typeof TASKS;
  file: string;
  worker: string;
  scanner: string;
}

const { task, file, worker, scanner } = argument() as DatasetJob;

const TASKS = {
  floor,
  readline,
  everything: () => check({ workers: 2 }),
  shape: () => check({ workers: 1, shapeOnly: true }),
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

async function check(options: CheckOptions): Promise<Report> {
  const checker = new DatasetChecker({ worker, scanner });
  const { rows } = await checker.check(file, options);
  await checker.dispose();
  return { rows };
}

await report(async () => ({ workMs: undefined, ...(await TASKS[task]()) }));
