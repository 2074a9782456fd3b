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

/** The number for a name of up to eight ASCII characters when its bytes are loaded, little-endian. */
function word(from: usize, length: usize): u64 {
  return load<u64>(from) & (u64.MAX_VALUE >> ((<u64>(8 - length)) << 3));
}

/** The eight bytes that end at `to`. */
function tail(to: usize): u64 {
  return load<u64>(to - 8);
}

/** Which field of a row a key names. */
export function fieldOf(from: usize, to: usize): i32 {
  const length = to - from;
  switch (length) {
    case 4:
      return word(from, 4) == 0x74786574 ? FIELD_TEXT : FIELD_OTHER; // text
    case 5:
      return word(from, 5) == 0x7475706e69 ? FIELD_INPUT : FIELD_OTHER; // input
    case 6: {
      const name = word(from, 6);
      if (name == 0x74706d6f7270) return FIELD_PROMPT; // prompt
      if (name == 0x74757074756f) return FIELD_OUTPUT; // output
      if (name == 0x726577736e61) return FIELD_ANSWER; // answer
      return name == 0x6e65736f6863 ? FIELD_CHOSEN : FIELD_OTHER; // chosen
    }
    case 8: {
      const name = load<u64>(from);
      if (name == 0x736567617373656d) return FIELD_MESSAGES; // messages
      if (name == 0x6e6f697473657571) return FIELD_QUESTION; // question
      return name == 0x64657463656a6572 ? FIELD_REJECTED : FIELD_OTHER; // rejected
    }
    case 10:
      // completi, mpletion
      return load<u64>(from) == 0x6974656c706d6f63 && tail(to) == 0x6e6f6974656c706d
        ? FIELD_COMPLETION
        : FIELD_OTHER;
    case 11:
      // instruct, truction
      return load<u64>(from) == 0x7463757274736e69 && tail(to) == 0x6e6f697463757274
        ? FIELD_INSTRUCTION
        : FIELD_OTHER;
    case 13:
      // conversa, rsations
      return load<u64>(from) == 0x61737265766e6f63 && tail(to) == 0x736e6f6974617372
        ? FIELD_CONVERSATIONS
        : FIELD_OTHER;
    default:
      return FIELD_OTHER;
  }
}

/** Which field of a message a key names. */
export function partOf(from: usize, to: usize): i32 {
  const length = to - from;
  switch (length) {
    case 4: {
      const name = word(from, 4);
      if (name == 0x656c6f72) return PART_ROLE; // role
      return name == 0x6d6f7266 ? PART_FROM : PART_OTHER; // from
    }
    case 5:
      return word(from, 5) == 0x65756c6176 ? PART_VALUE : PART_OTHER; // value
    case 7:
      return word(from, 7) == 0x746e65746e6f63 ? PART_CONTENT : PART_OTHER; // content
    case 10:
      // tool_cal, ol_calls
      return load<u64>(from) == 0x6c61635f6c6f6f74 && tail(to) == 0x736c6c61635f6c6f
        ? PART_TOOL_CALLS
        : PART_OTHER;
    case 13:
      // function, ion_call: the older form of one tool call
      return load<u64>(from) == 0x6e6f6974636e7566 && tail(to) == 0x6c6c61635f6e6f69
        ? PART_TOOL_CALLS
        : PART_OTHER;
    default:
      return PART_OTHER;
  }
}

/** Whose turn a role names; ShareGPT has names of its own. */
export function roleOf(from: usize, to: usize, isShareGpt: bool): i32 {
  const length = to - from;
  switch (length) {
    case 3:
      return isShareGpt && word(from, 3) == 0x747067 ? ROLE_ASSISTANT : ROLE_OTHER; // gpt
    case 4: {
      const name = word(from, 4);
      if (name == 0x72657375) return ROLE_USER; // user
      return name == 0x6c6f6f74 ? ROLE_TOOL : ROLE_OTHER; // tool
    }
    case 5:
      return isShareGpt && word(from, 5) == 0x6e616d7568 ? ROLE_USER : ROLE_OTHER; // human
    case 6:
      return word(from, 6) == 0x6d6574737973 ? ROLE_SYSTEM : ROLE_OTHER; // system
    case 7:
      return isShareGpt && word(from, 7) == 0x74706774616863 ? ROLE_ASSISTANT : ROLE_OTHER; // chatgpt
    case 8:
      return load<u64>(from) == 0x6e6f6974636e7566 ? ROLE_TOOL : ROLE_OTHER; // function
    case 9: {
      const name = load<u64>(from);
      const last = load<u8>(to - 1);
      if (name == 0x6e61747369737361 && last == 0x74) return ROLE_ASSISTANT; // assistan, t
      return name == 0x65706f6c65766564 && last == 0x72 ? ROLE_SYSTEM : ROLE_OTHER; // develope, r
    }
    case 11:
      // observat, ervation
      return isShareGpt && load<u64>(from) == 0x746176726573626f && tail(to) == 0x6e6f697461767265
        ? ROLE_TOOL
        : ROLE_OTHER;
    case 13:
      // function, ion_call: the model calls a tool
      return isShareGpt && load<u64>(from) == 0x6e6f6974636e7566 && tail(to) == 0x6c6c61635f6e6f69
        ? ROLE_ASSISTANT
        : ROLE_OTHER;
    default:
      return ROLE_OTHER;
  }
}
