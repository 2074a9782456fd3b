// Looks up the names that determine a row's shape. A name of up to eight bytes is compared with a single load.
import { MAX_FIELDS, MAX_PARTS, MAX_SPEAKERS, ROLE_ASSISTANT, ROLE_COUNT, ROLE_OTHER } from './codes';
import { FIELD_NAMES, NAME_BYTES, PART_NAMES, SPEAKER_NAMES } from './formats';

/** Kinds of scalar values. */
export const KIND_STRING = 1;
export const KIND_NUMBER = 2;
export const KIND_BOOLEAN = 3;
export const KIND_NULL = 4;

// Fields of a message, as `datasets/formats.ts` numbers them.
export const PART_OTHER = 0;
export const PART_ROLE = 1;
export const PART_CONTENT = 2;
export const PART_TOOL_CALLS = 3;
export const PART_FROM = 4;
export const PART_VALUE = 5;
export const PART_REASONING = 6;
/** A message with this field differs from its neighbor: in how it is trained, or in its speaker. */
export const PART_MARK = 7;
export const PART_WEIGHT = 8;
/** `false` means the same as a weight of 0. */
export const PART_LEARNED = 9;

// Further roles, which are counted as others.
/** A tool call as a message of its own. Counts as the assistant's. */
export const ROLE_CALL = ROLE_COUNT;
/** Text to learn from, outside of a conversation. */
export const ROLE_PRETRAIN = ROLE_COUNT + 1;

/** Returns the first eight bytes of a name, little-endian, with zeros after a shorter one. */
function head(from: usize, length: usize): u64 {
  const bytes = load<u64>(from);
  return length < 8 ? bytes & (((<u64>1) << ((<u64>length) << 3)) - 1) : bytes;
}

/** Returns the entry of a name in a table of `formats.ts`, or a free one. */
function entryOf(table: usize, slots: u32, from: usize, to: usize): usize {
  const length = to - from;
  const first = head(from, length);
  let slot = ((<u32>first + <u32>length) * <u32>0x9e3779b1) >> 16;
  while (true) {
    const entry = table + (slot++ & (slots - 1)) * NAME_BYTES;
    if (load<u8>(entry) == 0) return entry;
    if (load<u8>(entry) == length && load<u64>(entry, 8) == first)
      if (length <= 8 || load<u64>(entry, 16) == load<u64>(to - 8)) return entry;
  }
}

/** Returns the number of the field that a key of a row names. */
export function fieldOf(from: usize, to: usize): i32 {
  return load<u8>(entryOf(FIELD_NAMES, MAX_FIELDS, from, to), 1);
}

/** Returns which field of a message a key names. */
export function partOf(from: usize, to: usize): i32 {
  return load<u8>(entryOf(PART_NAMES, MAX_PARTS, from, to), 1);
}

/** Returns the role of a name; ShareGPT has additional names. */
export function roleOf(from: usize, to: usize, isShareGpt: bool): i32 {
  const entry = entryOf(SPEAKER_NAMES, MAX_SPEAKERS, from, to);
  return load<u8>(entry) == 0 || (load<u8>(entry, 2) && !isShareGpt) ? ROLE_OTHER : load<u8>(entry, 1);
}

/** Returns the role as which a role is counted. */
export function countedRole(role: i32): i32 {
  return role == ROLE_CALL ? ROLE_ASSISTANT : role == ROLE_PRETRAIN ? ROLE_OTHER : role;
}

/** Whether a key names the text of a content part. */
export function isTextName(from: usize, to: usize): bool {
  return to - from == 4 && load<u32>(from) == 0x74786574;
}

/** Whether a key names the type of a content part. */
export function isTypeName(from: usize, to: usize): bool {
  return to - from == 4 && load<u32>(from) == 0x65707974;
}

/** Whether the name or type of a content part is of tool use: `tool_use`, `toolResult`, `functionCall`. */
export function isToolName(from: usize, to: usize): bool {
  return to - from >= 4 && (load<u32>(from) == 0x6c6f6f74 || load<u32>(from) == 0x636e7566);
}

/** Whether a key names the function of a call. */
export function isFunctionName(from: usize, to: usize): bool {
  return to - from == 8 && load<u64>(from) == 0x6e6f6974636e7566;
}

/** Whether a key names the arguments of a call. */
export function isArgumentsName(from: usize, to: usize): bool {
  return to - from == 9 && load<u64>(from) == 0x746e656d75677261 && load<u8>(from, 8) == 0x73;
}
