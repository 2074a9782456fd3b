import { encodeFormats } from './formatTable.ts';
import { encodeAnchors, encodePatterns } from './keyPatterns.ts';
import { PROBLEMS, UNTRAINABLE } from './problems.ts';
import { HASH_NONE, HASH_WRITTEN, UNTRAINABLE_COUNT } from './scanner/codes.ts';
import { FORMAT_COUNT, PLACE_CODE_COUNT, ROLE_COUNT } from './scanner/codes.ts';

type Regions =
  | ('CALL' | 'PLACES' | 'ROW_STARTS' | 'ROW_HASHES' | 'ROW_BREAKS' | 'ROW_FLAGS' | 'PROMPT_HASHES')
  | ('ANSWER_HASHES' | 'FILE' | 'TOTALS' | 'FORMAT_COUNTS' | 'TYPED_FORMATS' | 'ROLE_COUNTS')
  | ('UNTRAINABLE_COUNTS' | 'UNTRAINABLE_CODES' | 'PATTERNS' | 'ANCHORS' | 'FORMAT_TABLE');

/** Exports of `scanner/scan.ts`. Positions are addresses in its memory. */
interface Exports extends Record<Regions, WebAssembly.Global> {
  memory: WebAssembly.Memory;
  inputStart(): number;
  reserve(bytes: number): number;
  begin(hasMark: number, prompts: number): void;
  hashPrompts(prompts: number): void;
  hashInput(from: number, to: number): void;
  scan(from: number, to: number, atFileStart: number, atFileEnd: number): number;
  skipRow(from: number): void;
}

/** Numbers for each located problem: code, row, line breaks inside rows before it, position, column, length. */
export const PLACE_NUMBERS = 6;

/** Results of one `scan` call, in views that the next call overwrites. Rows count from 0 in each call. */
export interface Scanned {
  /** The offset in the input at which the scan stopped. */
  stoppedAt: number;
  rows: number;
  blankRows: number;
  lineBreaks: number;
  characters: number;
  /** `PLACE_NUMBERS` for each. */
  places: Uint32Array;
  /** Offset of each row in the input. */
  rowStarts: Uint32Array;
  /** Two numbers for each row, both 0 if it can't be a duplicate. */
  rowHashes: Uint32Array;
  /** For each row, the CRs without LF in the rows before it. */
  rowBreaks: Uint32Array;
  /** Flags of each row: `ROW_BLANK` and so on (`scanner/codes.ts`). */
  rowFlags: Uint16Array;
  /** Two numbers for each row, both 0 if it has no prompt or answer, or if they weren't asked for. */
  promptHashes: Uint32Array;
  answerHashes: Uint32Array;
}

/** Counts since `begin`. */
export interface Counts {
  /** Rows with an error. */
  errorRows: number;
  totals: Uint32Array;
  formats: Uint32Array;
  /** Rows whose fields have the types of a training format, by format. */
  typedFormats: Uint32Array;
  roles: Uint32Array;
  /** Rows without errors, by the number of the reason why they can't be trained on; 0 if they can. */
  untrainable: Uint32Array;
  maxTurns: number;
  maxLength: number;
  /** Preference rows whose prompt is unknown, while prompts were hashed. */
  unprompted: number;
}

/** Returns the offset at which a text of this many UTF-16 units ends. Characters have at most two bytes: secrets have no others. */
export function endOfText(bytes: Uint8Array, from: number, units: number): number {
  let end = from;
  for (let left = units; left > 0; left--) end += (bytes[end] ?? 0) < 0xc0 ? 1 : 2;
  return end;
}

/** Owns an instance of the WebAssembly scanner. Its positions are offsets in the input. */
export class Scanner {
  readonly #exports: Exports;
  readonly #start: number;

  constructor(module: WebAssembly.Module) {
    // The scanner needs no imports; `abort` is part of every AssemblyScript program.
    const { exports } = new WebAssembly.Instance(module, { env: { abort: () => undefined } });
    this.#exports = exports as Exports;
    this.#start = this.#exports.inputStart();
    const memory = new Uint8Array(this.#exports.memory.buffer);
    memory.set(encodePatterns(), this.#exports.PATTERNS.value);
    memory.set(encodeAnchors(), this.#exports.ANCHORS.value);
    memory.set(encodeFormats(), this.#exports.FORMAT_TABLE.value);
    const codes = new BigUint64Array(memory.buffer, this.#exports.UNTRAINABLE_CODES.value, UNTRAINABLE_COUNT);
    for (const [index, reason] of UNTRAINABLE.entries())
      for (const [code, [, , , why]] of PROBLEMS.entries())
        if (why === reason) codes[index + 1] = (codes[index + 1] ?? 0n) | (1n << BigInt(code));
  }

  /**
   * Begins a file and resets all counts.
   * @param prompts how to hash prompts and answers: `HASH_NONE`, `HASH_WRITTEN` or `HASH_NORMALIZED`
   */
  begin(hasByteOrderMark: boolean, prompts = HASH_NONE): void {
    this.#exports.begin(Number(hasByteOrderMark), prompts);
  }

  /** Switches the hashing of prompts and answers as written on or off. */
  hashPrompts(isOn: boolean): void {
    this.#exports.hashPrompts(isOn ? HASH_WRITTEN : HASH_NONE);
  }

  /** Returns memory for an input of this size, which keeps its content. @throws RangeError if there isn't enough */
  input(sizeBytes: number): Uint8Array {
    if (this.#exports.reserve(sizeBytes) === 0) throw new RangeError('not enough memory for the scanner');
    return new Uint8Array(this.#exports.memory.buffer, this.#start, sizeBytes);
  }

  /** Returns the hash of a row without its line end, as a scan computes it. Overwrites the results of the last scan. */
  hashOf(row: Uint8Array): [low: number, high: number] {
    this.input(row.length).set(row);
    this.#exports.hashInput(this.#start, this.#start + row.length);
    const [low = 0, high = 0] = this.#view(this.#exports.ROW_HASHES, 2);
    return [low, high];
  }

  /** Checks the rows in `from..to` of the input, as many as one call can (`scan` in scanner/scan.ts). */
  scan(from: number, to: number, atFileStart: boolean, atFileEnd: boolean): Scanned {
    const start = this.#start;
    const stopped = this.#exports.scan(start + from, start + to, Number(atFileStart), Number(atFileEnd));
    return this.#scanned((stopped >>> 0) - start);
  }

  /** Counts the row at `from`, which is too long to check. */
  skipRow(from: number): Scanned {
    this.#exports.skipRow(this.#start + from);
    return this.#scanned(from);
  }

  #scanned(stoppedAt: number): Scanned {
    const exports = this.#exports;
    const [rows = 0, blankRows = 0, lineBreaks = 0, characters = 0, found = 0] = this.#view(exports.CALL, 5);
    const places = this.#view(exports.PLACES, found * PLACE_NUMBERS);
    for (let index = 3; index < places.length; index += PLACE_NUMBERS)
      places[index] = (places[index] ?? 0) - this.#start;
    return {
      stoppedAt,
      ...{ rows, blankRows, lineBreaks, characters, places },
      rowStarts: this.#view(exports.ROW_STARTS, rows),
      rowHashes: this.#view(exports.ROW_HASHES, 2 * rows),
      rowBreaks: this.#view(exports.ROW_BREAKS, rows),
      rowFlags: new Uint16Array(exports.memory.buffer, exports.ROW_FLAGS.value, rows),
      promptHashes: this.#view(exports.PROMPT_HASHES, 2 * rows),
      answerHashes: this.#view(exports.ANSWER_HASHES, 2 * rows),
    };
  }

  /** Returns copies of all counts since `begin`. */
  counts(): Counts {
    const exports = this.#exports;
    const [errorRows = 0, maxTurns = 0, maxLength = 0, unprompted = 0] = this.#view(exports.FILE, 4);
    return {
      ...{ errorRows, maxTurns, maxLength, unprompted },
      totals: this.#view(exports.TOTALS, PLACE_CODE_COUNT).slice(),
      formats: this.#view(exports.FORMAT_COUNTS, FORMAT_COUNT).slice(),
      typedFormats: this.#view(exports.TYPED_FORMATS, FORMAT_COUNT).slice(),
      roles: this.#view(exports.ROLE_COUNTS, ROLE_COUNT).slice(),
      untrainable: this.#view(exports.UNTRAINABLE_COUNTS, UNTRAINABLE_COUNT).slice(),
    };
  }

  #view(address: WebAssembly.Global, length: number): Uint32Array {
    return new Uint32Array(this.#exports.memory.buffer, address.value, length);
  }
}
