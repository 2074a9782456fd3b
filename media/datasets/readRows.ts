import type { PreviewRow } from '../../src/ui/datasets/protocol.ts';

const MOST = 500;
const MOST_CHARACTERS = 8_000_000;

/** Owns the rows that were read lately, by position, and forgets what was read first when they are too many. */
export class ReadRows {
  readonly #rows = new Map<number, PreviewRow>();
  /** Shown until they were read again. */
  readonly #stale = new Set<number>();

  at(position: number): PreviewRow | undefined {
    return this.#rows.get(position);
  }

  /** Keeps rows from a position on; those in the page, from `first` to `last`, are never forgotten. */
  keep(from: number, rows: readonly PreviewRow[], first: number, last: number): void {
    for (const [index, row] of rows.entries()) {
      this.#rows.delete(from + index);
      this.#rows.set(from + index, row);
      this.#stale.delete(from + index);
    }
    let characters = 0;
    for (const { text } of this.#rows.values()) characters += text.length;
    for (const [position, { text }] of this.#rows) {
      if (this.#rows.size <= MOST && characters <= MOST_CHARACTERS) return;
      if (position >= first && position <= last) continue;
      this.#rows.delete(position);
      characters -= text.length;
    }
  }

  /** Whether a position has to be read, or read again. */
  isMissing(position: number): boolean {
    return !this.#rows.has(position) || this.#stale.has(position);
  }

  /** The first position of a range that has to be read. */
  firstMissing(first: number, last: number): number | undefined {
    for (let position = first; position <= last; position++) if (this.isMissing(position)) return position;
    return undefined;
  }

  /** All have to be read again; only those from `first` to `last` are kept until then. */
  expire(first: number, last: number): void {
    this.#stale.clear();
    for (const position of [...this.#rows.keys()]) {
      if (position >= first && position <= last) this.#stale.add(position);
      else this.#rows.delete(position);
    }
  }

  clear(): void {
    this.#rows.clear();
    this.#stale.clear();
  }
}
