// Recognizes the formats of fine-tuning rows. The service publishes no schema, so all problems here are
// warnings. The grammar passes each token of the outer levels; only what determines the format is stored.
import {
  CHOSEN_MISSING,
  CONTENT_EMPTY,
  CONTENT_MISSING,
  CONTENT_WRONG_TYPE,
  CONVERSATIONS_NOT_ARRAY,
  FIELD_EMPTY,
  FIELD_WRONG_TYPE,
  FORMAT_CHAT,
  FORMAT_INSTRUCTION,
  FORMAT_PREFERENCE,
  FORMAT_PROMPT_COMPLETION,
  FORMAT_QUESTION_ANSWER,
  FORMAT_SHAREGPT,
  FORMAT_TEXT,
  FORMAT_UNKNOWN,
  INSTRUCTION_MISSING,
  LAST_NOT_ASSISTANT,
  MESSAGE_NOT_OBJECT,
  MESSAGES_EMPTY,
  MESSAGES_NOT_ARRAY,
  NO_ASSISTANT,
  PROMPT_MISSING,
  QUESTION_MISSING,
  ROLE_ASSISTANT,
  ROLE_COUNT,
  ROLE_MISSING,
  ROLE_OTHER,
  ROLE_SYSTEM,
  ROLE_TOOL,
  ROLE_UNKNOWN,
  ROLE_USER,
  UNKNOWN_FORMAT,
} from './codes';
import {
  addText,
  addToContent,
  beginTexts,
  countTexts,
  endContent,
  forgetText,
  setSpeaker,
} from './contents';
import { noteInRow } from './found';
import {
  addToField,
  addToMessage,
  answerOfMessages,
  endOfMessage,
  forgetField,
  forgetFields,
  forgetMessages,
  hashesPrompts,
  promptOfMessages,
  textOfField,
  textOfFields,
} from './prompts';

/** Kinds of scalar values. */
export const KIND_STRING = 1;
export const KIND_NUMBER = 2;
export const KIND_BOOLEAN = 3;
export const KIND_NULL = 4;

// The names that determine a row's shape, compared by their bytes. Names of up to eight bytes need a single load.

// Fields of a row.
const FIELD_OTHER = 0;
const FIELD_MESSAGES = 1;
const FIELD_CONVERSATIONS = 2;
const FIELD_PROMPT = 3;
const FIELD_COMPLETION = 4;
const FIELD_INSTRUCTION = 5;
const FIELD_INPUT = 6;
const FIELD_OUTPUT = 7;
const FIELD_QUESTION = 8;
const FIELD_ANSWER = 9;
const FIELD_TEXT = 10;
const FIELD_CHOSEN = 11;
const FIELD_REJECTED = 12;
const FIELD_RESPONSE = 13;
const FIELD_CONTEXT = 14;
/** At most 16, the fields whose texts `prompts.ts` can hash. */
const FIELD_COUNT = 15;

/** Strings that the assistant is to say. */
const ANSWER_FIELDS: u32 =
  (1 << FIELD_COMPLETION) |
  (1 << FIELD_OUTPUT) |
  (1 << FIELD_ANSWER) |
  (1 << FIELD_CHOSEN) |
  (1 << FIELD_REJECTED) |
  (1 << FIELD_RESPONSE);

// Fields of a message.
const PART_OTHER = 0;
const PART_ROLE = 1;
const PART_CONTENT = 2;
const PART_TOOL_CALLS = 3;
const PART_FROM = 4;
const PART_VALUE = 5;

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
function fieldOf(from: usize, to: usize): i32 {
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
  return isLong(from, to, 13, 0x61737265766e6f63, 0x736e6f6974617372) ? FIELD_CONVERSATIONS : FIELD_OTHER;
}

/** Returns which field of a message a key names. */
function partOf(from: usize, to: usize): i32 {
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

/** Returns the role of a name; ShareGPT has additional names. */
function roleOf(from: usize, to: usize, isShareGpt: bool): i32 {
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

/** The row (1), its messages (2), a message (3), its content's parts (4), a part (5). */
export const MAX_SHAPE_DEPTH = 5;

/** The format of the last row, set when it has ended; and whether its fields have the types of that format, not only the names. */
export let format: i32 = FORMAT_UNKNOWN;
export let hasTypes: bool = false;
/** Turns of the last row's conversation, and a u32 for each role. */
export let turns: u32 = 0;
export const TURNS_BY_ROLE: usize = memory.data(ROLE_COUNT * 4, 4);

/** Bits of the row's fields, and the field that is being read. */
let fields: u32 = 0;
let field: i32 = FIELD_OTHER;
/** What is wrong with the last value of each field: code (0 for nothing), address, length; each a u32. */
const FAULT_BYTES = 12;
const FAULTS: usize = memory.data(FIELD_COUNT * FAULT_BYTES, 4);
/** Bits of the fields with a list, and of those whose list begins with a message. */
let lists: u32 = 0;
let messageLists: u32 = 0;
/** Elements of the field's list so far, and bits of the parts of the last one. A role that is no string doesn't count. */
let elements: u32 = 0;
let partsSeen: u32 = 0;

let hasAssistant: bool = false;
let lastRole: i32 = -1;

let message: usize = 0;
let isMessage: bool = false;
let part: i32 = PART_OTHER;
let role: i32 = -1;
let hasContent: bool = false;
let hasToolCalls: bool = false;
/** The address of an empty content, or 0 if it is not empty. */
let emptyContent: usize = 0;
let emptyLength: usize = 0;
let parts: u32 = 0;
/** Whether the last value of a part is its text. */
let isPartText: bool = false;

function bit(index: i32): u32 {
  return 1 << index;
}

function isConversation(): bool {
  return field == FIELD_MESSAGES || field == FIELD_CONVERSATIONS;
}

/** Begins a row. */
export function beginShape(start: usize): void {
  format = FORMAT_UNKNOWN;
  hasTypes = false;
  fields = 0;
  lists = messageLists = 0;
  field = FIELD_OTHER;
  message = start;
  forgetFields();
  beginTexts();
  beginConversation();
}

function noteNoArray(at: usize, length: usize): void {
  noteInRow(field == FIELD_MESSAGES ? MESSAGES_NOT_ARRAY : CONVERSATIONS_NOT_ARRAY, at, length);
}

function beginConversation(): void {
  turns = 0;
  hasAssistant = false;
  lastRole = -1;
  forgetMessages();
  // Not `memory.fill`: for so few bytes, a call out of WebAssembly takes longer than the loop.
  for (let index = 0; index < ROLE_COUNT; index++) store<u32>(TURNS_BY_ROLE + ((<usize>index) << 2), 0);
}

/** Handles a key of the object at a depth. */
export function keyShape(depth: i32, from: usize, to: usize): void {
  if (depth == 1) {
    field = fieldOf(from, to);
    fields |= bit(field);
    setFault(0, 0, 0);
    forgetField(field);
    forgetText(field);
  } else if (depth == 5)
    isPartText = to - from == 4 && load<u32>(from) == 0x74786574; // text
  else if (depth == 3 && isList()) {
    part = partOf(from, to);
    partsSeen |= bit(part);
  }
}

/** Handles a string, number or literal in the container at a depth. */
export function scalarShape(depth: i32, kind: i32, from: usize, to: usize): void {
  if (hashesPrompts && kind == KIND_STRING) hashText(depth, from, to);
  if (kind == KIND_STRING && field != FIELD_OTHER) takeText(depth, from, to);
  if (depth == 1) takeField(kind, from, to);
  else if (!isConversation()) {
    if (depth == 2) elements++;
    else if (depth == 3 && kind != KIND_STRING) forgetRole();
  } else if (depth == 2) {
    // Conversations can be lists of strings.
    if (++elements == 1 && kind == KIND_STRING && field == FIELD_CONVERSATIONS) messageLists |= bit(field);
    noteInRow(MESSAGE_NOT_OBJECT, from, to - from);
  } else if (depth == 3) takePart(kind, from, to);
  else if (depth == 4 && isContent()) {
    parts++;
    if (kind != KIND_STRING) noteInRow(CONTENT_WRONG_TYPE, from, to - from);
  }
}

/** Adds a string to the texts of its field or message. Conversations of strings begin with the user. */
function hashText(depth: i32, from: usize, to: usize): void {
  if (!isConversation()) {
    if (field != FIELD_OTHER) addToField(field, from, to);
  } else if (depth == 2) {
    addToMessage(from, to);
    endOfMessage((elements & 1) == 0 ? ROLE_USER : ROLE_ASSISTANT);
  } else if (depth > 2 && isContent()) addToMessage(from, to);
}

/** Adds a string to the texts of its field or message, for their sizes. */
function takeText(depth: i32, from: usize, to: usize): void {
  const bytes = <u32>(to - from);
  if (depth == 1 || (depth == 2 && isList())) {
    // Conversations of strings begin with the user.
    const isAnswer = isConversation() ? (elements & 1) != 0 : (ANSWER_FIELDS & bit(field)) != 0;
    addText(field, bytes, isAnswer);
  } else if (!isList()) return;
  else if (depth == 3 && (part == PART_ROLE || part == PART_FROM))
    setSpeaker(roleOf(from, to, part == PART_FROM) == ROLE_ASSISTANT);
  else if (isContent() && (depth != 5 || isPartText)) addToContent(bytes);
}

/** Forgets the part that was just read if it is a role or a speaker, because it is no string. */
function forgetRole(): void {
  if (part == PART_ROLE || part == PART_FROM) partsSeen &= ~bit(part);
}

function takeField(kind: i32, from: usize, to: usize): void {
  if (field == FIELD_OTHER) return;
  if (isConversation()) {
    beginConversation();
    noteNoArray(from, to - from);
    messageLists &= ~bit(field);
  } else if (field == FIELD_INPUT && (kind == KIND_NULL || kind == KIND_STRING)) {
    // An instruction often needs no input.
    return;
  } else if (kind != KIND_STRING) setFault(FIELD_WRONG_TYPE, from, to - from);
  else if (isBlank(from, to)) setFault(FIELD_EMPTY, from - 1, to - from + 2);
}

/** Stores what is wrong with the field's value, because only the end of the row shows whether it matters. */
function setFault(code: u32, at: usize, length: usize): void {
  const fault = FAULTS + <usize>field * FAULT_BYTES;
  store<u32>(fault, code);
  store<u32>(fault, <u32>at, 4);
  store<u32>(fault, <u32>length, 8);
}

/** Notes what is wrong with some fields, given as bits. */
function noteFaults(some: u32): void {
  for (let left = some & fields; left != 0; left &= left - 1) {
    const fault = FAULTS + <usize>ctz(left) * FAULT_BYTES;
    if (load<u32>(fault) != 0) noteInRow(load<u32>(fault), load<u32>(fault, 4), load<u32>(fault, 8));
  }
}

function isContent(): bool {
  return part == PART_CONTENT || part == PART_VALUE;
}

function takePart(kind: i32, from: usize, to: usize): void {
  if (part == PART_ROLE || part == PART_FROM) {
    role = kind == KIND_STRING ? roleOf(from, to, part == PART_FROM) : ROLE_OTHER;
    if (role == ROLE_OTHER) noteInRow(ROLE_UNKNOWN, from, to - from);
    if (kind != KIND_STRING) forgetRole();
  } else if (isContent() && kind != KIND_NULL) {
    hasContent = true;
    if (kind != KIND_STRING) noteInRow(CONTENT_WRONG_TYPE, from, to - from);
    else if (isBlank(from, to)) {
      emptyContent = from - 1;
      emptyLength = to - from + 2;
    }
  }
}

/** Handles the start of a container at its depth. */
export function openShape(depth: i32, isObject: bool, at: usize): void {
  if (depth == 1) return;
  if (depth == 2) {
    // The values of an object are not elements.
    elements = <u32>isObject;
    if (!isObject) lists |= bit(field);
    messageLists &= ~bit(field);
    if (isConversation()) {
      beginConversation();
      message = at;
      if (!isObject) return;
      noteNoArray(at, 1);
      field = FIELD_OTHER;
    } else if (field != FIELD_OTHER && !(isList() && !isObject)) setFault(FIELD_WRONG_TYPE, at, 1);
    return;
  }
  if (depth == 3) {
    elements++;
    partsSeen = 0;
  } else if (depth == 4) forgetRole();
  if (!isConversation()) return;
  if (depth == 3) {
    if (!isObject) noteInRow(MESSAGE_NOT_OBJECT, at, 1);
    isMessage = isObject;
    message = at;
    part = PART_OTHER;
    role = -1;
    hasContent = false;
    hasToolCalls = false;
    emptyContent = 0;
  } else if (depth == 4) {
    parts = 0;
    if (part == PART_TOOL_CALLS) hasToolCalls = true;
    else if (part == PART_ROLE || part == PART_FROM) {
      role = ROLE_OTHER;
      noteInRow(ROLE_UNKNOWN, at, 1);
    } else if (isContent()) {
      hasContent = true;
      if (isObject) noteInRow(CONTENT_WRONG_TYPE, at, 1);
    }
  } else if (isContent()) parts++;
}

/** Conversations are lists of messages; prompts, completions and preferences can be. */
function isList(): bool {
  const others = bit(FIELD_PROMPT) | bit(FIELD_COMPLETION) | bit(FIELD_CHOSEN) | bit(FIELD_REJECTED);
  return isConversation() || (bit(field) & others) != 0;
}

/** Handles the end of the container at a depth. */
export function closeShape(depth: i32, at: usize): void {
  if (depth == 1) return;
  if (depth == 3 && isList()) endContent(field);
  if (depth == 3 && elements == 1 && isList() && isFirstMessage()) messageLists |= bit(field);
  if (!isConversation()) return;
  if (depth == 4) {
    if (isContent() && parts == 0) {
      emptyContent = at;
      emptyLength = 1;
    }
  } else if (depth == 3) endMessage();
  else if (depth == 2) {
    if (turns == 0) noteInRow(MESSAGES_EMPTY, at, 1);
    else if (!hasAssistant) noteInRow(NO_ASSISTANT, message, 1);
    else if (lastRole != ROLE_ASSISTANT) noteInRow(LAST_NOT_ASSISTANT, message, 1);
  }
}

function isFirstMessage(): bool {
  const hasText = (partsSeen & (bit(PART_CONTENT) | bit(PART_TOOL_CALLS))) != 0;
  const shareGpt = bit(PART_FROM) | bit(PART_VALUE);
  return ((partsSeen & bit(PART_ROLE)) != 0 && hasText) || (partsSeen & shareGpt) == shareGpt;
}

function endMessage(): void {
  turns++;
  endOfMessage(role);
  if (!isMessage) return;
  if (role < 0) noteInRow(ROLE_MISSING, message, 1);
  else {
    const counter = TURNS_BY_ROLE + ((<usize>role) << 2);
    store<u32>(counter, load<u32>(counter) + 1);
  }
  lastRole = role;
  if (role == ROLE_ASSISTANT) hasAssistant = true;
  // With tool calls, the content may be missing, null or empty.
  if (hasToolCalls) return;
  if (!hasContent) noteInRow(CONTENT_MISSING, message, 1);
  else if (emptyContent != 0) noteInRow(CONTENT_EMPTY, emptyContent, emptyLength);
}

/** Ends a row that is an object, and determines its format from its fields. */
export function endShape(start: usize): void {
  if (has(FIELD_MESSAGES)) {
    format = FORMAT_CHAT;
    hasTypes = (messageLists & bit(FIELD_MESSAGES)) != 0;
  } else if (has(FIELD_CONVERSATIONS)) {
    format = FORMAT_SHAREGPT;
    hasTypes = (messageLists & bit(FIELD_CONVERSATIONS)) != 0;
  } else if (has(FIELD_CHOSEN) || has(FIELD_REJECTED)) {
    format = FORMAT_PREFERENCE;
    needBoth(FIELD_CHOSEN, FIELD_REJECTED, CHOSEN_MISSING, start);
    noteFaults(bit(FIELD_PROMPT) | bit(FIELD_CHOSEN) | bit(FIELD_REJECTED));
  } else if (has(FIELD_PROMPT) || has(FIELD_COMPLETION)) {
    format = FORMAT_PROMPT_COMPLETION;
    needBoth(FIELD_PROMPT, FIELD_COMPLETION, PROMPT_MISSING, start);
    noteFaults(bit(FIELD_PROMPT) | bit(FIELD_COMPLETION));
  } else if (has(FIELD_INSTRUCTION) || (has(FIELD_INPUT) && has(FIELD_OUTPUT))) {
    format = FORMAT_INSTRUCTION;
    const answer = has(FIELD_OUTPUT) || !has(FIELD_RESPONSE) ? FIELD_OUTPUT : FIELD_RESPONSE;
    needBoth(FIELD_INSTRUCTION, answer, INSTRUCTION_MISSING, start);
    noteFaults(bit(FIELD_INSTRUCTION) | bit(FIELD_INPUT) | bit(answer));
  } else if (has(FIELD_QUESTION) || has(FIELD_ANSWER)) {
    format = FORMAT_QUESTION_ANSWER;
    needBoth(FIELD_QUESTION, FIELD_ANSWER, QUESTION_MISSING, start);
    // Too many other files have such rows.
    hasTypes = false;
    noteFaults(bit(FIELD_QUESTION) | bit(FIELD_ANSWER));
  } else if (has(FIELD_TEXT)) {
    format = FORMAT_TEXT;
    noteFaults(bit(FIELD_TEXT));
  } else noteInRow(UNKNOWN_FORMAT, start, 1);
}

/** Counts the texts of the object that was read last, which its format determines. */
export function countRowTexts(): void {
  countTexts(textFields() & fields);
}

function textFields(): u32 {
  if (format == FORMAT_CHAT) return bit(FIELD_MESSAGES);
  if (format == FORMAT_SHAREGPT) return bit(FIELD_CONVERSATIONS);
  if (format == FORMAT_PREFERENCE) return bit(FIELD_PROMPT) | bit(FIELD_CHOSEN) | bit(FIELD_REJECTED);
  if (format == FORMAT_PROMPT_COMPLETION) return bit(FIELD_PROMPT) | bit(FIELD_COMPLETION);
  if (format == FORMAT_INSTRUCTION) {
    const asked = bit(FIELD_INSTRUCTION) | bit(FIELD_INPUT) | bit(FIELD_CONTEXT);
    return asked | bit(has(FIELD_OUTPUT) ? FIELD_OUTPUT : FIELD_RESPONSE);
  }
  if (format == FORMAT_QUESTION_ANSWER) return bit(FIELD_QUESTION) | bit(FIELD_CONTEXT) | bit(FIELD_ANSWER);
  return format == FORMAT_TEXT ? bit(FIELD_TEXT) : 0;
}

/** Returns the hash of the prompt of the object that was read last, or 0 if it has none. */
export function promptHash(): u64 {
  if (format == FORMAT_CHAT || format == FORMAT_SHAREGPT) return promptOfMessages();
  if (format == FORMAT_INSTRUCTION) return textOfFields(FIELD_INSTRUCTION, FIELD_INPUT, FIELD_CONTEXT);
  if (format == FORMAT_QUESTION_ANSWER) return textOfFields(FIELD_QUESTION, FIELD_CONTEXT, FIELD_OTHER);
  return format == FORMAT_TEXT || format == FORMAT_UNKNOWN ? 0 : textOfField(FIELD_PROMPT);
}

/** Returns the hash of the answer of the object that was read last, or 0 if it has none. */
export function answerHash(): u64 {
  if (format == FORMAT_CHAT || format == FORMAT_SHAREGPT) return answerOfMessages();
  if (format == FORMAT_INSTRUCTION) return textOfField(has(FIELD_OUTPUT) ? FIELD_OUTPUT : FIELD_RESPONSE);
  if (format == FORMAT_QUESTION_ANSWER) return textOfField(FIELD_ANSWER);
  return format == FORMAT_PROMPT_COMPLETION ? textOfField(FIELD_COMPLETION) : 0;
}

function has(index: i32): bool {
  return (fields & bit(index)) != 0;
}

function needBoth(one: i32, other: i32, code: i32, start: usize): void {
  if (!has(one)) noteInRow(code, start, 1);
  else if (!has(other)) noteInRow(code + 1, start, 1);
  else hasTypes = isText(one) && isText(other);
}

/** Whether a field is a string or a list of messages. */
function isText(index: i32): bool {
  if (load<u32>(FAULTS + <usize>index * FAULT_BYTES) == FIELD_WRONG_TYPE) return false;
  return (lists & ~messageLists & bit(index)) == 0;
}

/** True if a string is empty or contains only spaces. */
function isBlank(from: usize, to: usize): bool {
  let at = from;
  while (at < to && load<u8>(at) == 0x20) at++;
  return at == to;
}
