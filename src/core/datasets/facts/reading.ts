// What all rows of a file say: counted in each thread, then brought together.
import type { FileStamp } from '../../base/fileStamp.ts';
import { LOCATED_LIMIT } from '../scanner/codes.ts';
import { Distinct, type DistinctTexts } from './distinct.ts';
import type { Fact, FileTexts, Finding, KindCounts } from './fact.ts';
import { FACTS } from './table.ts';
import type { TextRow } from './textRow.ts';
import { SCRIPTS, weightOf, type Script } from './writing.ts';

/** A text that several rows have: the first of them, and how many. */
export interface CommonText {
  row: number;
  rows: number;
}

/** Estimates without a tokenizer: about one token per four bytes of text (`weightOf`). Names and brackets don't count. */
export interface Tokens {
  text: number;
  /** Those of the assistant: messages, answers, completions, chosen and rejected answers. */
  assistant: number;
  rowsOver4096: number;
  rowsOver8192: number;
  /** How many rows have up to 1, 2, 4, 8 tokens and so on, but more than the number before. */
  rows: readonly number[];
}

/** What the texts of a file say, with the stamp (size and times) of the version that was read. */
export interface Reading extends FileStamp {
  path: string;
  /** Rows that were read, and rows that were too long. */
  rows: number;
  unread: number;
  /** In the order of the table. */
  findings: readonly Finding[];
  tokens: Tokens;
  conversations: number;
  /** Conversations in which the assistant speaks once. */
  singleExchanges: number;
  system: {
    /** Conversations that can have a system message, and those that have none. */
    conversations: number;
    without: number;
    /** How many different system messages there are, and the most common one. */
    texts: number;
    main: CommonText | undefined;
  };
  /** Rows with an answer. */
  answers: number;
  /** All answers, the most common first, if there are only a few different ones. They may be too long to be labels. */
  labels: readonly CommonText[];
  /** The most common answer, if it is common enough, and its share of the rows from 0 to 1. */
  answer: (CommonText & { share: number }) | undefined;
  /** Shares of the text, in bytes, from 0 to 1. The rest is Latin or has no script. */
  scripts: Readonly<Partial<Record<Script, number>>>;
}

/** Tokens are estimated from bytes. */
const BYTES_PER_TOKEN = 4;
/** A common answer has at least so many rows, and at least this share of them. */
const COMMON_ROWS = 10;
const COMMON_SHARE = 0.05;
/** Up to so many different answers are labels, if each has so many rows on average. */
const MOST_LABELS = 12;
const ROWS_OF_LABEL = 10;
/** So many kinds of a fact are counted: each row may have another column. */
const MOST_KINDS = 2_000;

/** Rows of one kind, or another number; and the places of the first of these rows in each thread. */
interface Tally {
  total: number;
  places: number[];
}

type Total =
  | ('rows' | 'unread' | 'textBytes' | 'assistantBytes' | 'over4096' | 'over8192')
  | ('conversations' | 'singleExchanges' | 'systems' | `${number} tokens`);

/** What one thread counted, as plain data. */
export interface PartOfReading {
  /** By `Total`, and of each fact by its kinds. */
  tallies: Map<string, Tally>;
  /** Bytes of all texts, and in each script, by its number from 1. */
  written: Float64Array;
  answers: DistinctTexts;
  systems: DistinctTexts;
  /** How many rows each segment has. */
  segments: [number: number, rows: number][];
}

/** Collects what rows say. A place is a number that rises with the row. */
export class RowTexts {
  readonly #tallies = new Map<string, Tally>();
  /** How many kinds each fact has. */
  readonly #kinds = new Map<string, number>();
  readonly #written = new Float64Array(SCRIPTS.length + 1);
  readonly #answers = new Distinct();
  readonly #systems = new Distinct();
  readonly #segments: [number: number, rows: number][] = [];

  /** @param row undefined if it is no object of JSON */
  add(row: TextRow | undefined, place: number): void {
    if (row === undefined) return;
    const { answer, answers, system, turns } = row;
    this.count('rows');
    this.#addTokens(row);
    if (answer !== undefined) this.#answers.add(answer, place);
    if (system !== undefined) this.count('systems');
    if (system) this.#systems.add(system, place);
    if (turns.length > 0) this.count('conversations');
    if (turns.length > 0 && answers.length === 1) this.count('singleExchanges');
    for (const { name, kindsOf } of FACTS) {
      const kinds = kindsOf(row);
      for (const kind of kinds) this.#tally(`${name} ${kind}`, 1, [place]);
      if (kinds.length > 1) this.#tally(furtherOf(name), kinds.length - 1);
    }
  }

  count(total: Total, by = 1): void {
    this.#tally(total, by);
  }

  endSegment(number: number, rows: number): void {
    this.#segments.push([number, rows]);
  }

  #tally(key: string, by: number, places: readonly number[] = []): void {
    let tally = this.#tallies.get(key);
    if (tally === undefined) {
      const fact = key.slice(0, key.indexOf(' '));
      const kinds = (this.#kinds.get(fact) ?? 0) + 1;
      if (kinds > MOST_KINDS) return;
      this.#kinds.set(fact, kinds);
      this.#tallies.set(key, (tally = { total: 0, places: [] }));
    }
    tally.total += by;
    for (const place of places) if (tally.places.length < 2 * LOCATED_LIMIT) tally.places.push(place);
  }

  #addTokens({ said, isWide }: TextRow): void {
    let weight = 0;
    for (const { by, text } of said) {
      const own = isWide ? weightOf(text, this.#written) : text.length;
      if (!isWide) this.#written[0] = (this.#written[0] ?? 0) + own;
      weight += own;
      if (by === 'assistant' || by === 'call') this.count('assistantBytes', own);
    }
    const tokens = weight / BYTES_PER_TOKEN;
    this.count('textBytes', weight);
    if (tokens > 4_096) this.count('over4096');
    if (tokens > 8_192) this.count('over8192');
    if (said.length > 0) this.count(`${tokens <= 1 ? 0 : 32 - Math.clz32(Math.ceil(tokens) - 1)} tokens`);
  }

  /** Returns what was counted. */
  part(): PartOfReading {
    const [tallies, written, segments] = [this.#tallies, this.#written, this.#segments];
    return { tallies, written, segments, answers: this.#answers.all(), systems: this.#systems.all() };
  }

  /** Adds what another thread counted. */
  merge({ tallies, written, answers, systems, segments }: PartOfReading): void {
    for (const [key, { total, places }] of tallies) this.#tally(key, total, places);
    for (const [script, bytes] of written.entries())
      this.#written[script] = (this.#written[script] ?? 0) + bytes;
    this.#answers.merge(answers);
    this.#systems.merge(systems);
    this.#segments.push(...segments);
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
    const answers = this.#answers;
    const areLabels = answers.size <= MOST_LABELS && answers.rows >= answers.size * ROWS_OF_LABEL;
    const [answer] = answers.most(1);
    const read = this.#total('rows');
    const isCommon = answer && answer.rows >= Math.max(COMMON_ROWS, read * COMMON_SHARE);
    const isLabel = (text: string) => areLabels && answers.has(text);
    const [bytes = 0, ...scripts] = this.#written;
    return {
      ...{ rows: read, unread: this.#total('unread'), answers: answers.rows },
      findings: FACTS.flatMap((fact) => this.#finding(fact, rowAt, { answers: answers.rows, isLabel })),
      tokens: this.#tokens(),
      conversations: this.#total('conversations'),
      singleExchanges: this.#total('singleExchanges'),
      system: {
        conversations: this.#total('systems'),
        without: this.#total('systems') - this.#systems.rows,
        texts: this.#systems.size,
        main: this.#systems.most(1).map(common)[0],
      },
      labels: areLabels ? answers.most(MOST_LABELS).map(common) : [],
      answer: isCommon ? { ...common(answer), share: answer.rows / read } : undefined,
      scripts:
        bytes === 0
          ? {}
          : Object.fromEntries(SCRIPTS.map((script, at) => [script, (scripts[at] ?? 0) / bytes])),
    };
  }

  #total(total: Total | `${string} further`): number {
    return this.#tallies.get(total)?.total ?? 0;
  }

  #finding({ name, shown }: Fact, rowAt: (place: number) => number, file: FileTexts): Finding[] {
    const counts: Record<string, number> = {};
    for (const [key, { total }] of this.#tallies)
      if (key.startsWith(`${name} `)) counts[key.slice(name.length + 1)] = total;
    const kinds = Object.keys(counts);
    const isShown = shown?.(counts, file) ?? kinds;
    const chosen = kinds.filter((kind) => isShown.includes(kind));
    if (chosen.length === 0) return [];
    const of = (some: readonly string[]): KindCounts =>
      Object.fromEntries(some.map((kind) => [kind, counts[kind] ?? 0]));
    const located = chosen.flatMap((kind) => this.#tallies.get(`${name} ${kind}`)?.places ?? []);
    const places = [...new Set(located)].sort((one, other) => one - other).slice(0, LOCATED_LIMIT);
    // Rows of several kinds count once: as far as they are located, if not all kinds are shown.
    const sum = chosen.reduce((total, kind) => total + (counts[kind] ?? 0), 0);
    const further = chosen.length === kinds.length ? this.#total(furtherOf(name)) : 0;
    const total = sum > LOCATED_LIMIT ? sum - further : places.length;
    const others = of(kinds.filter((kind) => !chosen.includes(kind)));
    return [{ name, total, rows: places.map(rowAt), kinds: of(chosen), others }];
  }

  #tokens(): Tokens {
    const inTokens = (total: Total) => Math.round(this.#total(total) / BYTES_PER_TOKEN);
    const rows = Array.from({ length: 32 }, (_, bin) => this.#total(`${bin} tokens`));
    return {
      ...{ text: inTokens('textBytes'), assistant: inTokens('assistantBytes') },
      ...{ rowsOver4096: this.#total('over4096'), rowsOver8192: this.#total('over8192') },
      rows: rows.slice(0, rows.findLastIndex((count) => count > 0) + 1),
    };
  }
}

/** Returns the key for how many kinds rows have beyond their first one. */
function furtherOf(name: string): `${string} further` {
  return `: ${name} further`;
}
