// A process of its own that does one thing with one dataset and says what it took: `datasetChild <task> <file> <worker> <scanner>`.
import { createReadStream, openSync, readSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { DatasetChecker, type CheckOptions } from '../../src/core/datasets/checker.ts';
import type { Said } from './measure.ts';
import { peakBytes } from './peak.ts';

const CHUNK_BYTES = 1024 * 1024;
const IDLE_MS = 1000;
const LF = 0x0a;

const [task = '', file = '', worker = '', scanner = ''] = process.argv.slice(2);

async function run(): Promise<Said> {
  switch (task) {
    case 'floor':
      return floor();
    case 'readline':
      return readline();
    case 'whole':
      return check({ workers: 2 });
    case 'shape':
      return check({ workers: 1, shapeOnly: true });
    case 'delay':
      return delayDuring(() => check({ workers: 2 }));
    case 'idle':
      return delayDuring(() => setTimeout(IDLE_MS, {}));
    default:
      throw new Error(`unknown task ${task}`);
  }
}

/** The least that JavaScript can do to read every row. */
function floor(): Said {
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
  return { rows };
}

async function readline(): Promise<Said> {
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

async function check(options: CheckOptions): Promise<Said> {
  const checker = new DatasetChecker({ worker, scanner });
  const { rows, sha256 } = await checker.check(file, options);
  if ((sha256 === '') !== (options.shapeOnly === true)) throw new Error('not what was asked for');
  await checker.dispose();
  return { rows };
}

async function delayDuring(work: () => Promise<Said>): Promise<Said> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const said = await work();
  delay.disable();
  return { ...said, delayP99Ms: delay.percentile(99) / 1e6, delayMaxMs: delay.max / 1e6 };
}

const said = await run();
process.stdout.write(JSON.stringify({ ...said, peakBytes: peakBytes() }));
