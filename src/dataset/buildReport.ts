import type { Duplicates, HashedSegment } from './duplicates.ts';
import { MAX_HASHED_ROWS } from './duplicates.ts';
import { rowLengths } from './lengths.ts';
import { PROBLEM_FIELDS, ProblemGroup, PROBLEMS } from './problems.ts';
import { FORMATS, ROLES, type FileKind, type Format, type Report, type Statistics } from './report.ts';
import type { Counts } from './scanner.ts';
import { DIFFERENT_FORMAT, DUPLICATE_ROW, PLACE_CODE_COUNT, ROW_OF_FORMAT } from './scanner/codes.ts';
import type { Segment } from './segments.ts';

/** About how many bytes of text make a token; without a tokenizer, and for most languages and models. */
const BYTES_PER_TOKEN = 4;

/** Where a segment begins in the file, in rows and lines from 0. */
interface Beginning {
  firstRow: number;
  firstLine: number;
}

/** Gathers what workers say of the segments of a file, in whatever order, and makes the report of it. */
export class ReportBuilder {
  readonly #segments: Segment[] = [];
  readonly #counts: Counts[] = [];
  readonly #locatedLimit: number;
  #hashedRows = 0;

  constructor(locatedLimit: number) {
    this.#locatedLimit = locatedLimit;
  }

  addSegment(segment: Segment): void {
    this.#segments[segment.number] = segment;
  }

  /** Takes what one worker counted in all its segments. */
  addCounts(counts: Counts): void {
    this.#counts.push(counts);
  }

  /** Hands over the rows that can be duplicates, for the search. */
  takeHashed(): HashedSegment[] {
    const beginnings = this.#beginnings();
    this.#hashedRows = this.#segments.reduce((total, { hashed }) => total + hashed.starts.length, 0);
    return this.#segments.map(({ number, hashed, lineBreaks }, index) => ({
      ...hashed,
      number,
      lineBreaks,
      ...(beginnings[index] ?? { firstRow: 0, firstLine: 0 }),
    }));
  }

  build(
    file: { path: string; sizeBytes: number; mtimeMs: number },
    sha256: string,
    kind: FileKind,
    duplicates: Duplicates,
  ): Report {
    const sum = (of: 'rows' | 'blankRows' | 'characters') =>
      this.#segments.reduce((total, segment) => total + segment[of], 0);
    const rows = sum('rows');
    const blankRows = sum('blankRows');
    const formats = named(
      FORMATS,
      this.#added(({ formats }) => formats),
    );
    const format = mostCommon(formats);
    return {
      ...file,
      sha256,
      kind,
      rows,
      blankRows,
      formats,
      format,
      duplicatesLookedForRows: this.#hashedRows <= MAX_HASHED_ROWS ? rows : MAX_HASHED_ROWS,
      statistics: this.#statistics(file.sizeBytes, sum('characters')),
      problems: this.#problems(format, duplicates),
      index: this.#index(),
    };
  }

  #beginnings(): Beginning[] {
    let firstRow = 0;
    let firstLine = 0;
    return this.#segments.map(({ rows, lineBreaks }) => {
      const beginning = { firstRow, firstLine };
      firstRow += rows;
      firstLine += rows + lineBreaks;
      return beginning;
    });
  }

  #added(of: (counts: Counts) => Uint32Array): Uint32Array {
    const [first = new Uint32Array(), ...others] = this.#counts.map(of);
    return first.map((value, index) => others.reduce((total, other) => total + (other[index] ?? 0), value));
  }

  #statistics(sizeBytes: number, characters: number): Statistics {
    return {
      characters,
      estimatedTokens: Math.round(sizeBytes / BYTES_PER_TOKEN),
      lengths: rowLengths({
        bins: this.#added(({ lengthBins }) => lengthBins),
        minLength: Math.min(...this.#counts.map(({ minLength }) => minLength)),
        maxLength: Math.max(...this.#counts.map(({ maxLength }) => maxLength)),
        lengthSum: this.#counts.reduce((total, { lengthSum }) => total + lengthSum, 0),
      }),
      roles: named(
        ROLES,
        this.#added(({ roles }) => roles),
      ),
      maxTurns: Math.max(0, ...this.#counts.map(({ maxTurns }) => maxTurns)),
    };
  }

  #problems(format: Format | undefined, duplicates: Duplicates): ProblemGroup[] {
    const totals = this.#added((counts) => counts.totals);
    const places = this.#places();
    const other = otherFormats(format);
    const otherPlaces = new Places(this.#locatedLimit);
    for (const code of other) otherPlaces.addAll(places[code]);
    const group = (code: number): ProblemGroup => {
      if (code === DUPLICATE_ROW)
        return new ProblemGroup(code, duplicates.total, duplicates.places, duplicates.details);
      if (code === DIFFERENT_FORMAT) {
        const total = other.reduce((sum, formatCode) => sum + (totals[formatCode] ?? 0), 0);
        return new ProblemGroup(code, total, otherPlaces.inOrder(), []);
      }
      const { fields, details } = places[code] ?? new Places(0);
      return new ProblemGroup(code, totals[code] ?? 0, Float64Array.from(fields), details);
    };
    const groups = PROBLEMS.map((_, code) => group(code)).filter(({ total }) => total > 0);
    return [
      ...groups.filter(({ severity }) => severity === 'error'),
      ...groups.filter(({ severity }) => severity === 'warning'),
    ];
  }

  /** The places of each code, numbered through the file. */
  #places(): Places[] {
    const byCode = Array.from({ length: PLACE_CODE_COUNT }, () => new Places(this.#locatedLimit));
    const beginnings = this.#beginnings();
    for (const [index, { places }] of this.#segments.entries()) {
      const { firstRow, firstLine } = beginnings[index] ?? { firstRow: 0, firstLine: 0 };
      for (const [place, code] of places.codes.entries()) {
        const at = place * PROBLEM_FIELDS;
        const [row = 0, line = 0, column = 1, offset = 0, length = 1] = places.fields.subarray(
          at,
          at + PROBLEM_FIELDS,
        );
        byCode[code]?.add(
          [firstRow + row + 1, firstLine + line + 1, column, offset, length],
          places.details[place],
        );
      }
    }
    return byCode;
  }

  #index(): Report['index'] {
    const rows: number[] = [];
    const offsets: number[] = [];
    const beginnings = this.#beginnings();
    for (const [number, { index }] of this.#segments.entries()) {
      for (let at = 0; at < index.length; at += 2) {
        rows.push((beginnings[number]?.firstRow ?? 0) + (index[at] ?? 0) + 1);
        offsets.push(index[at + 1] ?? 0);
      }
    }
    return { rows: Float64Array.from(rows), offsets: Float64Array.from(offsets) };
  }
}

/** Places of one code, up to a limit. */
class Places {
  readonly fields: number[] = [];
  readonly details: string[] = [];
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(fields: readonly number[], detail: string | undefined): void {
    if (this.fields.length >= this.#limit * PROBLEM_FIELDS) return;
    this.fields.push(...fields);
    if (detail !== undefined) this.details.push(detail);
  }

  addAll(other: Places | undefined): void {
    for (const value of other?.fields ?? []) this.fields.push(value);
  }

  /** As many as the limit allows, sorted by row. */
  inOrder(): Float64Array {
    const rows: number[][] = [];
    for (let at = 0; at < this.fields.length; at += PROBLEM_FIELDS)
      rows.push(this.fields.slice(at, at + PROBLEM_FIELDS));
    rows.sort(([one = 0], [other = 0]) => one - other);
    return Float64Array.from(rows.slice(0, this.#limit).flat());
  }
}

function named<K extends string>(names: readonly K[], values: Uint32Array): Record<K, number> {
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? 0])) as Record<K, number>;
}

function mostCommon(formats: Readonly<Record<Format, number>>): Format | undefined {
  const known = FORMATS.filter((format) => format !== 'unknown' && formats[format] > 0);
  return known.toSorted((one, other) => formats[other] - formats[one])[0];
}

/** Codes of rows whose format is known and another. */
function otherFormats(format: Format | undefined): number[] {
  return FORMATS.flatMap((name, index) =>
    name === format || name === 'unknown' ? [] : [ROW_OF_FORMAT + index],
  );
}
