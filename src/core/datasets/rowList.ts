import type { Disposable } from '../base/disposable.ts';
import { Emitter } from '../base/event.ts';
import type { Report } from './report.ts';
import type { RowFile } from './rowFile.ts';
import { rowsWithProblems, type ProblemChoice, type ProblemRows } from './rowProblems.ts';
import { searchPattern, searchRows, type SearchStep } from './textSearch.ts';

/** Rows that a search finds before it rests until more are asked for. */
export const SEARCH_PAGE_ROWS = 1_000;

/** Which rows are wanted. */
export interface RowFilter {
  /** Rows with this text; all where it is empty. */
  text: string;
  matchCase: boolean;
  /** Rows with such a problem; undefined for all rows. */
  problems: ProblemChoice | undefined;
}

/**
 * `all`: nothing is filtered. `waiting`: for the file to be counted or the report to come. `searching`. `resting`: a page of
 * rows was found, and there may be more. `done`. `failed`: the file could not be read to its end.
 */
export type ListPhase = 'all' | 'waiting' | 'searching' | 'resting' | 'done' | 'failed';

/** Owns which rows of a file are listed, and the search that finds them. Positions count from 0, rows from 1. */
export class RowList implements Disposable {
  readonly #file: RowFile;
  readonly #report: () => Report | undefined;
  readonly #changed = new Emitter<undefined>();
  #filter: RowFilter = { text: '', matchCase: false, problems: undefined };
  #phase: ListPhase = 'all';
  #rows: number[] = [];
  #chosen: ProblemRows | undefined;
  #search: AsyncGenerator<SearchStep, void, undefined> | undefined;
  #stop = new AbortController();
  #searchedBytes = 0;

  /** Fires when there are more rows, or the phase is another. */
  readonly onDidChange = this.#changed.event;

  /** @param report tells the file's report once there is one */
  constructor(file: RowFile, report: () => Report | undefined) {
    this.#file = file;
    this.#report = report;
  }

  get phase(): ListPhase {
    return this.#phase;
  }

  /** Rows listed so far. */
  get length(): number {
    return this.#phase === 'all' ? this.#file.rows : this.#rows.length;
  }

  /** How much of the file was searched, from 0 to 1. */
  get searched(): number {
    return this.#file.sizeBytes === 0 ? 1 : this.#searchedBytes / this.#file.sizeBytes;
  }

  /** The problems that the filter is about, where it is about any and they are known. */
  get problems(): ProblemRows | undefined {
    return this.#chosen;
  }

  /** The row at a position. */
  rowAt(position: number): number | undefined {
    if (position < 0 || position >= this.length) return undefined;
    return this.#phase === 'all' ? position + 1 : this.#rows[position];
  }

  /** The position of a row, or undefined where it is not listed. */
  positionOf(row: number): number | undefined {
    if (this.#phase === 'all') return row >= 1 && row <= this.#file.rows ? row - 1 : undefined;
    const position = this.#rows.indexOf(row);
    return position === -1 ? undefined : position;
  }

  /** Lists the rows of another filter; what was sought before is given up. */
  set(filter: RowFilter): void {
    this.#filter = filter;
    this.#restart();
  }

  /** Begins anew what waited for the report or for the rows to be counted, or was made with another report. */
  refresh(): void {
    const needsReport = this.#filter.problems !== undefined;
    if (this.#phase === 'waiting' || (needsReport && this.#phase !== 'all')) this.#restart();
  }

  /** Finds another page of rows. */
  more(): void {
    if (this.#phase === 'resting') this.#go();
  }

  dispose(): void {
    this.#stop.abort();
    this.#changed.dispose();
  }

  #restart(): void {
    this.#stop.abort();
    this.#stop = new AbortController();
    this.#search = undefined;
    this.#searchedBytes = 0;
    this.#rows = [];
    this.#chosen = undefined;
    const { text, matchCase, problems } = this.#filter;
    const pattern = searchPattern(text, matchCase);
    const report = this.#report();
    if (pattern === undefined && problems === undefined) {
      this.#become('all');
    } else if (!this.#file.isCounted || (problems !== undefined && report === undefined)) {
      this.#become('waiting');
    } else {
      if (problems !== undefined && report !== undefined) this.#chosen = rowsWithProblems(report, problems);
      if (pattern === undefined) {
        this.#rows = this.#chosen?.rows ?? [];
        this.#become('done');
      } else {
        this.#search = searchRows(this.#file, pattern, this.#stop.signal);
        this.#go();
      }
    }
  }

  #go(): void {
    this.#become('searching');
    const { signal } = this.#stop;
    this.#findPage(signal).then(
      (isDone) => {
        if (!signal.aborted) this.#become(isDone ? 'done' : 'resting');
      },
      () => {
        if (!signal.aborted) this.#become('failed');
      },
    );
  }

  async #findPage(signal: AbortSignal): Promise<boolean> {
    const chosen = this.#chosen === undefined ? undefined : new Set(this.#chosen.rows);
    const enough = this.#rows.length + SEARCH_PAGE_ROWS;
    while (this.#search !== undefined && this.#rows.length < enough) {
      const step = await this.#search.next();
      if (signal.aborted) return false;
      if (step.done === true) return true;
      this.#searchedBytes = step.value.bytes;
      for (const row of step.value.rows) if (chosen?.has(row) ?? true) this.#rows.push(row);
      this.#changed.fire(undefined);
    }
    return false;
  }

  #become(phase: ListPhase): void {
    this.#phase = phase;
    this.#changed.fire(undefined);
  }
}
