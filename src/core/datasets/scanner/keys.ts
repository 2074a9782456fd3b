// Finds keys that an object has twice. Escapes don't matter: "a" and "\u0061" are the same key.
import { DUPLICATE_KEY, TOO_MANY_KEYS } from './codes';
import { noteInRow } from './found';
import { hexUnit } from './strings';

/** Maximum keys compared per row. */
const MAX_KEYS: u32 = 65536;
/** Most rows have few keys and need only the small table, which fits into the processor's cache. */
const SMALL_SLOTS: u32 = 1024;
const LARGE_SLOTS: u32 = MAX_KEYS * 2;
/** Bytes of a slot: the object's number, the hash, the key's start, and its length with a bit for escapes; each a u32. */
const SLOT_BYTES: u32 = 16;
const SMALL: usize = memory.data(SMALL_SLOTS * SLOT_BYTES, 8);
const LARGE: usize = memory.data(LARGE_SLOTS * SLOT_BYTES, 8);
/** Escaped keys are decoded here to compare them; longer ones are compared as written. */
const MAX_DECODED: i32 = 4096;
const DECODED: usize = memory.data(MAX_DECODED + 8, 8);
const OTHER_DECODED: usize = memory.data(MAX_DECODED + 8, 8);

@unmanaged
class Keys {
  /** Objects are numbered across all rows, so that slots of earlier rows count as free. */
  lastObject: u32;
  firstOfRow: u32;
  /** How many keys the row has so far. */
  count: u32;
  /** Where the escape ends that `decodeEscape` read last. */
  afterEscape: usize;
}
export const keys = changetype<Keys>(memory.data(16, 16));

/** Begins a row. */
export function beginKeys(): void {
  if (keys.lastObject > 0xf0000000) {
    memory.fill(SMALL, 0, SMALL_SLOTS * SLOT_BYTES);
    memory.fill(LARGE, 0, LARGE_SLOTS * SLOT_BYTES);
    keys.lastObject = 0;
  }
  keys.firstOfRow = keys.lastObject + 1;
  keys.count = 0;
}

/** Returns the number of a new object. */
export function newObject(): u32 {
  return ++keys.lastObject;
}

/** Adds a key of an object, without its quotes, or notes it if it is a duplicate. */
export function takeKey(object: u32, from: usize, to: usize, escaped: bool): void {
  if (keys.count >= MAX_KEYS) return noteInRow(TOO_MANY_KEYS, from - 1, to - from + 2);
  let start = from;
  let end = to;
  if (escaped && <i32>(to - from) <= MAX_DECODED) {
    start = DECODED;
    end = decode(from, to, DECODED);
  }
  const hash = hashOf(object, start, end);
  const spelling = ((<u32>(to - from)) << 1) | <u32>escaped;
  let slot = find(SMALL, SMALL_SLOTS, object, hash, start, end);
  if (keys.count >= SMALL_SLOTS / 2 && load<u32>(slot) != object)
    slot = find(LARGE, LARGE_SLOTS, object, hash, start, end);
  if (load<u32>(slot) == object) return noteInRow(DUPLICATE_KEY, from - 1, to - from + 2);
  store<u32>(slot, object);
  store<u32>(slot, hash, 4);
  store<u32>(slot, <u32>from, 8);
  store<u32>(slot, spelling, 12);
  keys.count++;
}

/** Returns the slot of the key, or the free slot where it belongs. */
function find(table: usize, slots: u32, object: u32, hash: u32, start: usize, end: usize): usize {
  let index = hash & (slots - 1);
  while (true) {
    const slot = table + index * SLOT_BYTES;
    const owner = load<u32>(slot);
    if (owner < keys.firstOfRow) return slot;
    if (owner == object && load<u32>(slot, 4) == hash && isKey(slot, start, end)) return slot;
    index = (index + 1) & (slots - 1);
  }
}

/** Whether the slot's decoded key equals these bytes. */
function isKey(slot: usize, start: usize, end: usize): bool {
  let from = <usize>load<u32>(slot, 8);
  const spelling = load<u32>(slot, 12);
  let to = from + (spelling >> 1);
  if (spelling & 1 && <i32>(to - from) <= MAX_DECODED) {
    to = decode(from, to, OTHER_DECODED);
    from = OTHER_DECODED;
  }
  return to - from == end - start && memory.compare(from, start, end - start) == 0;
}

/** Hashes the object's number and the key's bytes, eight at a time. */
function hashOf(object: u32, from: usize, to: usize): u32 {
  let hash = <u64>object * 0x9e3779b97f4a7c15;
  let at = from;
  for (; at + 8 <= to; at += 8) hash = rotl(hash ^ load<u64>(at), 29) * 0xbf58476d1ce4e5b9;
  const rest = (<u64>(to - at)) << 3;
  if (rest != 0) hash = rotl(hash ^ (load<u64>(at) & (((<u64>1) << rest) - 1)), 29) * 0xbf58476d1ce4e5b9;
  hash ^= to - from;
  hash ^= hash >> 32;
  return <u32>((hash * 0x94d049bb133111eb) >> 32);
}

/** Decodes a string to UTF-8 and returns its end; the result is never longer than the string. */
function decode(from: usize, to: usize, target: usize): usize {
  let end = target;
  for (let at = from; at < to;) {
    const character = <u32>load<u8>(at);
    if (character != 0x5c) {
      store<u8>(end++, character);
      at++;
      continue;
    }
    end = decodeEscape(at, end);
    at = keys.afterEscape;
  }
  return end;
}

/** Writes the character of an escape, or of a pair of them, as UTF-8, and returns its end. It is never longer than the escape. */
export function decodeEscape(at: usize, target: usize): usize {
  const letter = <u32>load<u8>(at + 1);
  if (letter != 0x75) {
    keys.afterEscape = at + 2;
    store<u8>(target, simpleEscape(letter));
    return target + 1;
  }
  let point = hexUnit(at + 2);
  keys.afterEscape = at + 6;
  if ((point & 0xfc00) == 0xd800 && load<u16>(at + 6) == 0x755c) {
    const low = hexUnit(at + 8);
    if ((low & 0x1fc00) == 0xdc00) {
      point = 0x10000 + ((point & 0x3ff) << 10) + (low & 0x3ff);
      keys.afterEscape = at + 12;
    }
  }
  return writePoint(point, target);
}

/** Returns the character of an escape such as `\n`, by its letter. */
function simpleEscape(letter: u32): u32 {
  switch (letter) {
    case 0x62:
      return 8;
    case 0x66:
      return 12;
    case 0x6e:
      return 10;
    case 0x72:
      return 13;
    case 0x74:
      return 9;
    default:
      return letter;
  }
}

/** Writes a code point as UTF-8, even a lone surrogate, and returns the end. */
function writePoint(point: u32, at: usize): usize {
  if (point < 0x80) {
    store<u8>(at, point);
    return at + 1;
  }
  if (point < 0x800) {
    store<u8>(at, 0xc0 | (point >> 6));
    store<u8>(at, 0x80 | (point & 0x3f), 1);
    return at + 2;
  }
  if (point < 0x10000) {
    store<u8>(at, 0xe0 | (point >> 12));
    store<u8>(at, 0x80 | ((point >> 6) & 0x3f), 1);
    store<u8>(at, 0x80 | (point & 0x3f), 2);
    return at + 3;
  }
  store<u8>(at, 0xf0 | (point >> 18));
  store<u8>(at, 0x80 | ((point >> 12) & 0x3f), 1);
  store<u8>(at, 0x80 | ((point >> 6) & 0x3f), 2);
  store<u8>(at, 0x80 | (point & 0x3f), 3);
  return at + 4;
}
