// A pass over a dataset, in a worker thread: decides what becomes of each row, in order, and writes what stays.
import { createHash } from 'node:crypto';
import { HashIndex, StoppedError } from './hashIndex.ts';
import { KEY_END, maskRow, noMasks, scanRow, type MaskCounts, type ScannedRow } from './masks.ts';
import {
  PrepareError,
  type LeftOut,
  type PrepareChoices,
  type PrepareCounts,
  type PrepareJob,
} from './prepare.ts';
import { RowWriter } from './rowWriter.ts';
import { FORMATS } from './report.ts';
import type { Scanned, Scanner } from './scanner.ts';
import {
  ROW_BLANK,
  ROW_ERROR,
  ROW_FORMAT_SHIFT,
  ROW_PERSONAL,
  ROW_SECRET,
  ROW_UNCHECKED,
} from './scanner/codes.ts';
import { MAX_COMPARED_ROWS } from './sameRows.ts';
import { scanSegment, type ScannedRows } from './segments.ts';
import { MAX_SPLIT_ROWS, PromptSplit } from './split.ts';
import { toChat } from './toChat.ts';

/** Dropped fields that are counted by name. */
const MAX_DROPPED = 1_000;
/** A longer row isn't converted: its values could take a hundred times its bytes. */
const MAX_CONVERTED_BYTES = 16 * 1024 * 1024;
const KEY_START = '-----BEGIN ';
const LF = 0x0a;
const CR = 0x0d;

/** How the worker follows a pass. */
export interface PassControl {
  /** False if it was canceled. */
  shouldContinue: () => boolean;
  /** Called with the fraction done, from 0 to 1. */
  onProgress: (fraction: number) => void;
}

/** A row that stays: its bytes, valid until the next row, the hash of its prompt, and how it was changed. */
interface Kept {
  input: Uint8Array;
  from: number;
  to: number;
  low: number;
  high: number;
  masked?: MaskCounts | undefined;
  /** Fields that were dropped, if it was converted. */
  dropped?: readonly string[] | undefined;
}

/** Decides what becomes of each row, in order. */
class Decisions {
  readonly #rowScanner: Scanner;
  readonly #choices: PrepareChoices;
  readonly #seen: HashIndex;
  readonly #withPrompts: boolean;
  readonly #shouldContinue: () => boolean;
  /** Whether the rows before are parts of a private key that has not ended. */
  #isInKey = false;
  readonly counts: PrepareCounts = {
    ...{ rows: 0, written: 0, heldOut: 0, converted: 0, notConverted: {}, dropped: new Map() },
    leftOut: { blank: 0, error: 0, duplicate: 0, unchecked: 0, mask: 0, format: 0, split: 0 },
    masked: noMasks(),
  };

  constructor(rowScanner: Scanner, choices: PrepareChoices, shouldContinue: () => boolean) {
    this.#rowScanner = rowScanner;
    this.#choices = choices;
    this.#seen = new HashIndex(shouldContinue);
    this.#shouldContinue = shouldContinue;
    this.#withPrompts = isSplit(choices);
  }

  /** Decides about a row of a scan. */
  of({ scanned, input }: ScannedRows, row: number): Kept | LeftOut {
    this.counts.rows++;
    const flags = scanned.rowFlags[row] ?? 0;
    const reason = this.#reasonToLeaveOut(flags, scanned, row);
    if (reason !== undefined) return reason;
    const [from, to] = rangeOf(scanned, input, row);
    const bytes = input.subarray(from, to);
    const isJson = (flags & ROW_ERROR) === 0;
    if (this.#choices.mask.secrets && this.#isOfKey(isJson, bytes)) return 'mask';
    if (this.#choices.toChat && isJson && FORMATS[flags >> ROW_FORMAT_SHIFT] !== 'chat')
      return this.#convert(bytes);
    if (this.#hasMasked(flags)) return this.#mask(bytes);
    return { input, from, to, ...this.#promptOf(scanned, row, bytes) };
  }

  /** Counts what became of a row. @param reason why it was left out, if it was */
  count(kept: Kept | undefined, reason: LeftOut | undefined): void {
    if (reason !== undefined) this.counts.leftOut[reason]++;
    else if (kept !== undefined) this.#countChanges(kept);
  }

  #countChanges({ masked, dropped }: Kept): void {
    const { counts } = this;
    if (masked !== undefined)
      for (const kind of Object.keys(masked) as (keyof MaskCounts)[]) counts.masked[kind] += masked[kind];
    if (dropped === undefined) return;
    counts.converted++;
    for (const name of dropped) {
      const known = counts.dropped.get(name);
      if (known !== undefined || counts.dropped.size < MAX_DROPPED)
        counts.dropped.set(name, (known ?? 0) + 1);
    }
  }

  /** Whether a row that isn't JSON is part of a private key with line breaks, of which each row alone shows nothing. */
  #isOfKey(isJson: boolean, bytes: Uint8Array): boolean {
    const wasInKey = this.#isInKey && !isJson;
    this.#isInKey = false;
    if (isJson) return false;
    const row = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const start = row.lastIndexOf(KEY_START);
    const isStart = start >= 0 && row.includes('PRIVATE KEY', start);
    this.#isInKey = row.lastIndexOf(KEY_END) <= start && (wasInKey || isStart);
    return wasInKey || this.#isInKey;
  }

  #hasMasked(flags: number): boolean {
    const { secrets, personal } = this.#choices.mask;
    return (secrets && (flags & ROW_SECRET) !== 0) || (personal && (flags & ROW_PERSONAL) !== 0);
  }

  #mask(bytes: Uint8Array, dropped?: readonly string[]): Kept | LeftOut {
    const result = maskRow(this.#rowScanner, bytes, this.#choices.mask, {
      withPrompts: this.#withPrompts,
      shouldContinue: this.#shouldContinue,
    });
    if (result === undefined) return 'mask';
    return { ...this.#changed(result.row), masked: result.masked, dropped };
  }

  #changed({ scanned, bytes }: ScannedRow): Kept {
    return { input: bytes, from: 0, to: bytes.length, ...this.#promptOf(scanned, 0, bytes) };
  }

  #convert(row: Uint8Array): Kept | LeftOut {
    const { notConverted } = this.counts;
    if (row.length > MAX_CONVERTED_BYTES) return 'unchecked';
    const result = toChat(Buffer.from(row.buffer, row.byteOffset, row.length).toString('utf8'));
    if (typeof result === 'string') {
      notConverted[result] = (notConverted[result] ?? 0) + 1;
      return 'format';
    }
    const text = Buffer.from(result.text);
    // Unescaped texts may have secrets that the source hides.
    const { scanned, bytes } = scanRow(this.#rowScanner, text, this.#withPrompts);
    if (scanned.rows !== 1) return 'unchecked';
    if (this.#hasMasked(scanned.rowFlags[0] ?? 0)) return this.#mask(text, result.dropped);
    return { ...this.#changed({ scanned, bytes }), dropped: result.dropped };
  }

  #reasonToLeaveOut(flags: number, { rowHashes }: Scanned, row: number): LeftOut | undefined {
    if ((flags & ROW_BLANK) !== 0) return 'blank';
    if ((flags & ROW_UNCHECKED) !== 0) return 'unchecked';
    if ((flags & ROW_ERROR) !== 0 && this.#choices.withoutErrors) return 'error';
    const [low = 0, high = 0] = [rowHashes[2 * row], rowHashes[2 * row + 1]];
    // As the check does, which compares only so many rows.
    const isCompared = (low | high) !== 0 && this.#choices.withoutDuplicates;
    if (!isCompared || this.#seen.size >= MAX_COMPARED_ROWS) return undefined;
    const known = this.#seen.size;
    return this.#seen.add(low, high) < known ? 'duplicate' : undefined;
  }

  /** Returns the hash of a row's prompt, of the row if it has none, or of its bytes if it isn't JSON. */
  #promptOf(
    { promptHashes, rowHashes }: Scanned,
    row: number,
    bytes: Uint8Array,
  ): { low: number; high: number } {
    if (!this.#withPrompts) return { low: 0, high: 0 };
    for (const hashes of [promptHashes, rowHashes]) {
      const [low = 0, high = 0] = [hashes[2 * row], hashes[2 * row + 1]];
      if ((low | high) !== 0) return { low, high };
    }
    const hash = createHash('sha256').update(bytes).digest();
    return { low: hash.readUInt32LE(0), high: hash.readUInt32LE(4) };
  }
}

/** Returns where a row begins and ends, without its line end. */
function rangeOf(
  { rowStarts, stoppedAt }: Scanned,
  input: Uint8Array,
  row: number,
): [from: number, to: number] {
  const from = rowStarts[row] ?? 0;
  const next = rowStarts[row + 1] ?? stoppedAt;
  let to = input[next - 1] === LF && next > from ? next - 1 : next;
  while (to > from && input[to - 1] === CR) to--;
  return [from, to];
}

/** What is done with a row that stays. Returns why it is left out after all, if it is. */
type Take = (kept: Kept) => LeftOut | undefined;

/**
 * Owns a pass: copies the rows that stay, changed as chosen. A split needs a pass before, which only counts prompts. Rows that
 * nothing changes keep their bytes.
 */
export class PreparePass {
  readonly #scanner: Scanner;
  readonly #rowScanner: Scanner;
  readonly #job: PrepareJob;
  readonly #control: PassControl;

  /** @param rowScanner another scanner, for rows that change */
  constructor(scanner: Scanner, rowScanner: Scanner, job: PrepareJob, control: PassControl) {
    this.#scanner = scanner;
    this.#rowScanner = rowScanner;
    this.#job = job;
    this.#control = control;
  }

  /** @throws PrepareError; CheckError `changing`; StoppedError if it was canceled; errors of the file system */
  run(): PrepareCounts {
    const { mainFd, holdOutFd, maxBytes } = this.#job;
    const split = this.#splitRows();
    const [main, holdOut] = [mainFd, holdOutFd].map((fd) =>
      fd === undefined ? undefined : new RowWriter(fd, maxBytes),
    );
    const write: Take = ({ input, from, to, low, high }) => {
      const side = split === undefined ? 'main' : split.sideOf(low, high);
      if (side === undefined) return 'split';
      (side === 'main' ? main : holdOut)?.add(input, from, to);
      return undefined;
    };
    const counts = this.#eachRow(split === undefined ? 0 : 0.5, write, () => {
      main?.settle();
      holdOut?.settle();
    });
    main?.flush();
    holdOut?.flush();
    if (main?.rows === 0) throw new PrepareError('empty');
    return { ...counts, written: main?.rows ?? 0, heldOut: holdOut?.rows ?? 0 };
  }

  /** Decides which side each prompt is on, if the rows are to be split. @throws as `run` */
  #splitRows(): PromptSplit | undefined {
    const { choices } = this.#job;
    if (!isSplit(choices)) return undefined;
    const split = new PromptSplit(choices, this.#control.shouldContinue);
    this.#eachRow(0, ({ low, high }) => {
      if (split.rows >= MAX_SPLIT_ROWS) throw new PrepareError('too-many-rows');
      split.count(low, high);
      return undefined;
    });
    const failure = split.rows === 0 ? 'empty' : split.decide();
    if (failure !== undefined) throw new PrepareError(failure);
    return split;
  }

  /**
   * Decides about each row, and counts.
   * @param startFraction of the progress
   * @param settle called before the memory of the rows is used again
   */
  #eachRow(startFraction: number, take: Take, settle?: () => void): PrepareCounts {
    const { choices, segments } = this.#job;
    const { shouldContinue, onProgress } = this.#control;
    const decisions = new Decisions(this.#rowScanner, choices, shouldContinue);
    const share = (isSplit(choices) ? 0.5 : 1) / segments;
    // How the editor counts columns doesn't matter here.
    this.#scanner.begin(false, isSplit(choices));
    for (let number = 0; number < segments; number++) {
      if (!shouldContinue()) throw new StoppedError();
      for (const rows of scanSegment(this.#scanner, this.#job, number)) {
        for (let row = 0; row < rows.scanned.rows; row++) {
          const kept = decisions.of(rows, row);
          const reason = typeof kept === 'string' ? kept : take(kept);
          decisions.count(typeof kept === 'string' ? undefined : kept, reason);
        }
        settle?.();
      }
      onProgress(startFraction + share * (number + 1));
    }
    return decisions.counts;
  }
}

function isSplit({ holdOut, trial }: PrepareChoices): boolean {
  return holdOut !== undefined || trial !== undefined;
}
