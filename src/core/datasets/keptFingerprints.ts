// The fingerprints of a dataset's rows in a file, made in a worker thread. A row has a pair of them, 8 bytes each: for its prompt and
// for all its texts. Each is half of the AES-128 encryption of a hash, so it says nothing without the key. Pairs are sorted.
import { createCipheriv, createHmac } from 'node:crypto';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { KEPT_START, MAX_KEPT_ROWS, type RowDifference, type KeptRef } from './comparisonTypes.ts';
import type { DatasetFile } from './fileKind.ts';
import { readHashes, type HashedRow, type HashReader } from './rowHashes.ts';
import { HASH_TEXTS, LOCATED_LIMIT } from './scanner/codes.ts';

/** Magic, version, rows, rows with a prompt, rows that aren't compared; then eight bytes of the checksum. */
const COUNTED_NUMBERS = 5;
const HEAD_NUMBERS = COUNTED_NUMBERS + 2;
const PAIR_NUMBERS = 4;
/** Kinds of hashes, encrypted with them: of a prompt, or of all texts. */
export const PROMPT = 0;
const TEXTS = 1;
/** Hashes that are encrypted at a time. */
const BATCH = 8192;

interface Pairs {
  /** Four numbers for each row: prompt and texts, each with the lower half first. */
  pairs: Uint32Array;
  /** The row of each pair, from 1. A file of fingerprints doesn't have them. */
  rows?: Uint32Array;
  /** Rows with a prompt, and rows with errors. */
  prompts: number;
  notCompared: number;
}

type Reader = Omit<HashReader, 'hashing'>;

/** Returns the fingerprint of a hash. */
export function fingerprintOfHash(
  key: Uint8Array,
  [low, high]: HashedRow['prompt'],
  kind: number,
): [low: number, high: number] {
  const [one = 0, other = 0] = encrypted(key, Uint32Array.of(low, high, kind, 0));
  return [one, other];
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Encrypts blocks of four numbers. */
function encrypted(key: Uint8Array, blocks: Uint32Array): Uint32Array {
  const cipher = createCipheriv('aes-128-ecb', key, null).setAutoPadding(false);
  const bytes = cipher.update(bytesOf(blocks));
  return new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}

/** Returns a checksum that depends on the key, so that a damaged file and one of another key are noticed. */
function checksumOf(key: Uint8Array, ...parts: readonly Uint32Array[]): Uint32Array {
  const hmac = createHmac('sha256', key);
  for (const part of parts) hmac.update(bytesOf(part));
  const digest = hmac.digest();
  return Uint32Array.of(digest.readUInt32LE(0), digest.readUInt32LE(4));
}

/** Writes a new file. @returns false if the dataset has too many rows @throws as `readHashes` */
export function writeKept(reader: Reader, file: DatasetFile, { path, key }: KeptRef): boolean {
  const made = pairsOf(reader, file, key);
  if (made === undefined) return false;
  const { pairs, prompts, notCompared } = made;
  const counted = Uint32Array.of(...KEPT_START, pairs.length / PAIR_NUMBERS, prompts, notCompared);
  const head = Uint32Array.of(...counted, ...checksumOf(key, counted, pairs));
  writeFileSync(path, bytesOf(head), { flag: 'wx', mode: 0o600 });
  appendFileSync(path, bytesOf(pairs));
  return true;
}

/** Reads a file; undefined unless it is complete, and of this version and key. @throws errors of the file system */
export function readKept({ path, key }: KeptRef): Pairs | undefined {
  const bytes = readFileSync(path);
  const numbers = new Uint32Array(bytes.buffer, bytes.byteOffset, Math.trunc(bytes.length / 4));
  const counted = numbers.subarray(0, COUNTED_NUMBERS);
  const [magic, version, rows = 0, prompts = 0, notCompared = 0] = counted;
  if (magic !== KEPT_START[0] || version !== KEPT_START[1]) return undefined;
  const pairs = numbers.subarray(HEAD_NUMBERS);
  const sum = String(numbers.subarray(COUNTED_NUMBERS, HEAD_NUMBERS));
  const isWhole = bytes.length === 4 * (HEAD_NUMBERS + rows * PAIR_NUMBERS);
  if (!isWhole || sum !== String(checksumOf(key, counted, pairs))) return undefined;
  return { pairs, prompts, notCompared };
}

/** Returns how a dataset (or the fingerprints of one) differs from fingerprints; undefined if one of them can't be compared. */
export function differenceOf(
  reader: Reader,
  now: DatasetFile | string,
  then: KeptRef,
): RowDifference | undefined {
  const one = typeof now === 'string' ? readKept({ ...then, path: now }) : pairsOf(reader, now, then.key);
  const other = one && readKept(then);
  return one && other && differences(one, other);
}

/** Makes the pairs of a dataset; undefined if it has too many rows. */
function pairsOf(reader: Reader, file: DatasetFile, key: Uint8Array): Pairs | undefined {
  let pairs = new Uint32Array(BATCH * PAIR_NUMBERS);
  let rows = new Uint32Array(BATCH);
  let count = 0;
  let prompts = 0;
  const read = { ...reader, hashing: HASH_TEXTS };
  const notCompared = readHashes(file, read, ({ row, prompt, hasPrompt, text }) => {
    if (hasPrompt) prompts++;
    if (count++ >= MAX_KEPT_ROWS) return;
    if (count > rows.length) {
      pairs = new Uint32Array(pairs.buffer.transfer(2 * pairs.byteLength));
      rows = new Uint32Array(rows.buffer.transfer(2 * rows.byteLength));
    }
    rows[count - 1] = row;
    pairs.set(prompt, (count - 1) * PAIR_NUMBERS);
    pairs.set(text, (count - 1) * PAIR_NUMBERS + 2);
  });
  if (count > MAX_KEPT_ROWS) return undefined;
  const used = pairs.subarray(0, count * PAIR_NUMBERS);
  for (let from = 0; from < used.length; from += BATCH * PAIR_NUMBERS)
    encryptBatch(used.subarray(from, from + BATCH * PAIR_NUMBERS), key);
  return { ...sorted(used, rows), prompts, notCompared };
}

/** Replaces hashes by their fingerprints. */
function encryptBatch(hashes: Uint32Array, key: Uint8Array): void {
  const blocks = new Uint32Array(2 * hashes.length);
  for (let at = 0; at < hashes.length; at += 2) {
    blocks.set(hashes.subarray(at, at + 2), 2 * at);
    blocks[2 * at + 2] = at % PAIR_NUMBERS === 0 ? PROMPT : TEXTS;
  }
  const results = encrypted(key, blocks);
  for (let at = 0; at < hashes.length; at += 2) hashes.set(results.subarray(2 * at, 2 * at + 2), at);
}

/** How many bits of a key have the row's number. */
const ROW_BITS = 20;
const ROW_MASK = 2 ** ROW_BITS - 1;

/**
 * Sorts pairs. It sorts numbers that have the upper 44 bits of the prompt and the row, which is fast. Only rows with equal
 * upper bits, such as those of one prompt, are compared further.
 */
function sorted(pairs: Uint32Array, numbers: Uint32Array): Pick<Pairs, 'pairs' | 'rows'> {
  const count = pairs.length / PAIR_NUMBERS;
  const keys = new Uint32Array(2 * count);
  for (let row = 0; row < count; row++) {
    keys[2 * row] = ((pairs[row * PAIR_NUMBERS] ?? 0) & ~ROW_MASK) | row;
    keys[2 * row + 1] = pairs[row * PAIR_NUMBERS + 1] ?? 0;
  }
  // As 64-bit numbers in the same memory: VS Code runs only on little-endian machines.
  new BigUint64Array(keys.buffer).sort();
  const order = new Uint32Array(count);
  const isTied = (at: number) =>
    keys[2 * at + 1] === keys[2 * at - 1] &&
    ((keys[2 * at] ?? 0) ^ (keys[2 * at - 2] ?? 0)) >>> ROW_BITS === 0;
  const compare = (one: number, other: number) =>
    comparePairs({ of: pairs, at: one }, { of: pairs, at: other }, PAIR_NUMBERS);
  for (let from = 0, at = 0; at < count; at++) {
    order[at] = (keys[2 * at] ?? 0) & ROW_MASK;
    if (at + 1 < count && isTied(at + 1)) continue;
    if (at > from) order.subarray(from, at + 1).sort(compare);
    from = at + 1;
  }
  const result = new Uint32Array(pairs.length);
  for (let at = 0; at < count; at++) {
    const from = (order[at] ?? 0) * PAIR_NUMBERS;
    result.set(pairs.subarray(from, from + PAIR_NUMBERS), at * PAIR_NUMBERS);
  }
  return { pairs: result, rows: order.map((row) => numbers[row] ?? 0) };
}

/** One of some pairs. */
interface PairAt {
  of: Uint32Array;
  at: number;
}

/** Compares two pairs. @param numbers 4, or 2 to compare only the prompts */
function comparePairs(one: PairAt, other: PairAt, numbers: number): number {
  for (let part = 0; part < numbers; part += 2)
    for (const half of [part + 1, part]) {
      const ours = one.of[one.at * PAIR_NUMBERS + half] ?? 0;
      const theirs = other.of[other.at * PAIR_NUMBERS + half] ?? 0;
      if (ours !== theirs) return ours - theirs;
    }
  return 0;
}

/**
 * Compares sorted pairs as multisets, prompt by prompt. If 3 rows of a prompt became 5, and 1 has equal texts, then 2 were
 * changed and 2 added.
 */
function differences(now: Pairs, then: Pairs): RowDifference {
  const counts = { added: 0, removed: 0, changed: 0, equal: 0 };
  const rows: number[] = [];
  const walk = (of: Uint32Array) => ({ of, at: 0, end: of.length / PAIR_NUMBERS });
  const [one, other] = [walk(now.pairs), walk(then.pairs)];
  /** The rows of the current prompt that are only now there, and only then. */
  let [left, gone] = [0, 0];
  let last: PairAt | undefined;
  const endPrompt = () => {
    const changed = Math.min(left, gone);
    counts.changed += changed;
    counts.added += left - changed;
    counts.removed += gone - changed;
    left = gone = 0;
  };
  while (one.at < one.end || other.at < other.end) {
    const order =
      one.at === one.end ? 1 : other.at === other.end ? -1 : comparePairs(one, other, PAIR_NUMBERS);
    const next: PairAt = { ...(order > 0 ? other : one) };
    if (last !== undefined && comparePairs(last, next, 2) !== 0) endPrompt();
    last = next;
    if (order === 0) counts.equal++;
    else if (order > 0) gone++;
    else {
      left++;
      if (now.rows !== undefined) rows.push(now.rows[one.at] ?? 0);
    }
    if (order <= 0) one.at++;
    if (order >= 0) other.at++;
  }
  endPrompt();
  const located = [...Uint32Array.from(rows).sort().subarray(0, LOCATED_LIMIT)];
  return {
    ...counts,
    notCompared: now.notCompared,
    rows: { total: rows.length, rows: located },
  };
}
