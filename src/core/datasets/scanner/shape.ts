// What the rows of fine-tuning datasets look like. The service publishes no schema, so everything said here is a warning.
// The grammar passes on each token of the outer levels; only what decides is stored.
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
  ROLE_UNKNOWN,
  UNKNOWN_FORMAT,
} from './codes';
import { noteInRow } from './found';
import { KIND_NULL, KIND_STRING } from './grammar';
import {
  fieldOf,
  FIELD_ANSWER,
  FIELD_CHOSEN,
  FIELD_COMPLETION,
  FIELD_CONVERSATIONS,
  FIELD_COUNT,
  FIELD_INPUT,
  FIELD_INSTRUCTION,
  FIELD_MESSAGES,
  FIELD_OTHER,
  FIELD_OUTPUT,
  FIELD_PROMPT,
  FIELD_QUESTION,
  FIELD_REJECTED,
  FIELD_TEXT,
  PART_CONTENT,
  PART_FROM,
  PART_OTHER,
  PART_ROLE,
  PART_TOOL_CALLS,
  PART_VALUE,
  partOf,
  roleOf,
} from './names';

/** The row (1), its list of messages (2), a message (3), the list of its content's parts (4), one of these (5). */
export const MAX_SHAPE_DEPTH = 5;

/** The format of the row read last, once it has ended. */
export let format: i32 = FORMAT_UNKNOWN;
/** Turns of its conversation, and a u32 for each role. */
export let turns: u32 = 0;
export const TURNS_BY_ROLE: usize = memory.data(ROLE_COUNT * 4, 4);

/** Bits of the fields that the row has, and which one the grammar is in. */
let fields: u32 = 0;
let field: i32 = FIELD_OTHER;
/** For each field what is wrong with its last value: code (0 for nothing), position, length; each a u32. */
const FAULT_BYTES = 12;
const FAULTS: usize = memory.data(FIELD_COUNT * FAULT_BYTES, 4);

let hasAssistant: bool = false;
let lastRole: i32 = -1;

let message: usize = 0;
let isMessage: bool = false;
let part: i32 = PART_OTHER;
let role: i32 = -1;
let hasContent: bool = false;
let hasToolCalls: bool = false;
/** Where an empty content is, 0 if it is not empty. */
let emptyContent: usize = 0;
let emptyLength: usize = 0;
let parts: u32 = 0;

function bit(index: i32): u32 {
  return 1 << index;
}

function isConversation(): bool {
  return field == FIELD_MESSAGES || field == FIELD_CONVERSATIONS;
}

/** Begins a row. */
export function beginShape(start: usize): void {
  format = FORMAT_UNKNOWN;
  fields = 0;
  field = FIELD_OTHER;
  message = start;
  beginConversation();
}

function noteNoArray(at: usize, length: usize): void {
  noteInRow(field == FIELD_MESSAGES ? MESSAGES_NOT_ARRAY : CONVERSATIONS_NOT_ARRAY, at, length);
}

function beginConversation(): void {
  turns = 0;
  hasAssistant = false;
  lastRole = -1;
  // Not `memory.fill`: for so few bytes a call out of WebAssembly takes longer than all else.
  for (let index = 0; index < ROLE_COUNT; index++) store<u32>(TURNS_BY_ROLE + ((<usize>index) << 2), 0);
}

/** Takes a key of the object at a depth. */
export function keyShape(depth: i32, from: usize, to: usize): void {
  if (depth == 1) {
    field = fieldOf(from, to);
    fields |= bit(field);
    setFault(0, 0, 0);
  } else if (depth == 3 && isConversation()) {
    part = partOf(from, to);
  }
}

/** Takes a string, number or literal in the container at a depth. */
export function scalarShape(depth: i32, kind: i32, from: usize, to: usize): void {
  if (depth == 1) takeField(kind, from, to);
  else if (!isConversation()) return;
  else if (depth == 2) noteInRow(MESSAGE_NOT_OBJECT, from, to - from);
  else if (depth == 3) takePart(kind, from, to);
  else if (depth == 4 && isContent()) {
    parts++;
    if (kind != KIND_STRING) noteInRow(CONTENT_WRONG_TYPE, from, to - from);
  }
}

function takeField(kind: i32, from: usize, to: usize): void {
  if (field == FIELD_OTHER) return;
  if (isConversation()) {
    beginConversation();
    noteNoArray(from, to - from);
  } else if (field == FIELD_INPUT && (kind == KIND_NULL || kind == KIND_STRING)) {
    // An instruction often needs no input.
    return;
  } else if (kind != KIND_STRING) setFault(FIELD_WRONG_TYPE, from, to - from);
  else if (isBlank(from, to)) setFault(FIELD_EMPTY, from - 1, to - from + 2);
}

/** Keeps what is wrong with the value of the field: whether it matters is known when the row has ended. */
function setFault(code: u32, at: usize, length: usize): void {
  const fault = FAULTS + <usize>field * FAULT_BYTES;
  store<u32>(fault, code);
  store<u32>(fault, <u32>at, 4);
  store<u32>(fault, <u32>length, 8);
}

/** Notes what is wrong with some fields; bits of them. */
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
  } else if (isContent() && kind != KIND_NULL) {
    hasContent = true;
    if (kind != KIND_STRING) noteInRow(CONTENT_WRONG_TYPE, from, to - from);
    else if (isBlank(from, to)) {
      emptyContent = from - 1;
      emptyLength = to - from + 2;
    }
  }
}

/** Takes a container that opens at a depth of its own. */
export function openShape(depth: i32, isObject: bool, at: usize): void {
  if (depth == 2) {
    if (isConversation()) {
      beginConversation();
      message = at;
      if (!isObject) return;
      noteNoArray(at, 1);
      field = FIELD_OTHER;
    } else if (field != FIELD_OTHER && !(mayBeList() && !isObject)) setFault(FIELD_WRONG_TYPE, at, 1);
  } else if (!isConversation()) return;
  else if (depth == 3) {
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

/** Prompts, completions and preferences can be lists of messages as well. */
function mayBeList(): bool {
  return (
    (bit(field) & (bit(FIELD_PROMPT) | bit(FIELD_COMPLETION) | bit(FIELD_CHOSEN) | bit(FIELD_REJECTED))) != 0
  );
}

/** Takes the end of the container at a depth. */
export function closeShape(depth: i32, at: usize): void {
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

function endMessage(): void {
  turns++;
  if (!isMessage) return;
  if (role < 0) noteInRow(ROLE_MISSING, message, 1);
  else {
    const counter = TURNS_BY_ROLE + ((<usize>role) << 2);
    store<u32>(counter, load<u32>(counter) + 1);
  }
  lastRole = role;
  if (role == ROLE_ASSISTANT) hasAssistant = true;
  // A turn that only calls tools has no content, or null, or an empty one.
  if (hasToolCalls) return;
  if (!hasContent) noteInRow(CONTENT_MISSING, message, 1);
  else if (emptyContent != 0) noteInRow(CONTENT_EMPTY, emptyContent, emptyLength);
}

/** Ends a row that is an object: its fields decide its format. */
export function endShape(start: usize): void {
  if (has(FIELD_MESSAGES)) format = FORMAT_CHAT;
  else if (has(FIELD_CONVERSATIONS)) format = FORMAT_SHAREGPT;
  else if (has(FIELD_CHOSEN) || has(FIELD_REJECTED)) {
    format = FORMAT_PREFERENCE;
    needBoth(FIELD_CHOSEN, FIELD_REJECTED, CHOSEN_MISSING, start);
    noteFaults(bit(FIELD_PROMPT) | bit(FIELD_CHOSEN) | bit(FIELD_REJECTED));
  } else if (has(FIELD_PROMPT) || has(FIELD_COMPLETION)) {
    format = FORMAT_PROMPT_COMPLETION;
    needBoth(FIELD_PROMPT, FIELD_COMPLETION, PROMPT_MISSING, start);
    noteFaults(bit(FIELD_PROMPT) | bit(FIELD_COMPLETION));
  } else if (has(FIELD_INSTRUCTION) || (has(FIELD_INPUT) && has(FIELD_OUTPUT))) {
    format = FORMAT_INSTRUCTION;
    needBoth(FIELD_INSTRUCTION, FIELD_OUTPUT, INSTRUCTION_MISSING, start);
    noteFaults(bit(FIELD_INSTRUCTION) | bit(FIELD_INPUT) | bit(FIELD_OUTPUT));
  } else if (has(FIELD_QUESTION) || has(FIELD_ANSWER)) {
    format = FORMAT_QUESTION_ANSWER;
    needBoth(FIELD_QUESTION, FIELD_ANSWER, QUESTION_MISSING, start);
    noteFaults(bit(FIELD_QUESTION) | bit(FIELD_ANSWER));
  } else if (has(FIELD_TEXT)) {
    format = FORMAT_TEXT;
    noteFaults(bit(FIELD_TEXT));
  } else noteInRow(UNKNOWN_FORMAT, start, 1);
}

function has(index: i32): bool {
  return (fields & bit(index)) != 0;
}

function needBoth(one: i32, other: i32, code: i32, start: usize): void {
  if (!has(one)) noteInRow(code, start, 1);
  if (!has(other)) noteInRow(code + 1, start, 1);
}

/** Nothing in it, or spaces only. */
function isBlank(from: usize, to: usize): bool {
  let at = from;
  while (at < to && load<u8>(at) == 0x20) at++;
  return at == to;
}
