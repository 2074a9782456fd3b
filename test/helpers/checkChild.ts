// Checks hard files, each written first, in a process of its own, whose memory is only theirs. Says one JSON text.
import { readFileSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import path from 'node:path';
import { DatasetChecker, type CheckerFiles } from '../../src/core/datasets/checker.ts';

/** A file that repeats a text up to a size, between two others. */
export interface HardFile {
  sizeBytes: number;
  repeat: string;
  before: string;
  after: string;
}

export interface ChildJob {
  folder: string;
  files: CheckerFiles;
  hard: HardFile[];
}

/** What was found in one. */
export interface HardResult {
  ms: number;
  rows: number;
  /** How many there are of each code. */
  problems: Record<string, number>;
  /** By how much the process has grown at most since its beginning. */
  grownMb: number;
}

const PIECE_BYTES = 256 * 1024;

async function write(file: string, { sizeBytes, repeat, before, after }: HardFile): Promise<void> {
  const unit = Buffer.from(repeat, 'latin1');
  const piece = Buffer.alloc(unit.length * Math.ceil(PIECE_BYTES / unit.length), unit);
  const handle = await open(file, 'w');
  await handle.write(before);
  for (let left = sizeBytes; left > 0; left -= piece.length)
    await handle.write(piece, 0, Math.min(piece.length, left));
  await handle.write(after);
  await handle.close();
}

/** The most memory of the process. On Linux `maxRSS` begins with that of the process which started it. */
function peakKb(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS;
  const [, peak] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(peak);
}

const { folder, files, hard } = JSON.parse(process.argv[2] ?? '') as ChildJob;
const checker = new DatasetChecker(files);
const small = path.join(folder, 'small.jsonl');
await write(small, { sizeBytes: 100, repeat: '{"text":"a"}\n', before: '', after: '' });
// Modules, worker and compiled scanner are there before anything is measured.
await checker.check(small);
const beginKb = process.memoryUsage.rss() / 1024;
const results: HardResult[] = [];
for (const each of hard) {
  const file = path.join(folder, 'hard.jsonl');
  await write(file, each);
  const startMs = performance.now();
  const report = await checker.check(file);
  results.push({
    ms: performance.now() - startMs,
    rows: report.rows,
    problems: Object.fromEntries(report.problems.map(({ code, total }) => [code, total])),
    grownMb: (peakKb() - beginKb) / 1024,
  });
  await rm(file);
}
await checker.dispose();
process.stdout.write(JSON.stringify(results));
