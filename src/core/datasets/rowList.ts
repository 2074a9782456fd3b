import type { Disposable } from '../base/disposable.ts';
import { throwIfCancelled } from '../base/errors.ts';
import { Emitter } from '../base/event.ts';
import type { ProblemChoice, ProblemRows } from './report.ts';

/** Rows per page: a search pauses after finding this many until more are requested. */
export const SEARCH_PAGE_ROWS = 1_000;

/** Selects the rows to list. */
export interface RowFilter {
  /** Only rows with this text, or all if empty. */
  text: string;
  matchCase: boolean;
  /** Only rows with such a problem, or all if undefined. */
  problems: ProblemChoice | undefined;
}

/**
 * `all`: no filter. `waiting`: for the row count or the report. `resting`: a page of rows was found, and
 * there may be more. `failed`: the file could not be read to its end.
 */
export type ListPhase = 'all' | 'waiting' | 'searching' | 'resting' | 'done' | 'failed';

/** Returns the rows of a choice; undefined if they aren't known yet. */
export type RowsOfChoice = (choice: ProblemChoice) => ProblemRows | undefined;

/** The file whose rows are listed: a `RowFile`. */
interface CountedFile {
  readonly rows: number;
  readonly isCounted: boolean;
  readonly sizeBytes: number;
  read(buffer: Buffer, offset: number): Promise<Buffer>;
}

/** Owns the filtered list of a file's rows and the search behind it. Positions count from 0, rows from 1. */
export class RowList implements Disposable {
  readonly #file: CountedFile;
  readonly #rowsOf: RowsOfChoice;
  readonly #changed = new Emitter<undefined>();
  #filter: RowFilter = { text: '', matchCase: false, problems: undefined };
  #phase: ListPhase = 'all';
  #rows: number[] = [];
  #chosen: ProblemRows | undefined;
  #search: AsyncGenerator<SearchStep, void, undefined> | undefined;
  #stop = new AbortController();
  #searchedBytes = 0;

  /** Fires when rows are added or the phase changes. */
  readonly onDidChange = this.#changed.event;

  constructor(file: CountedFile, rowsOf: RowsOfChoice) {
    this.#file = file;
    this.#rowsOf = rowsOf;
  }

  get phase(): ListPhase {
    return this.#phase;
  }

  /** Rows listed so far. */
  get length(): number {
    return this.#phase === 'all' ? this.#file.rows : this.#rows.length;
  }

  /** The fraction of the file searched so far, from 0 to 1. */
  get searched(): number {
    return this.#file.sizeBytes === 0 ? 1 : this.#searchedBytes / this.#file.sizeBytes;
  }

  /** The rows with the filter's problems, if it has any and they are known. */
  get problems(): ProblemRows | undefined {
    return this.#chosen;
  }

  rowAt(position: number): number | undefined {
    if (position < 0 || position >= this.length) return undefined;
    return this.#phase === 'all' ? position + 1 : this.#rows[position];
  }

  /** Returns the position of a row, or undefined if it is not listed. */
  positionOf(row: number): number | undefined {
    if (this.#phase === 'all') return row >= 1 && row <= this.#file.rows ? row - 1 : undefined;
    const position = this.#rows.indexOf(row);
    return position === -1 ? undefined : position;
  }

  /** Returns the position of the first listed row from a row on, or undefined if there is none yet. */
  positionFrom(row: number): number | undefined {
    if (this.#phase === 'all') return this.positionOf(row);
    const position = this.#rows.findIndex((one) => one >= row);
    return position === -1 ? undefined : position;
  }

  /** Whether no further rows will be listed unless someone asks for more. */
  get isComplete(): boolean {
    return this.#phase === 'all' ? this.#file.isCounted : ['resting', 'done', 'failed'].includes(this.#phase);
  }

  /** Applies a filter and cancels the previous search. */
  set(filter: RowFilter): void {
    this.#filter = filter;
    this.#restart();
  }

  /** Restarts a search that waited for the row count or the chosen rows, or used outdated ones. */
  refresh(): void {
    const isChosen = this.#filter.problems !== undefined;
    if (this.#phase === 'waiting' || (isChosen && this.#phase !== 'all')) this.#restart();
  }

  /** Searches for the next page of rows. */
  more(): void {
    if (this.#phase === 'resting') this.#searchPage();
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
    const { text, matchCase, problems } = this.#filter;
    const pattern = searchPattern(text, matchCase);
    this.#chosen = problems && this.#rowsOf(problems);
    if (pattern === undefined && problems === undefined) {
      this.#become('all');
    } else if (!this.#file.isCounted || (problems !== undefined && this.#chosen === undefined)) {
      this.#become('waiting');
    } else {
      if (pattern === undefined) {
        this.#rows = this.#chosen?.rows ?? [];
        this.#become('done');
      } else {
        this.#search = searchRows(this.#file, pattern, this.#stop.signal);
        this.#searchPage();
      }
    }
  }

  #searchPage(): void {
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

/** Longer texts are cut off, to keep the comparison at each position short. */
export const MAX_SEARCH_UNITS = 200;

const PIECE_BYTES = 128 * 1024;
/** `\uXXXX` is the longest JSON spelling of a UTF-16 unit. */
const BYTES_OF_AN_ESCAPE = 6;
const LF = '\n';

/** Progress of a search. */
export interface SearchStep {
  /** Matching rows found since the previous step, in file order. */
  rows: number[];
  /** Bytes searched so far. */
  bytes: number;
}

/** A text to search for, in every JSON spelling. */
export interface SearchPattern {
  /** Matches bytes read as Latin-1, where each byte is one character and nothing needs decoding. */
  expression: RegExp;
  /** Maximum length of a match. */
  maxBytes: number;
}

/** Returns the pattern of an unescaped text, or undefined if it is empty. */
export function searchPattern(text: string, matchCase: boolean): SearchPattern | undefined {
  const wanted = text.slice(0, MAX_SEARCH_UNITS);
  if (wanted === '') return undefined;
  const source = Array.from(wanted, (character) => spellings(character, matchCase)).join('');
  return { expression: new RegExp(source, 'g'), maxBytes: wanted.length * BYTES_OF_AN_ESCAPE };
}

/**
 * Yields the rows that contain a text, each once. Reads on only when the next step is requested.
 * @throws CancelledError, CheckError `unreadable`
 */
export async function* searchRows(
  file: CountedFile,
  { expression, maxBytes }: SearchPattern,
  signal: AbortSignal,
): AsyncGenerator<SearchStep, void, undefined> {
  const buffer = Buffer.allocUnsafeSlow(maxBytes + PIECE_BYTES);
  /** The row at the start of the buffer. */
  let row = 1;
  let lastFound = 0;
  let carried = 0;
  for (let offset = 0; offset < file.sizeBytes;) {
    const piece = await file.read(buffer.subarray(carried, carried + PIECE_BYTES), offset);
    throwIfCancelled(signal);
    if (piece.length === 0) return;
    offset += piece.length;
    const text = buffer.toString('latin1', 0, carried + piece.length);
    const rows: number[] = [];
    let at = 0;
    expression.lastIndex = 0;
    for (let match = expression.exec(text); match !== null; match = expression.exec(text)) {
      row += countLineFeeds(text, at, match.index);
      at = match.index;
      if (row > lastFound) rows.push(row);
      lastFound = Math.max(row, lastFound);
      const end = text.indexOf(LF, at);
      if (end === -1) break;
      expression.lastIndex = end;
    }
    // A match may begin in this piece and end in the next one.
    const keepFrom = Math.max(0, text.length - maxBytes);
    row += keepFrom >= at ? countLineFeeds(text, at, keepFrom) : -countLineFeeds(text, keepFrom, at);
    carried = buffer.copy(buffer, 0, keepFrom, text.length);
    yield { rows, bytes: offset };
  }
}

/** Returns the bytes of each JSON spelling of a character, including the character itself. */
function spellings(character: string, matchCase: boolean): string {
  const cases = new Set(
    matchCase ? [character] : [character, character.toLowerCase(), character.toUpperCase()],
  );
  // These are never escaped.
  if (/^[A-Za-z0-9 ]$/.test(character)) return cases.size === 1 ? character : `[${[...cases].join('')}]`;
  const short = { '"': '"', '\\': '\\\\', '/': '\\/', '\t': 't' }[character];
  const ways = [
    ...(short === undefined ? [] : [`\\\\${short}`]),
    ...[...cases].map(bytesOf),
    ...[...cases].map((one) => one.replace(/[^]/g, escapeOfUnit)),
  ];
  return `(?:${ways.join('|')})`;
}

/** Returns the UTF-8 bytes of a text as Latin-1, escaped for a regular expression. */
function bytesOf(text: string): string {
  return Buffer.from(text)
    .toString('latin1')
    .replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

/** The four digits may be in upper or lower case, regardless of the case of the text. */
function escapeOfUnit(unit: string): string {
  const digits = unit.charCodeAt(0).toString(16).padStart(4, '0');
  return `\\\\u${digits.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)}`;
}

function countLineFeeds(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf(LF, from); at !== -1 && at < to; at = text.indexOf(LF, at + 1)) count += 1;
  return count;
}
