import { MAX_SPLIT_ROWS, PrepareError, type PrepareCounts, type PrepareJob } from './copyTypes.ts';
// A pass over a dataset, in a worker thread: writes the rows that stay.
import { StoppedError } from './hashIndex.ts';
import { KeptRows } from './keptRows.ts';
import { isSplit, rangeOf, RowDecisions, type Kept } from './rowDecisions.ts';
import { readHashes } from './rowHashes.ts';
import { RowWriter } from './rowWriter.ts';
import type { Scanner } from './scanner.ts';
import { HASH_NONE, HASH_NORMALIZED } from './scanner/codes.ts';
import { fill, scanSegment, SEGMENT_BYTES } from './segments.ts';
import { PromptSplit } from './split.ts';

/** The share of the time that a split needs to decide, before it writes. */
const DECIDING = 0.75;

/** How the worker follows a pass. */
export interface PassControl {
  /** False if it was canceled. */
  shouldContinue: () => boolean;
  /** Called with the fraction done, from 0 to 1. */
  onProgress: (fraction: number) => void;
}

/** Takes a row that stays. It is at `from..to` of the file. */
type Take = (kept: Kept, from: number, to: number) => void;

/**
 * Owns a pass: copies the rows that stay, changed as chosen. Unchanged rows keep their bytes. A split reads the file twice: it
 * scans all rows first, and remembers them with their prompts.
 */
export class PreparePass {
  readonly #scanner: Scanner;
  readonly #job: PrepareJob;
  readonly #control: PassControl;
  readonly #decisions: RowDecisions;
  readonly #main: RowWriter | undefined;
  readonly #holdOut: RowWriter | undefined;

  /** @param rowScanner another scanner, for rows that change */
  constructor(scanner: Scanner, rowScanner: Scanner, job: PrepareJob, control: PassControl) {
    const { choices, mainFd, holdOutFd, maxBytes } = job;
    this.#scanner = scanner;
    this.#job = job;
    this.#control = control;
    this.#decisions = new RowDecisions(rowScanner, choices, control.shouldContinue);
    [this.#main, this.#holdOut] = [mainFd, holdOutFd].map((fd) =>
      fd === undefined ? undefined : new RowWriter(fd, maxBytes),
    );
  }

  /** @throws PrepareError; CheckError `changing`; StoppedError if it was canceled; errors of the file system */
  run(): PrepareCounts {
    this.#readHeldOut();
    if (isSplit(this.#job.choices)) this.#writeSplit();
    else this.#writeAll();
    const [main, holdOut] = [this.#main, this.#holdOut];
    main?.flush();
    holdOut?.flush();
    const counts = this.#counts();
    if (main?.rows === 0) throw new PrepareError('empty', counts);
    return counts;
  }

  #counts(): PrepareCounts {
    return {
      ...this.#decisions.counts,
      ...{ written: this.#main?.rows ?? 0, heldOut: this.#holdOut?.rows ?? 0 },
    };
  }

  #readHeldOut(): void {
    const { heldOut } = this.#job;
    if (heldOut === undefined) return;
    const reader = { scanner: this.#scanner, hashing: HASH_NORMALIZED, ...this.#control };
    readHashes(heldOut, reader, ({ prompt }) => this.#decisions.addHeldOut(...prompt));
  }

  #writeAll(): void {
    const take: Take = (kept) => {
      this.#main?.add(kept.input, kept.from, kept.to);
      this.#decisions.countChanges(kept);
    };
    this.#eachSegment(0, 1, (number) => this.#decideSegment(number, take));
  }

  /** Scans all rows, decides the side of each prompt, and then writes. */
  #writeSplit(): void {
    const split = new PromptSplit(this.#job.choices, this.#control.shouldContinue);
    const rows = new KeptRows();
    this.#eachSegment(0, DECIDING, (number) => {
      const start = number * SEGMENT_BYTES;
      this.#decideSegment(number, ({ low = 0, high = 0, isChanged }, from, to) => {
        if (split.rows >= MAX_SPLIT_ROWS) throw new PrepareError('too-many-rows');
        rows.add({ start: from - start, length: to - from, prompt: split.count(low, high), isChanged });
      });
      rows.endSegment();
    });
    this.#decisions.endComparing();
    if (split.rows === 0) throw new PrepareError('empty', this.#counts());
    const failure = split.decide();
    if (failure !== undefined) throw new PrepareError(failure);
    this.#eachSegment(DECIDING, 1, (number) => this.#writeSegment(number, rows, split));
  }

  /** Visits all segments, while the progress goes from one fraction to another. */
  #eachSegment(from: number, to: number, work: (number: number) => void): void {
    const { shouldContinue, onProgress } = this.#control;
    const { sizeBytes, choices, heldOut } = this.#job;
    const segments = Math.ceil(sizeBytes / SEGMENT_BYTES);
    const withPrompts = isSplit(choices) || heldOut !== undefined;
    // Columns aren't reported here, so a byte order mark doesn't matter.
    this.#scanner.begin(false, withPrompts ? HASH_NORMALIZED : HASH_NONE);
    for (let number = 0; number < segments; number++) {
      if (!shouldContinue()) throw new StoppedError();
      work(number);
      onProgress(from + ((to - from) * (number + 1)) / segments);
    }
  }

  /** Scans a segment, and calls `take` for the rows that stay. */
  #decideSegment(number: number, take: Take): void {
    for (const rows of scanSegment(this.#scanner, this.#job, number)) {
      for (let row = 0; row < rows.scanned.rows; row++) {
        const kept = this.#decisions.decide(rows, row);
        if (typeof kept === 'string') {
          this.#decisions.countLeftOut(kept);
          continue;
        }
        const [from, to] = rangeOf(rows.scanned, rows.input, row);
        take(kept, rows.base + from, rows.base + to);
      }
      // The next scan reuses the memory of these rows.
      this.#main?.settle();
    }
  }

  /** Writes the rows of a segment that stay: each to its side of the split, the main file or the hold-out. */
  #writeSegment(number: number, kept: KeptRows, split: PromptSplit): void {
    const rows = kept.ofSegment(number);
    const [first, last] = [rows[0], rows.at(-1)];
    if (first === undefined || last === undefined) return;
    const { fd, sizeBytes } = this.#job;
    const segmentStart = number * SEGMENT_BYTES;
    const start = segmentStart + first.start;
    const input = this.#scanner.input(
      Math.min(segmentStart + last.start + last.length + 1, sizeBytes) - start,
    );
    fill(input, 0, fd, start);
    for (const { start: rowStart, length, prompt, isChanged } of rows) {
      const side = split.sideOf(prompt);
      if (side === undefined) {
        this.#decisions.countLeftOut('split');
        continue;
      }
      const file = side === 'main' ? this.#main : this.#holdOut;
      const from = rowStart - first.start;
      if (!isChanged) {
        file?.add(input, from, from + length);
        continue;
      }
      const changed = this.#decisions.changedAgain(input.subarray(from, from + length));
      file?.add(changed.input, changed.from, changed.to);
      this.#decisions.countChanges(changed);
    }
    this.#main?.settle();
    this.#holdOut?.settle();
  }
}
