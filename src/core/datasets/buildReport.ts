import type { FileStamp } from '../base/fileStamp.ts';
import { FORMATS, ROLES, type Format } from './formats.ts';
import { PROBLEM_FIELDS, ProblemGroup, PROBLEMS, UNTRAINABLE, type Problem } from './problems.ts';
import type { FileKind, Report, Statistics } from './report.ts';
import { MAX_COMPARED_PROMPTS, MAX_COMPARED_ROWS, TEXT_NUMBERS } from './sameRows.ts';
import type { Repeats, SameRows } from './sameRows.ts';
import type { Counts } from './scanner.ts';
import {
  DIFFERENT_FORMAT,
  DUPLICATE_ROW,
  LOCATED_LIMIT,
  ROW_OF_FORMAT,
  ROW_TOO_LONG,
} from './scanner/codes.ts';
import type { HashedRows, Segment, SegmentPlaces } from './segments.ts';

/** Where a segment begins in the file, in rows and lines from 0. */
interface Beginning {
  firstRow: number;
  firstLine: number;
}

/** Hashed rows of a segment; `first` counts the hashed rows before them. */
type Compared = Beginning & Omit<HashedRows, 'hashes' | 'prompts'> & { first: number };

/** Collects the workers' results for the segments of a file, which come in any order, and builds the report. */
export class ReportBuilder {
  readonly #segments: Segment[] = [];
  readonly #counts: Counts[] = [];
  readonly #places = new Map<number, Places>();
  /** How many segments are complete from the first on, and their rows and lines. */
  #numbered = 0;
  #rows = 0;
  #lines = 0;
  readonly #compared: Compared[] = [];
  #hashes = new Uint32Array(8192);
  #prompts = new Uint32Array(8192);
  #hashed = 0;

  /** Adds a segment, and numbers the rows of all segments that now follow without a gap. Doing it all at the end would block. */
  addSegment(segment: Segment): void {
    this.#segments[segment.number] = segment;
    for (let next; (next = this.#segments[this.#numbered]) !== undefined; this.#numbered++) {
      const beginning = { firstRow: this.#rows, firstLine: this.#lines };
      this.#rows += next.rows;
      this.#lines += next.rows + next.lineBreaks;
      for (const places of next.places) this.#placesOf(places.code).add(places, beginning);
      for (const hashed of next.hashed) if (!this.hasEnoughHashed) this.#addHashed(hashed, beginning);
      [next.places, next.hashed] = [[], []];
    }
  }

  #addHashed({ hashes, prompts, ...rows }: HashedRows, beginning: Beginning): void {
    this.#compared.push({ ...beginning, ...rows, first: this.#hashed });
    if (prompts !== undefined && !this.hasEnoughPrompts) this.#addPrompts(prompts);
    const from = 2 * this.#hashed;
    this.#hashes = withRoom(this.#hashes, from + hashes.length);
    this.#hashes.set(hashes, from);
    // Free the memory now, not when the garbage collector runs.
    hashes.buffer.transfer(0);
    this.#hashed += rows.starts.length;
  }

  #addPrompts(prompts: Uint32Array<ArrayBuffer>): void {
    const from = TEXT_NUMBERS * this.#hashed;
    this.#prompts = withRoom(this.#prompts, from + prompts.length);
    this.#prompts.set(prompts, from);
    prompts.buffer.transfer(0);
  }

  get hasEnoughPrompts(): boolean {
    return this.#hashed >= MAX_COMPARED_PROMPTS;
  }

  /** Hashes of the texts to compare. */
  get prompts(): Uint32Array<ArrayBuffer> {
    return this.#prompts.subarray(0, TEXT_NUMBERS * Math.min(this.#hashed, MAX_COMPARED_PROMPTS));
  }

  /** Whether there are more hashed rows than the limit. The report says so; further hashes would only cost memory. */
  get hasEnoughHashed(): boolean {
    return this.#hashed > MAX_COMPARED_ROWS;
  }

  /** Hashes of the rows to compare. */
  get hashes(): Uint32Array<ArrayBuffer> {
    return this.#hashes.subarray(0, 2 * Math.min(this.#hashed, MAX_COMPARED_ROWS));
  }

  /** Adds what one worker counted in all its segments. */
  addCounts(counts: Counts): void {
    this.#counts.push(counts);
  }

  build(
    file: FileStamp & Pick<Report, 'path'>,
    kind: FileKind,
    {
      same = { total: 0, pairs: [] },
      repeats = { prompts: 0, withOtherAnswers: 0 },
    }: { same?: SameRows; repeats?: Repeats } = {},
  ): Report {
    const sum = (of: 'rows' | 'blankRows' | 'characters') =>
      this.#segments.reduce((total, segment) => total + segment[of], 0);
    const rows = sum('rows');
    const formats = this.#named(FORMATS, this.#added('formats'));
    const format = mostCommon(formats);
    return {
      ...file,
      kind,
      rows,
      blankRows: sum('blankRows'),
      formats,
      format,
      untrainable: this.#named(UNTRAINABLE, this.#added('untrainable').subarray(1)),
      errorRows: this.#counts.reduce((total, { errorRows }) => total + errorRows, 0),
      unprompted: this.#counts.reduce((total, { unprompted }) => total + unprompted, 0),
      datasetRows: Math.max(0, ...this.#added('typedFormats')),
      repeats: { ...repeats, comparedRows: this.#rowsWithTexts(rows) },
      comparedRows: this.hasEnoughHashed ? this.#placeOf(MAX_COMPARED_ROWS - 1).row : rows,
      statistics: this.#statistics(sum('characters')),
      problems: this.#problems(format, same),
    };
  }

  /** Returns the last row whose texts were compared. */
  #rowsWithTexts(rows: number): number {
    return this.#hashed <= MAX_COMPARED_PROMPTS ? rows : this.#placeOf(MAX_COMPARED_PROMPTS - 1).row;
  }

  /** Returns the place of a compared row. */
  #placeOf(index: number): Pick<Problem, 'row' | 'line' | 'offset'> {
    const rows = this.#compared.findLast(({ first }) => first <= index);
    if (rows === undefined) throw new RangeError(`no row ${index} was compared`);
    const { first, firstRow, firstLine, starts, base, runs } = rows;
    const at = index - first;
    let run = runs.length - 3;
    while ((runs[run] ?? 0) > at) run -= 3;
    const further = at - (runs[run] ?? 0);
    return {
      row: firstRow + (runs[run + 1] ?? 0) + further + 1,
      line: firstLine + (runs[run + 2] ?? 0) + further + 1,
      offset: base + (starts[at] ?? 0),
    };
  }

  #placesOf(code: number): Places {
    let places = this.#places.get(code);
    if (places === undefined) this.#places.set(code, (places = new Places()));
    return places;
  }

  /** Sums a table over all workers. */
  #added(table: 'totals' | 'formats' | 'typedFormats' | 'roles' | 'untrainable'): Uint32Array {
    const [first = new Uint32Array(), ...others] = this.#counts.map((counts) => counts[table]);
    return first.map((value, index) => others.reduce((total, other) => total + (other[index] ?? 0), value));
  }

  #named<K extends string>(names: readonly K[], values: Uint32Array): Record<K, number> {
    return Object.fromEntries(names.map((name, index) => [name, values[index] ?? 0])) as Record<K, number>;
  }

  #statistics(characters: number): Statistics {
    const most = (of: 'maxTurns' | 'maxLength') => Math.max(0, ...this.#counts.map((counts) => counts[of]));
    const tooLong = this.#added('totals')[ROW_TOO_LONG] ?? 0;
    return {
      characters: tooLong > 0 ? undefined : characters,
      longestBytes: most('maxLength'),
      roles: this.#named(ROLES, this.#added('roles')),
      maxTurns: most('maxTurns'),
    };
  }

  #problems(format: Format | undefined, same: SameRows): ProblemGroup[] {
    const totals = this.#added('totals');
    const other = otherFormats(format);
    const group = (code: number): ProblemGroup => {
      if (code === DUPLICATE_ROW) {
        const found = same.pairs.map(([row]) => this.#placeOf(row));
        const places = found.flatMap(({ row, line, offset }) => [row, line, 1, offset, 1]);
        const details = same.pairs.map(([, first]) => String(this.#placeOf(first).row));
        return new ProblemGroup(code, same.total, Float64Array.from(places), details);
      }
      if (code === DIFFERENT_FORMAT) {
        const total = other.reduce((sum, formatCode) => sum + (totals[formatCode] ?? 0), 0);
        const found = other.map((formatCode) => this.#placesOf(formatCode).fields);
        return new ProblemGroup(code, total, mergedByRow(found), []);
      }
      const { fields, details } = this.#placesOf(code);
      return new ProblemGroup(code, totals[code] ?? 0, fields, details);
    };
    const groups = PROBLEMS.map((_, code) => group(code)).filter(({ total }) => total > 0);
    const { error = [], warning = [] } = Object.groupBy(groups, ({ severity }) => severity);
    return [...error, ...warning];
  }
}

/** The places of one code, counted in the file, up to a limit. */
class Places {
  #fields = new Float64Array(64 * PROBLEM_FIELDS);
  #length = 0;
  readonly details: string[] = [];

  /** Adds the places of the next segment. */
  add({ fields, details }: SegmentPlaces, { firstRow, firstLine }: Beginning): void {
    const from = this.#length;
    const to = Math.min(from + fields.length, LOCATED_LIMIT * PROBLEM_FIELDS);
    const all = (this.#fields = withRoom(this.#fields, to));
    all.set(fields.subarray(0, to - from), from);
    for (let at = from; at < to; at += PROBLEM_FIELDS) {
      all[at] = (all[at] ?? 0) + firstRow + 1;
      all[at + 1] = (all[at + 1] ?? 0) + firstLine + 1;
    }
    for (const detail of details.slice(0, (to - from) / PROBLEM_FIELDS)) this.details.push(detail);
    this.#length = to;
  }

  get fields(): Float64Array {
    return this.#fields.slice(0, this.#length);
  }
}

/** Returns the numbers in an array of at least the needed length. Frees the old array if it was too short. */
function withRoom<T extends Uint32Array<ArrayBuffer> | Float64Array<ArrayBuffer>>(all: T, needed: number): T {
  if (needed <= all.length) return all;
  const bytes = Math.max(needed, 2 * all.length) * all.BYTES_PER_ELEMENT;
  return new (all.constructor as new (buffer: ArrayBuffer) => T)(all.buffer.transfer(bytes));
}

/** Merges lists of places that are each sorted by row, up to a limit. */
function mergedByRow(lists: readonly Float64Array[]): Float64Array {
  const total = lists.reduce((sum, { length }) => sum + length, 0);
  const merged = new Float64Array(Math.min(total, LOCATED_LIMIT * PROBLEM_FIELDS));
  const read = lists.map(() => 0);
  for (let at = 0; at < merged.length; at += PROBLEM_FIELDS) {
    let first = 0;
    let firstRow = Infinity;
    for (const [index, list] of lists.entries()) {
      const row = list[read[index] ?? 0] ?? Infinity;
      if (row < firstRow) [first, firstRow] = [index, row];
    }
    const from = read[first] ?? 0;
    merged.set(lists[first]?.subarray(from, from + PROBLEM_FIELDS) ?? [], at);
    read[first] = from + PROBLEM_FIELDS;
  }
  return merged;
}

function mostCommon(formats: Readonly<Record<Format, number>>): Format | undefined {
  const known = FORMATS.filter((format) => format !== 'unknown' && formats[format] > 0);
  return known.toSorted((one, other) => formats[other] - formats[one])[0];
}

/** Returns the codes of rows with another known format. */
function otherFormats(format: Format | undefined): number[] {
  return FORMATS.flatMap((name, index) =>
    name === format || name === 'unknown' ? [] : [ROW_OF_FORMAT + index],
  );
}
