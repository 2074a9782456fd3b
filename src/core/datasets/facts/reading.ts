// What all rows of a file say: counted in each thread, then brought together.
import type { FileStamp } from '../../base/fileStamp.ts';
import { LOCATED_LIMIT } from '../scanner/codes.ts';
import { Distinct, type DistinctTexts } from './distinct.ts';
import type { Finding, KindCounts } from './fact.ts';
import { FACTS } from './table.ts';
import type { TextRow } from './textRow.ts';
import { SCRIPTS, weightOf, type Script, type Written } from './writing.ts';

/** A text that several rows have: the first of them, and how many. */
export interface CommonText {
  row: number;
  rows: number;
}

/** Estimates without a tokenizer: about one token per four bytes of text (`weightOf`). Names and brackets don't count. */
export interface Tokens {
  text: number;
  /** Those that the assistant is to say: its messages, answers, completions, chosen and rejected ones. */
  assistant: number;
  rowsOver4096: number;
  rowsOver8192: number;
  /** Rows with up to 1, 2, 4, 8 tokens and so on, and more than the number before. */
  rows: readonly number[];
}

/** What the texts of a file say, with the stamp of the version that was read. */
export interface Reading extends FileStamp {
  path: string;
  /** Rows that were read, and those that are too long for it. */
  rows: number;
  unread: number;
  /** In the order of the table. */
  findings: readonly Finding[];
  tokens: Tokens;
  conversations: number;
  /** Those in which the assistant speaks once. */
  singleExchanges: number;
  system: {
    /** Those that can have a system message, and those that lack it. */
    conversations: number;
    without: number;
    /** Different texts, and the one of most conversations. */
    texts: number;
    main: CommonText | undefined;
  };
  /** Rows with an answer. */
  answers: number;
  /** All answers, the most common first, if they are few; they may be too long for labels. */
  labels: readonly CommonText[];
  /** The most common one, if it is common, and its share of the rows from 0 to 1. */
  answer: (CommonText & { share: number }) | undefined;
  /** Shares of the text, in bytes, from 0 to 1. What isn't here is Latin, or has no script. */
  scripts: Readonly<Partial<Record<Script, number>>>;
}

/** Tokens are estimated from bytes. */
const BYTES_PER_TOKEN = 4;
/** A common answer has at least so many rows, and at least this share of them. */
const COMMON_ROWS = 10;
const COMMON_SHARE = 0.05;
/** So few answers are labels, if each has so many rows on average. */
const MOST_LABELS = 12;
const ROWS_OF_LABEL = 10;
/** More kinds of a fact aren't told apart. */
const MOST_KINDS = 200;
/** Kinds of rows beyond their first one. */
const FURTHER = '';

/** Rows of a kind of a fact, and the places of the first of them in each thread. */
interface Rows {
  total: number;
  places: number[];
}

const NUMBERS = {
  ...{ rows: 0, unread: 0, textBytes: 0, assistantBytes: 0, over4096: 0, over8192: 0 },
  ...{ conversations: 0, singleExchanges: 0, systems: 0, without: 0 },
};

/** What one thread counted, as plain data. */
export interface PartOfReading {
  numbers: typeof NUMBERS;
  written: Written;
  lengths: number[];
  facts: Map<string, Rows>[];
  answers: DistinctTexts;
  systems: DistinctTexts;
  /** How many rows each segment has. */
  segments: [number: number, rows: number][];
}

/** Collects what rows say. A place is a number that rises with the row. */
export class RowTexts {
  readonly #numbers = { ...NUMBERS };
  readonly #written: Written = { bytes: 0, scripts: new Float64Array(SCRIPTS.length + 1) };
  readonly #lengths: number[] = [];
  readonly #facts = FACTS.map(() => new Map<string, Rows>());
  readonly #answers = new Distinct();
  readonly #systems = new Distinct();
  readonly #segments: [number: number, rows: number][] = [];

  /** @param row undefined if it is no object of JSON */
  add(row: TextRow | undefined, place: number): void {
    if (row === undefined) return;
    this.#numbers.rows++;
    this.#addTokens(row);
    if (row.answer !== undefined) this.#answers.add(row.answer, place);
    if (row.system !== undefined) {
      this.#numbers.systems++;
      if (row.system === '') this.#numbers.without++;
      else this.#systems.add(row.system, place);
    }
    if (row.turns.length > 0) {
      this.#numbers.conversations++;
      if (row.answers.length === 1) this.#numbers.singleExchanges++;
    }
    for (const [at, { kindsOf }] of FACTS.entries()) {
      const kinds = kindsOf(row);
      if (kinds.length === 0) continue;
      const known = this.#facts[at] ?? new Map<string, Rows>();
      for (const kind of kinds) count(known, kind, place);
      for (const _ of kinds.slice(1)) count(known, FURTHER, place);
    }
  }

  /** Counts a row that is too long. */
  skip(): void {
    this.#numbers.unread++;
  }

  endSegment(number: number, rows: number): void {
    this.#segments.push([number, rows]);
  }

  #addTokens({ said, answers, isWide }: TextRow): void {
    let weight = 0;
    for (const one of said) {
      const own = isWide ? weightOf(one.text, this.#written) : one.text.length;
      if (!isWide) this.#written.bytes += own;
      weight += own;
      if (one.by === 'assistant' || one.by === 'call') this.#numbers.assistantBytes += own;
    }
    this.#numbers.textBytes += weight;
    if (weight > 4_096 * BYTES_PER_TOKEN) this.#numbers.over4096++;
    if (weight > 8_192 * BYTES_PER_TOKEN) this.#numbers.over8192++;
    const tokens = Math.ceil(weight / BYTES_PER_TOKEN);
    const bin = tokens < 2 ? 0 : 32 - Math.clz32(tokens - 1);
    if (said.length > 0 || answers.length > 0) this.#lengths[bin] = (this.#lengths[bin] ?? 0) + 1;
  }

  /** Returns what was counted. */
  part(): PartOfReading {
    return {
      ...{ numbers: this.#numbers, written: this.#written, lengths: this.#lengths, facts: this.#facts },
      ...{ answers: this.#answers.all(), systems: this.#systems.all(), segments: this.#segments },
    };
  }

  /** Adds what another thread counted. */
  merge(part: PartOfReading): void {
    for (const name of Object.keys(NUMBERS) as (keyof typeof NUMBERS)[])
      this.#numbers[name] += part.numbers[name];
    this.#written.bytes += part.written.bytes;
    for (const [script, bytes] of part.written.scripts.entries())
      this.#written.scripts[script] = (this.#written.scripts[script] ?? 0) + bytes;
    part.lengths.forEach((rows, bin) => (this.#lengths[bin] = (this.#lengths[bin] ?? 0) + rows));
    for (const [at, kinds] of part.facts.entries())
      for (const [kind, { total, places }] of kinds) {
        const rows = rowsOf(this.#facts[at] ?? new Map<string, Rows>(), kind);
        rows.total += total;
        rows.places.push(...places);
      }
    this.#answers.merge(part.answers);
    this.#systems.merge(part.systems);
    this.#segments.push(...part.segments);
  }

  /** Returns what the file says. @param segmentBytes how many places a segment has at most */
  result(segmentBytes: number): Omit<Reading, keyof FileStamp | 'path'> {
    const before = new Map<number, number>();
    let rows = 0;
    for (const [number, ofSegment] of this.#segments.toSorted(([one], [other]) => one - other)) {
      before.set(number, rows);
      rows += ofSegment;
    }
    const rowAt = (place: number) =>
      (before.get(Math.trunc(place / segmentBytes)) ?? 0) + (place % segmentBytes) + 1;
    const common = (one: { place: number; rows: number }) => ({ row: rowAt(one.place), rows: one.rows });
    const { conversations, singleExchanges, systems, without, unread, rows: read } = this.#numbers;
    const answers = this.#answers;
    const areLabels = answers.size <= MOST_LABELS && answers.rows >= answers.size * ROWS_OF_LABEL;
    const [answer] = answers.most(1);
    const isCommon = answer && answer.rows >= Math.max(COMMON_ROWS, this.#numbers.rows * COMMON_SHARE);
    return {
      ...{ rows: read, unread, conversations, singleExchanges, answers: answers.rows },
      findings: this.#findings(rowAt, {
        answers: answers.rows,
        isLabel: (text) => areLabels && answers.has(text),
      }),
      tokens: this.#tokens(),
      system: {
        ...{ conversations: systems, without, texts: this.#systems.size },
        main: this.#systems.most(1).map(common)[0],
      },
      labels: areLabels ? answers.most(MOST_LABELS).map(common) : [],
      answer: isCommon ? { ...common(answer), share: answer.rows / this.#numbers.rows } : undefined,
      scripts: this.#scripts(),
    };
  }

  #findings(
    rowAt: (place: number) => number,
    file: Parameters<NonNullable<(typeof FACTS)[number]['shown']>>[1],
  ): Finding[] {
    return FACTS.flatMap(({ name, shown }, at) => {
      const known = this.#facts[at] ?? new Map<string, Rows>();
      const counts: Record<string, number> = {};
      for (const [kind, { total }] of known) if (kind !== FURTHER) counts[kind] = total;
      const kinds = Object.keys(counts);
      const chosen = kinds.filter((kind) => shown?.(counts, file).includes(kind) ?? true);
      if (chosen.length === 0) return [];
      const of = (some: readonly string[]): KindCounts =>
        Object.fromEntries(some.map((kind) => [kind, counts[kind] ?? 0]));
      const places = new Set(chosen.flatMap((kind) => known.get(kind)?.places ?? []));
      const rows = [...places].sort((one, other) => one - other).slice(0, LOCATED_LIMIT);
      // Rows of several kinds count once: as far as they are located, if not all kinds are shown.
      const sum = chosen.reduce((total, kind) => total + (counts[kind] ?? 0), 0);
      const further = chosen.length === kinds.length ? (known.get(FURTHER)?.total ?? 0) : 0;
      const total = sum > LOCATED_LIMIT ? sum - further : places.size;
      const others = of(kinds.filter((kind) => !chosen.includes(kind)));
      return [{ name, total, rows: rows.map(rowAt), kinds: of(chosen), others }];
    });
  }

  #tokens(): Tokens {
    const { textBytes, assistantBytes, over4096, over8192 } = this.#numbers;
    return {
      text: Math.round(textBytes / BYTES_PER_TOKEN),
      assistant: Math.round(assistantBytes / BYTES_PER_TOKEN),
      ...{ rowsOver4096: over4096, rowsOver8192: over8192 },
      rows: Array.from(this.#lengths, (rows: number | undefined) => rows ?? 0),
    };
  }

  #scripts(): Reading['scripts'] {
    const { bytes, scripts } = this.#written;
    if (bytes === 0) return {};
    return Object.fromEntries(SCRIPTS.map((script, at) => [script, (scripts[at + 1] ?? 0) / bytes]));
  }
}

function rowsOf(known: Map<string, Rows>, kind: string): Rows {
  let rows = known.get(kind);
  if (rows === undefined) known.set(kind, (rows = { total: 0, places: [] }));
  return rows;
}

function count(known: Map<string, Rows>, kind: string, place: number): void {
  if (known.size >= MOST_KINDS && !known.has(kind)) return;
  const rows = rowsOf(known, kind);
  rows.total++;
  if (rows.places.length < LOCATED_LIMIT) rows.places.push(place);
}
