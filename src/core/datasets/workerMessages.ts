import type { SameRows } from './duplicates.ts';
import type { CheckFailure } from './report.ts';
import type { Counts } from './scanner.ts';
import type { Segment } from './segments.ts';

/**
 * Numbers that the extension and its workers share, by their index: the next segment, whether to stop, and whether enough rows
 * are known to compare.
 */
export const SHARED = { nextSegment: 0, stopped: 1, hashedEnough: 2, length: 3 } as const;

/** What a worker is started with. */
export interface WorkerData {
  scanner: WebAssembly.Module;
}

/** One file to check. All workers get it, and take segments in order, each the next free one. */
export interface Job {
  kind: 'check';
  /** A descriptor of this process, which stays open until every worker has answered. */
  fd: number;
  sizeBytes: number;
  segments: number;
  locatedLimit: number;
  /** Whether the file begins with one: the editor then decodes it in another way. */
  hasByteOrderMark: boolean;
  shared: Int32Array<SharedArrayBuffer>;
}

/** Rows to compare, once all segments are known. */
export interface SameRowsJob extends Pick<Job, 'locatedLimit' | 'shared'> {
  kind: 'same rows';
  hashes: Uint32Array<ArrayBuffer>;
}

export type Request = Job | SameRowsJob;

/** What a worker says. It ends each request with `done` or `failed`. */
export type Answer =
  | { kind: 'segment'; segment: Segment }
  | { kind: 'done'; counts?: Counts; same?: SameRows; memoryBytes: number }
  | { kind: 'failed'; reason: CheckFailure };
