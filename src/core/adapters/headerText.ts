import { BrokenArchiveError } from './faults.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

/**
 * Reads the JSON of a safetensors header: objects, strings and lists of natural numbers, for there is nothing else in one.
 * Unlike `JSON.parse` it tells a name that comes twice, and can be left in between.
 */
export class HeaderText {
  readonly #bytes: Buffer;
  #at = 0;

  /** @param bytes UTF-8 */
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** The keys of the object that comes next; after each its value has to be read. @throws BrokenArchiveError */
  *keys(): Generator<string, undefined> {
    this.#take(0x7b);
    if (this.#takes(0x7d)) return;
    do {
      this.#blanks();
      const key = this.string();
      this.#take(0x3a);
      yield key;
    } while (this.#takes(COMMA));
    this.#take(0x7d);
  }

  /** @throws BrokenArchiveError */
  string(): string {
    this.#take(QUOTE);
    const from = this.#at;
    let isEscaped = false;
    for (;;) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined || byte < 0x20) throw broken();
      if (byte === QUOTE) break;
      if (byte !== BACKSLASH) continue;
      isEscaped = true;
      this.#at++;
    }
    const text = this.#bytes.toString('utf8', from, this.#at - 1);
    if (!isEscaped) return text;
    try {
      return JSON.parse(`"${text}"`) as string;
    } catch {
      throw broken();
    }
  }

  /** A list of at most so many natural numbers. @throws BrokenArchiveError */
  integers(most: number): number[] {
    const numbers: number[] = [];
    this.#take(0x5b);
    if (this.#takes(0x5d)) return numbers;
    do {
      if (numbers.length === most) throw broken();
      numbers.push(this.#integer());
    } while (this.#takes(COMMA));
    this.#take(0x5d);
    return numbers;
  }

  /** Nothing follows. @throws BrokenArchiveError */
  end(): void {
    this.#blanks();
    if (this.#at !== this.#bytes.length) throw broken();
  }

  #integer(): number {
    this.#blanks();
    const from = this.#at;
    let value = 0;
    for (;;) {
      const digit = (this.#bytes[this.#at] ?? 0) - 0x30;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
      this.#at++;
    }
    const hasLeadingZero = this.#at - from > 1 && this.#bytes[from] === 0x30;
    if (this.#at === from || hasLeadingZero || !Number.isSafeInteger(value)) throw broken();
    return value;
  }

  #takes(byte: number): boolean {
    this.#blanks();
    if (this.#bytes[this.#at] !== byte) return false;
    this.#at++;
    return true;
  }

  #take(byte: number): void {
    if (!this.#takes(byte)) throw broken();
  }

  #blanks(): void {
    for (;;) {
      const byte = this.#bytes[this.#at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return;
      this.#at++;
    }
  }
}

function broken(): BrokenArchiveError {
  return new BrokenArchiveError('safetensors-header');
}
