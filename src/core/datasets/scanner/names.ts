// The names that decide a row's shape, compared by their bytes. A name of up to eight bytes is one load.
import { ROLE_ASSISTANT, ROLE_OTHER, ROLE_SYSTEM, ROLE_TOOL, ROLE_USER } from './codes';

// Fields of a row.
export const FIELD_OTHER = 0;
export const FIELD_MESSAGES = 1;
export const FIELD_CONVERSATIONS = 2;
export const FIELD_PROMPT = 3;
export const FIELD_COMPLETION = 4;
export const FIELD_INSTRUCTION = 5;
export const FIELD_INPUT = 6;
export const FIELD_OUTPUT = 7;
export const FIELD_QUESTION = 8;
export const FIELD_ANSWER = 9;
export const FIELD_TEXT = 10;
export const FIELD_CHOSEN = 11;
export const FIELD_REJECTED = 12;
export const FIELD_COUNT = 13;

// Fields of a message.
export const PART_OTHER = 0;
export const PART_ROLE = 1;
export const PART_CONTENT = 2;
export const PART_TOOL_CALLS = 3;
export const PART_FROM = 4;
export const PART_VALUE = 5;

/** The first eight bytes of a name, little-endian, zeros behind a shorter one. */
function head(from: usize, length: usize): u64 {
  const bytes = load<u64>(from);
  return length < 8 ? bytes & (((<u64>1) << ((<u64>length) << 3)) - 1) : bytes;
}

/** Whether a name of more than eight bytes has so many, and these are its first and its last eight. */
function isLong(from: usize, to: usize, length: usize, first: u64, last: u64): bool {
  return to - from == length && load<u64>(from) == first && load<u64>(to - 8) == last;
}

/** Which field of a row a key names. */
export function fieldOf(from: usize, to: usize): i32 {
  if (to - from <= 8) {
    const name = head(from, to - from);
    if (name == 0x736567617373656d) return FIELD_MESSAGES; // messages
    if (name == 0x74786574) return FIELD_TEXT; // text
    if (name == 0x74706d6f7270) return FIELD_PROMPT; // prompt
    if (name == 0x7475706e69) return FIELD_INPUT; // input
    if (name == 0x74757074756f) return FIELD_OUTPUT; // output
    if (name == 0x6e6f697473657571) return FIELD_QUESTION; // question
    if (name == 0x726577736e61) return FIELD_ANSWER; // answer
    if (name == 0x6e65736f6863) return FIELD_CHOSEN; // chosen
    return name == 0x64657463656a6572 ? FIELD_REJECTED : FIELD_OTHER; // rejected
  }
  // completi, mpletion; instruct, truction; conversa, rsations
  if (isLong(from, to, 10, 0x6974656c706d6f63, 0x6e6f6974656c706d)) return FIELD_COMPLETION;
  if (isLong(from, to, 11, 0x7463757274736e69, 0x6e6f697463757274)) return FIELD_INSTRUCTION;
  return isLong(from, to, 13, 0x61737265766e6f63, 0x736e6f6974617372) ? FIELD_CONVERSATIONS : FIELD_OTHER;
}

/** Which field of a message a key names. */
export function partOf(from: usize, to: usize): i32 {
  if (to - from <= 8) {
    const name = head(from, to - from);
    if (name == 0x656c6f72) return PART_ROLE; // role
    if (name == 0x746e65746e6f63) return PART_CONTENT; // content
    if (name == 0x6d6f7266) return PART_FROM; // from
    return name == 0x65756c6176 ? PART_VALUE : PART_OTHER; // value
  }
  // tool_cal, ol_calls; function, ion_call: the older form of one tool call
  if (isLong(from, to, 10, 0x6c61635f6c6f6f74, 0x736c6c61635f6c6f)) return PART_TOOL_CALLS;
  return isLong(from, to, 13, 0x6e6f6974636e7566, 0x6c6c61635f6e6f69) ? PART_TOOL_CALLS : PART_OTHER;
}

/** Whose turn a role names; ShareGPT has names of its own. */
export function roleOf(from: usize, to: usize, isShareGpt: bool): i32 {
  if (to - from <= 8) {
    const name = head(from, to - from);
    if (name == 0x72657375) return ROLE_USER; // user
    if (name == 0x6d6574737973) return ROLE_SYSTEM; // system
    if (name == 0x6c6f6f74 || name == 0x6e6f6974636e7566) return ROLE_TOOL; // tool, function
    if (!isShareGpt) return ROLE_OTHER;
    if (name == 0x6e616d7568) return ROLE_USER; // human
    return name == 0x747067 || name == 0x74706774616863 ? ROLE_ASSISTANT : ROLE_OTHER; // gpt, chatgpt
  }
  // assistan, ssistant; develope, eveloper
  if (isLong(from, to, 9, 0x6e61747369737361, 0x746e617473697373)) return ROLE_ASSISTANT;
  if (isLong(from, to, 9, 0x65706f6c65766564, 0x7265706f6c657665)) return ROLE_SYSTEM;
  if (!isShareGpt) return ROLE_OTHER;
  // observat, ervation; function, ion_call: the model calls a tool
  if (isLong(from, to, 11, 0x746176726573626f, 0x6e6f697461767265)) return ROLE_TOOL;
  return isLong(from, to, 13, 0x6e6f6974636e7566, 0x6c6c61635f6e6f69) ? ROLE_ASSISTANT : ROLE_OTHER;
}
