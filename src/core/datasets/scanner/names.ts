// The kinds of values, and the names, that determine a row's shape. Names are compared by their bytes: up to eight need a
// single load.
// The names that determine a row's shape, compared by their bytes. Names of up to eight bytes need a single load.
import { ROLE_ASSISTANT, ROLE_COUNT, ROLE_OTHER, ROLE_SYSTEM, ROLE_TOOL, ROLE_USER } from './codes';

/** Kinds of scalar values. */
export const KIND_STRING = 1;
export const KIND_NUMBER = 2;
export const KIND_BOOLEAN = 3;
export const KIND_NULL = 4;

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
export const FIELD_RESPONSE = 13;
export const FIELD_CONTEXT = 14;
export const FIELD_REJECTED_RESPONSE = 15;
/** At most 16, the fields whose texts `prompts.ts` can hash. */
export const FIELD_COUNT = 16;

// Fields of a message.
export const PART_OTHER = 0;
export const PART_ROLE = 1;
export const PART_CONTENT = 2;
export const PART_TOOL_CALLS = 3;
export const PART_FROM = 4;
export const PART_VALUE = 5;
export const PART_REASONING = 6;
/** What trains, or speaks, differently from its neighbor. */
export const PART_MARK = 7;

// Roles besides those that are counted.
/** A call as a message of its own. It counts as the assistant's. */
export const ROLE_CALL = ROLE_COUNT;
/** Text to learn from, outside of a conversation. */
export const ROLE_PRETRAIN = ROLE_COUNT + 1;

/** Returns the first eight bytes of a name, little-endian, with zeros after a shorter one. */
function head(from: usize, length: usize): u64 {
  const bytes = load<u64>(from);
  return length < 8 ? bytes & (((<u64>1) << ((<u64>length) << 3)) - 1) : bytes;
}

/** Whether a name has this length (more than eight bytes) and these first and last eight bytes. */
function isLong(from: usize, to: usize, length: usize, first: u64, last: u64): bool {
  return to - from == length && load<u64>(from) == first && load<u64>(to - 8) == last;
}

/** Returns which field of a row a key names. */
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
    if (name == 0x65736e6f70736572) return FIELD_RESPONSE; // response
    if (name == 0x747865746e6f63) return FIELD_CONTEXT; // context
    return name == 0x64657463656a6572 ? FIELD_REJECTED : FIELD_OTHER; // rejected
  }
  // completi, mpletion; instruct, truction; conversa, rsations
  if (isLong(from, to, 10, 0x6974656c706d6f63, 0x6e6f6974656c706d)) return FIELD_COMPLETION;
  if (isLong(from, to, 11, 0x7463757274736e69, 0x6e6f697463757274)) return FIELD_INSTRUCTION;
  if (isLong(from, to, 13, 0x61737265766e6f63, 0x736e6f6974617372)) return FIELD_CONVERSATIONS;
  // rejected, response
  return isLong(from, to, 17, 0x64657463656a6572, 0x65736e6f70736572) ? FIELD_REJECTED_RESPONSE : FIELD_OTHER;
}

/** Returns which field of a message a key names. */
export function partOf(from: usize, to: usize): i32 {
  if (to - from <= 8) {
    const name = head(from, to - from);
    if (name == 0x656c6f72) return PART_ROLE; // role
    if (name == 0x746e65746e6f63) return PART_CONTENT; // content
    if (name == 0x6d6f7266) return PART_FROM; // from
    if (name == 0x65756c6176) return PART_VALUE; // value
    if (name == 0x676e696b6e696874) return PART_REASONING; // thinking
    if (name == 0x746867696577 || name == 0x6e69617274) return PART_MARK; // weight, train
    if (name == 0x73736f6c || name == 0x786966657270) return PART_MARK; // loss, prefix
    return name == 0x656d616e ? PART_MARK : PART_OTHER; // name
  }
  // tool_cal, ol_calls; function, ion_call: the older form of one tool call
  if (isLong(from, to, 10, 0x6c61635f6c6f6f74, 0x736c6c61635f6c6f)) return PART_TOOL_CALLS;
  if (isLong(from, to, 13, 0x6e6f6974636e7566, 0x6c6c61635f6e6f69)) return PART_TOOL_CALLS;
  // reasonin, easoning; reasonin, _content
  if (isLong(from, to, 9, 0x6e696e6f73616572, 0x676e696e6f736165)) return PART_REASONING;
  return isLong(from, to, 17, 0x6e696e6f73616572, 0x746e65746e6f635f) ? PART_REASONING : PART_OTHER;
}

/** Returns the role of a name; ShareGPT has additional names. */
export function roleOf(from: usize, to: usize, isShareGpt: bool): i32 {
  if (to - from <= 8) {
    const name = head(from, to - from);
    if (name == 0x72657375) return ROLE_USER; // user
    if (name == 0x6d6574737973) return ROLE_SYSTEM; // system
    if (name == 0x6c6f6f74 || name == 0x6e6f6974636e7566) return ROLE_TOOL; // tool, function
    if (name == 0x6e6f6874797069) return ROLE_TOOL; // ipython
    if (name == 0x6e69617274657270) return ROLE_PRETRAIN; // pretrain
    if (!isShareGpt) return ROLE_OTHER;
    if (name == 0x6e616d7568) return ROLE_USER; // human
    return isChatbot(name) ? ROLE_ASSISTANT : ROLE_OTHER;
  }
  // assistan, ssistant; develope, eveloper
  if (isLong(from, to, 9, 0x6e61747369737361, 0x746e617473697373)) return ROLE_ASSISTANT;
  if (isLong(from, to, 9, 0x65706f6c65766564, 0x7265706f6c657665)) return ROLE_SYSTEM;
  // tool_cal, ool_call; tool_res, response
  if (isLong(from, to, 9, 0x6c61635f6c6f6f74, 0x6c6c61635f6c6f6f)) return ROLE_CALL;
  if (isLong(from, to, 13, 0x7365725f6c6f6f74, 0x65736e6f70736572)) return ROLE_TOOL;
  if (!isShareGpt) return ROLE_OTHER;
  // observat, ervation; function, ion_call
  if (isLong(from, to, 11, 0x746176726573626f, 0x6e6f697461767265)) return ROLE_TOOL;
  return isLong(from, to, 13, 0x6e6f6974636e7566, 0x6c6c61635f6e6f69) ? ROLE_CALL : ROLE_OTHER;
}

/** Returns the role that counts for one. */
export function countedRole(role: i32): i32 {
  return role == ROLE_CALL ? ROLE_ASSISTANT : role == ROLE_PRETRAIN ? ROLE_OTHER : role;
}

/** Whether ShareGPT has this name for the assistant. */
function isChatbot(name: u64): bool {
  if (name == 0x747067 || name == 0x74706774616863) return true; // gpt, chatgpt
  if (name == 0x64726162 || name == 0x676e6962 || name == 0x656475616c63) return true; // bard, bing, claude
  return name == 0x6c65646f6d || name == 0x6961 || name == 0x746f62; // model, ai, bot
}

/** Whether a key names the text of a content part. */
export function isTextName(from: usize, to: usize): bool {
  return to - from == 4 && load<u32>(from) == 0x74786574;
}

/** Whether a key names the type of a content part. */
export function isTypeName(from: usize, to: usize): bool {
  return to - from == 4 && load<u32>(from) == 0x65707974;
}

/** Whether the name or type of a content part begins as those of tool use: `tool_use`, `toolResult`, `functionCall`. */
export function isToolName(from: usize, to: usize): bool {
  return to - from >= 4 && (load<u32>(from) == 0x6c6f6f74 || load<u32>(from) == 0x636e7566);
}

/** Whether a key names the function of a call. */
export function isFunctionName(from: usize, to: usize): bool {
  return to - from == 8 && load<u64>(from) == 0x6e6f6974636e7566;
}

/** Whether a key names the arguments of a call. */
export function isArgumentsName(from: usize, to: usize): bool {
  return isLong(from, to, 9, 0x746e656d75677261, 0x73746e656d756772);
}
