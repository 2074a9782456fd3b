// A thread that reads the texts of one file, and ends. The first one starts another one for half of a large file.
import os from 'node:os';
import { setImmediate as pause } from 'node:timers/promises';
import { runThread, serveThread } from '../base/thread.ts';
import { RowTexts, type PartOfReading } from './facts/reading.ts';
import { MAX_TEXT_BYTES, textRow } from './facts/textRow.ts';
import { FACTS_HEAP, FACTS_WORKER, READ_BYTES, type FactsFault, type FactsJob } from './readFacts.ts';
import { CheckError } from './report.ts';
import { readBytes } from './segments.ts';

/** With fewer segments, starting another thread costs more than it saves. */
const SEGMENTS_OF_TWO = 16;
/** Beside what the user does. Only Linux knows it of a thread. */
const NICE = 10;
const LF = 0x0a;

serveThread(async (job: FactsJob, onProgress: (fraction: number) => void) => {
  if (process.platform === 'linux') os.setPriority(NICE);
  const texts = new RowTexts();
  const { isHelper = false, segments, next } = job;
  const options = { limits: FACTS_HEAP, errorOf: () => new CheckError('changing'), waitsForEnd: true };
  const other =
    isHelper || segments < SEGMENTS_OF_TWO
      ? undefined
      : runThread<never, PartOfReading, FactsFault>(FACTS_WORKER, { ...job, isHelper: true }, options);
  // It is awaited only below.
  other?.catch(() => undefined);
  const input = Buffer.allocUnsafeSlow(READ_BYTES + MAX_TEXT_BYTES + 128 * 1024);
  for (;;) {
    const number = Atomics.add(next, 0, 1);
    if (number >= segments) break;
    texts.endSegment(number, readSegment(texts, job, number, input));
    onProgress(number / segments);
    await pause();
  }
  if (isHelper) return texts.part();
  if (other !== undefined) texts.merge(await other);
  return texts.result(READ_BYTES);
}, faultOf);

/** Reads the rows that begin in a segment, and returns their number. @throws CheckError `changing` */
function readSegment(texts: RowTexts, job: FactsJob, number: number, memory: Buffer): number {
  const read = readBytes(job, number, (bytes) => memory.subarray(0, bytes), MAX_TEXT_BYTES, READ_BYTES);
  if (read === undefined) return 0;
  const { first, end, atFileEnd, base } = read;
  let rows = 0;
  for (let at = first; at < end; rows++) {
    const lineEnd = memory.subarray(0, end).indexOf(LF, at);
    const to = lineEnd === -1 ? end : lineEnd;
    if (to - at > MAX_TEXT_BYTES || (lineEnd === -1 && !atFileEnd)) texts.count('unread');
    else if (to > at) {
      const row = memory.toString('utf8', at, to);
      texts.add(textRow(base + at === 0 ? row.replace(/^\uFEFF/, '') : row), number * READ_BYTES + rows);
    }
    at = to + 1;
  }
  return rows;
}

/** Errors of the file system only have a code. */
function faultOf(error: unknown): FactsFault | undefined {
  if (error instanceof CheckError) return 'changing';
  return (error as NodeJS.ErrnoException).syscall === undefined ? undefined : 'unreadable';
}
