import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { SkippedRow, PrepareChoices, PrepareCounts } from './copyTypes.ts';
import { isOfFinding } from './facts/table.ts';
import { MAX_TEXT_BYTES, textRow, type TextRow } from './facts/textRow.ts';
import { allRepaired } from './fixes.ts';
import { FORMATS } from './formats.ts';
import { HashIndex } from './hashIndex.ts';
import { lastLineOf, maskRow, noMasks, scanRow, type MaskCounts, type ScannedRow } from './masks.ts';
import { CheckError } from './report.ts';
import { MAX_COMPARED_ROWS } from './sameRows.ts';
import type { Scanned, Scanner } from './scanner.ts';
import {
  ROW_BLANK,
  ROW_ERROR,
  ROW_FORMAT_SHIFT,
  ROW_PERSONAL,
  ROW_REPEATS_KEY,
  ROW_SECRET,
  ROW_UNCHECKED,
  ROW_UNTRAINABLE_MASK,
  ROW_UNTRAINABLE_SHIFT,
} from './scanner/codes.ts';
import type { ScannedRows } from './segments.ts';
import { toChat, type NotConverted } from './toChat.ts';
import { withSystem } from './withSystem.ts';

/** Dropped fields that are counted by name. */
const MAX_DROPPED = 1_000;
/** A longer row isn't converted: its values could take a hundred times its bytes. */
const MAX_CONVERTED_BYTES = 16 * 1024 * 1024;
/** Flags of a row that has an error or can't be trained on. */
const ROW_USELESS = ROW_ERROR | (ROW_UNTRAINABLE_MASK << ROW_UNTRAINABLE_SHIFT);
const NO_PROMPT = { low: 0, high: 0 } as const;
const LF = 0x0a;
const CR = 0x0d;

/** How a row was changed. */
interface Done {
  isRepaired?: boolean;
  /** Whether the system message was added. */
  hasSystem?: boolean;
  masked?: MaskCounts;
  /** The fields that a conversion dropped; undefined if the row wasn't converted. */
  dropped?: readonly string[];
}

/** A row that stays: its bytes (valid until the next row), the hash of its prompt for a split, and its changes. */
export interface Kept extends Done {
  isChanged: boolean;
  input: Uint8Array;
  from: number;
  to: number;
  low?: number;
  high?: number;
}

/** A row with its own scan. */
interface ReadRow extends ScannedRow {
  flags: number;
}

/** Decides what becomes of each row of a dataset, in order, and counts it. */
export class RowDecisions {
  readonly #rowScanner: Scanner;
  readonly #choices: PrepareChoices;
  readonly #seen: HashIndex;
  /** Prompts of the hold-out. */
  readonly #heldOut: HashIndex;
  readonly #withPrompts: boolean;
  readonly #shouldContinue: () => boolean;
  /** Whether the previous rows were part of a private key that continues. */
  #isInKey = false;
  readonly counts: PrepareCounts = {
    ...{ rows: 0, written: 0, heldOut: 0, repaired: 0, withSystem: 0, converted: 0 },
    ...{ notConverted: {}, dropped: new Map() },
    leftOut: {
      ...{ blank: 0, error: 0, untrainable: 0, 'held-out': 0, templateMarks: 0, emptyWords: 0, refusals: 0 },
      ...{ duplicate: 0, unchecked: 0, mask: 0, format: 0, split: 0 },
    },
    masked: noMasks(),
  };

  constructor(rowScanner: Scanner, choices: PrepareChoices, shouldContinue: () => boolean) {
    this.#rowScanner = rowScanner;
    this.#choices = choices;
    this.#seen = new HashIndex(shouldContinue);
    this.#heldOut = new HashIndex(shouldContinue);
    this.#shouldContinue = shouldContinue;
    this.#withPrompts = isSplit(choices);
  }

  /** Adds the prompt of a row of the hold-out, before any row is decided. */
  addHeldOut(low: number, high: number): void {
    this.#heldOut.add(low, high);
  }

  /** Decides whether a row of a scan stays, and changes it. Returns the row, or why it is left out. */
  decide({ scanned, input }: ScannedRows, row: number): Kept | SkippedRow {
    this.counts.rows++;
    const flags = scanned.rowFlags[row] ?? 0;
    const [from, to] = rangeOf(scanned, input, row);
    const bytes = input.subarray(from, to);
    const repaired = this.#repaired(flags, bytes);
    const reason = this.#reasonToLeaveOut(flags, repaired !== undefined);
    if (reason !== undefined) return reason;
    const read = repaired ?? { scanned, bytes, flags };
    const at = repaired === undefined ? row : 0;
    // Read now: scanning another row may reuse this memory.
    const { rowHashes } = read.scanned;
    const [low, high] = [rowHashes[2 * at] ?? 0, rowHashes[2 * at + 1] ?? 0];
    const hasPrompt = this.#withPrompts || this.#heldOut.size > 0;
    const prompt = hasPrompt ? promptOf(read.scanned, at, read.bytes) : NO_PROMPT;
    // Rows with errors aren't compared.
    const isJson = (read.flags & ROW_ERROR) === 0;
    if (isJson && this.#heldOut.size > 0 && this.#heldOut.find(prompt.low, prompt.high) >= 0)
      return 'held-out';
    if (this.#choices.mask.secrets && this.#isOfKey(isJson, bytes)) return 'mask';
    const text = this.#textOf(bytes);
    const finding = text && this.#choices.withoutFindings.find((one) => isOfFinding(one, text));
    if (finding !== undefined) return finding.name;
    const changed = this.#changed(read, repaired !== undefined, text);
    if (typeof changed === 'string') return changed;
    const kept: Kept =
      changed === undefined
        ? { isChanged: false, input, from, to, low: prompt.low, high: prompt.high }
        : { ...prompt, ...changed };
    // A row without a hash isn't JSON.
    if (!this.#choices.withoutDuplicates || (low | high) === 0) return kept;
    // A changed row is hashed as it will be written: equal rows stay equal, and others may become equal.
    const hash = kept.isChanged ? this.#rowScanner.hashOf(kept.input) : ([low, high] as const);
    return this.#isRepeated(...hash) ? 'duplicate' : kept;
  }

  /** Repairs a row with errors, if that was chosen and makes a row to train on. */
  #repaired(flags: number, bytes: Uint8Array): ReadRow | undefined {
    if ((flags & ROW_ERROR) === 0 || !this.#choices.repair) return undefined;
    const isReadable = bytes.length <= MAX_CONVERTED_BYTES && isUtf8(bytes);
    const text = isReadable ? allRepaired(textOf(bytes)) : undefined;
    if (text === undefined) return undefined;
    const row = Buffer.from(text);
    const { scanned } = scanRow(this.#rowScanner, row, this.#withPrompts || this.#heldOut.size > 0);
    const flagsNow = scanned.rowFlags[0] ?? ROW_ERROR;
    return (flagsNow & ROW_USELESS) === 0 ? { scanned, bytes: row, flags: flagsNow } : undefined;
  }

  /** Reads what a row says, if a choice depends on it. Longer rows weren't read when findings were counted either. */
  #textOf(bytes: Uint8Array): TextRow | undefined {
    const { withoutFindings, system } = this.#choices;
    const isRead = (withoutFindings.length > 0 || system !== undefined) && bytes.length <= MAX_TEXT_BYTES;
    return isRead ? textRow(textOf(bytes)) : undefined;
  }

  /** Changes a row as chosen; undefined if nothing changes. @param text what the row said before */
  #changed(
    read: Omit<ReadRow, 'scanned'>,
    isRepaired: boolean,
    text?: TextRow,
  ): Kept | SkippedRow | undefined {
    const { system, toChat: isConverted } = this.#choices;
    let { bytes, flags } = read;
    const hasSystem = system !== undefined && text?.system === '' && (flags & ROW_ERROR) === 0;
    if (hasSystem) {
      bytes = Buffer.from(withSystem(text, system));
      flags = scanRow(this.#rowScanner, bytes, false).scanned.rowFlags[0] ?? flags;
    }
    const done = { isRepaired, hasSystem };
    if (isConverted && (flags & ROW_ERROR) === 0 && FORMATS[flags >> ROW_FORMAT_SHIFT] !== 'chat')
      return (flags & ROW_REPEATS_KEY) === 0 ? this.#convert(bytes, done) : this.#notConverted('key');
    if (this.#hasMasked(flags)) return this.#mask(bytes, done);
    return isRepaired || hasSystem ? { ...whole(bytes), ...done } : undefined;
  }

  /** Changes a row again as `decide` did. @throws CheckError `changing` if it is another row now */
  changedAgain(bytes: Uint8Array): Kept {
    const { scanned } = scanRow(this.#rowScanner, bytes, false);
    const flags = scanned.rowFlags[0] ?? 0;
    const repaired = this.#repaired(flags, bytes);
    const read = repaired ?? { bytes, flags };
    const kept = this.#changed(read, repaired !== undefined, this.#textOf(bytes));
    if (kept === undefined || typeof kept === 'string') throw new CheckError('changing');
    return kept;
  }

  /** Frees the memory for comparing rows, once all are decided. */
  endComparing(): void {
    this.#seen.clear();
    this.#heldOut.clear();
  }

  countLeftOut(reason: SkippedRow): void {
    this.counts.leftOut[reason]++;
  }

  /** Counts what was changed in a row that is written. */
  countChanges({ isRepaired = false, hasSystem = false, masked, dropped }: Kept): void {
    const { counts } = this;
    counts.repaired += Number(isRepaired);
    counts.withSystem += Number(hasSystem);
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

  /** Whether a row that isn't JSON is part of a private key that spans several lines. Alone, such a line looks harmless. */
  #isOfKey(isJson: boolean, bytes: Uint8Array): boolean {
    const wasInKey = this.#isInKey && !isJson;
    this.#isInKey = false;
    if (isJson) return false;
    const row = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const start = lastLineOf(row, 'BEGIN');
    const isStart = start >= 0 && row.includes('PRIVATE KEY', start);
    this.#isInKey = lastLineOf(row, 'END') <= start && (wasInKey || isStart);
    return wasInKey || this.#isInKey;
  }

  #hasMasked(flags: number): boolean {
    const { secrets, personal } = this.#choices.mask;
    return (secrets && (flags & ROW_SECRET) !== 0) || (personal && (flags & ROW_PERSONAL) !== 0);
  }

  #mask(bytes: Uint8Array, done: Done): Kept | SkippedRow {
    const result = maskRow(this.#rowScanner, bytes, this.#choices.mask, {
      withPrompts: this.#withPrompts,
      shouldContinue: this.#shouldContinue,
    });
    if (result === undefined) return 'mask';
    return { ...this.#scannedRow(result.row), ...done, masked: result.masked };
  }

  #scannedRow({ scanned, bytes }: ScannedRow): Kept {
    return { ...whole(bytes), ...(this.#withPrompts && promptOf(scanned, 0, bytes)) };
  }

  /** Converts a row to chat, and masks what the conversion made readable. */
  #convert(row: Uint8Array, before: Done): Kept | SkippedRow {
    if (row.length > MAX_CONVERTED_BYTES) return 'unchecked';
    const result = toChat(textOf(row));
    if (typeof result === 'string') return this.#notConverted(result);
    const done = { ...before, dropped: result.dropped };
    const text = Buffer.from(result.text);
    const { secrets, personal } = this.#choices.mask;
    if (!secrets && !personal && !this.#withPrompts) return { ...whole(text), ...done };
    // Decoded texts may show secrets that escapes hid in the source.
    const { scanned, bytes } = scanRow(this.#rowScanner, text, this.#withPrompts);
    if (scanned.rows !== 1) return 'unchecked';
    if (this.#hasMasked(scanned.rowFlags[0] ?? 0)) return this.#mask(text, done);
    return { ...this.#scannedRow({ scanned, bytes }), ...done };
  }

  #notConverted(reason: NotConverted): SkippedRow {
    const { notConverted } = this.counts;
    notConverted[reason] = (notConverted[reason] ?? 0) + 1;
    return 'format';
  }

  #reasonToLeaveOut(flags: number, isRepaired: boolean): SkippedRow | undefined {
    if ((flags & ROW_BLANK) !== 0) return 'blank';
    if ((flags & ROW_UNCHECKED) !== 0) return 'unchecked';
    if ((flags & ROW_ERROR) !== 0 && this.#choices.withoutErrors && !isRepaired) return 'error';
    const isUntrainable = ((flags >> ROW_UNTRAINABLE_SHIFT) & ROW_UNTRAINABLE_MASK) !== 0;
    return isUntrainable && this.#choices.withoutUntrainable ? 'untrainable' : undefined;
  }

  /** Whether an earlier row had this hash. Like the check, it compares a limited number of rows. */
  #isRepeated(low: number, high: number): boolean {
    const known = this.#seen.size;
    return known < MAX_COMPARED_ROWS && this.#seen.add(low, high) < known;
  }
}

/** Returns the hash of a row's prompt. Without a prompt: the hash of the row, or of its bytes if it isn't JSON. */
function promptOf(
  { promptHashes, rowHashes }: Scanned,
  row: number,
  bytes: Uint8Array,
): { low: number; high: number } {
  for (const hashes of [promptHashes, rowHashes]) {
    const [low = 0, high = 0] = [hashes[2 * row], hashes[2 * row + 1]];
    if ((low | high) !== 0) return { low, high };
  }
  const hash = createHash('sha256').update(bytes).digest();
  return { low: hash.readUInt32LE(0), high: hash.readUInt32LE(4) };
}

/** Returns where a row begins and ends, without its line end. */
export function rangeOf(
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

/** Returns a changed row. */
function whole(bytes: Uint8Array): Kept {
  return { isChanged: true, input: bytes, from: 0, to: bytes.length };
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
}

export function isSplit({ holdOut, trial }: PrepareChoices): boolean {
  return holdOut !== undefined || trial !== undefined;
}
