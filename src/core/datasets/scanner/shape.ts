// Recognizes the formats of fine-tuning rows. The service publishes no schema, so all problems here are
// warnings. The grammar passes each token of the outer levels; only what determines the format is stored.
import {
  CHOSEN_MISSING,
  CONTENT_EMPTY,
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
  MESSAGE_NOT_OBJECT,
  MESSAGES_NOT_ARRAY,
  NO_ASSISTANT,
  PROMPT_MISSING,
  QUESTION_MISSING,
  ROLE_ASSISTANT,
  ROLE_USER,
  SAME_ANSWERS,
  STARTS_WITH_ASSISTANT,
  TOOL_ARGUMENTS,
  UNKNOWN_FORMAT,
} from './codes';
import { addText, beginField, countTexts } from './contents';
import { beginConversation, endConversation, takeMessage } from './conversation';
import { forgetNotes, noteInRow } from './found';
import {
  beginMessage,
  closeInMessage,
  endMessage,
  forgetMessage,
  forgetToolParts,
  hasMessageFields,
  hasToolParts,
  isContent,
  isPrompted,
  keyInMessage,
  message,
  openInMessage,
  scalarInMessage,
} from './message';
import {
  FIELD_ANSWER,
  FIELD_CHOSEN,
  FIELD_COMPLETION,
  FIELD_CONTEXT,
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
  FIELD_REJECTED_RESPONSE,
  FIELD_RESPONSE,
  FIELD_TEXT,
  fieldOf,
  KIND_NULL,
  KIND_STRING,
} from './names';
import {
  addToField,
  addToMessage,
  answerOfMessages,
  endOfMessage,
  forgetField,
  forgetFields,
  forgetMessages,
  hashesPrompts,
  isNormalized,
  promptOfMessages,
  textOfField,
  withText,
} from './prompts';
import { isBlank } from './strings';

/** The row (1), its messages (2), a message (3), its content's parts or its calls (4), one of these (5), a function (6). */
export const MAX_SHAPE_DEPTH = 6;

/** The format of the last row, set when it has ended; and whether its fields have the types of that format, not only the names. */
export let format: i32 = FORMAT_UNKNOWN;
export let hasTypes: bool = false;

/** Bits of the row's fields, and the field that is being read. */
let fields: u32 = 0;
let field: i32 = FIELD_OTHER;
/** What is wrong with the last value of each field: code (0 for nothing), address, length; each a u32. */
const FAULT_BYTES = 12;
const FAULTS: usize = memory.data(FIELD_COUNT * FAULT_BYTES, 4);
/** Where the chosen and the rejected answer begin and end, each a u32. */
const ANSWERS: usize = memory.data(16, 4);
/** Bits of the fields with a list, and of those whose list begins with a message. */
let lists: u32 = 0;
let messageLists: u32 = 0;
/** Whether the field's value is a list of messages, its elements so far, and whether the first is a string. */
let inList: bool = false;
let elements: u32 = 0;
let hasStrings: bool = false;

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
  forgetMessage(start);
  forgetToolParts();
  forgetFields();
  forgetTurns();
}

function noteNoArray(at: usize, length: usize): void {
  noteInRow(field == FIELD_MESSAGES ? MESSAGES_NOT_ARRAY : CONVERSATIONS_NOT_ARRAY, at, length);
}

function forgetTurns(): void {
  beginConversation();
  forgetMessages();
}

/** Handles a key of the object at a depth. */
export function keyShape(depth: i32, from: usize, to: usize): void {
  if (depth == 1) {
    field = fieldOf(from, to);
    // Of several values only the last counts.
    if (field != FIELD_OTHER && has(field)) forgetNotes(MESSAGES_NOT_ARRAY, TOOL_ARGUMENTS);
    fields |= bit(field);
    setFault(0, 0, 0);
    forgetField(field);
    beginField(field);
  } else if (depth > 2 && inList) keyInMessage(depth, from, to);
}

/** Handles a string, number or literal in the container at a depth. */
export function scalarShape(depth: i32, kind: i32, from: usize, to: usize): void {
  if (hashesPrompts && kind == KIND_STRING) hashText(depth, from, to);
  if (depth == 1) takeField(kind, from, to);
  else if (inList) {
    if (depth == 2) takeElement(kind, from, to);
    else scalarInMessage(depth, kind, from, to);
  }
}

/** Adds a string to the texts of its field or message. Conversations of strings begin with the user. */
function hashText(depth: i32, from: usize, to: usize): void {
  if (isNormalized && (isAnswer() || (inList && depth > 2 && !isPrompted(depth)))) return;
  if (!isConversation()) {
    if (field != FIELD_OTHER) addToField(field, from, to);
  } else if (depth == 2) {
    addToMessage(from, to);
    endOfMessage(speaker());
  } else if (depth > 2 && isContent()) addToMessage(from, to);
}

/** The role of the next string in a conversation of strings: user and assistant take turns. */
function speaker(): i32 {
  return (elements & 1) == 0 ? ROLE_USER : ROLE_ASSISTANT;
}

function takeField(kind: i32, from: usize, to: usize): void {
  if (field == FIELD_OTHER) return;
  // With its quotes. What is no text isn't compared.
  setAnswer(from - 1, kind == KIND_STRING ? to + 1 : from - 1);
  if (kind == KIND_STRING) addText(<u32>(to - from), isAnswer());
  if (isConversation()) {
    forgetTurns();
    noteNoArray(from, to - from);
    messageLists &= ~bit(field);
  } else if (field == FIELD_INPUT && kind == KIND_NULL) setFault(FIELD_EMPTY, from, to - from);
  else if (kind != KIND_STRING) setFault(FIELD_WRONG_TYPE, from, to - from);
  else if (isBlank(from, to)) setFault(FIELD_EMPTY, from - 1, to - from + 2);
}

/** Whether the assistant is to say the field's text. */
function isAnswer(): bool {
  const fields = bit(FIELD_OUTPUT) | bit(FIELD_RESPONSE) | bit(FIELD_ANSWER) | bit(FIELD_COMPLETION);
  return (bit(field) & (fields | bit(FIELD_CHOSEN) | bit(FIELD_REJECTED))) != 0;
}

/** Handles an element of the field's list that is no container. */
function takeElement(kind: i32, from: usize, to: usize): void {
  const role = speaker();
  if (kind == KIND_STRING) addText(<u32>(to - from), isConversation() ? role == ROLE_ASSISTANT : isAnswer());
  if (++elements == 1) hasStrings = kind == KIND_STRING && field == FIELD_CONVERSATIONS;
  if (!isConversation()) return;
  if (!hasStrings || kind != KIND_STRING) return noteInRow(MESSAGE_NOT_OBJECT, from, to - from);
  messageLists |= bit(field);
  takeMessage(role, from, to - from, false, false);
  if (isBlank(from, to)) noteInRow(CONTENT_EMPTY, from - 1, to - from + 2);
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

/** Handles the start of a container at its depth. */
export function openShape(depth: i32, isObject: bool, at: usize): void {
  if (depth == 2) openField(isObject, at);
  else if (depth > 2 && inList) {
    if (depth > 3) return openInMessage(depth, isObject, at);
    if (++elements == 1) hasStrings = false;
    beginMessage(at, isObject, isConversation());
  }
}

function openField(isObject: bool, at: usize): void {
  inList = !isObject && isList();
  elements = 0;
  if (!isObject) lists |= bit(field);
  messageLists &= ~bit(field);
  setAnswer(at, at);
  if (isConversation()) {
    forgetTurns();
    forgetMessage(at);
    if (!isObject) return;
    noteNoArray(at, 1);
    field = FIELD_OTHER;
  } else if (field != FIELD_OTHER && !inList) setFault(FIELD_WRONG_TYPE, at, 1);
}

/** Conversations are lists of messages; prompts, completions and preferences can be. */
function isList(): bool {
  const others = bit(FIELD_PROMPT) | bit(FIELD_COMPLETION) | bit(FIELD_CHOSEN) | bit(FIELD_REJECTED);
  return isConversation() || (bit(field) & others) != 0;
}

/** Handles the end of the container at a depth. */
export function closeShape(depth: i32, at: usize): void {
  if (depth == 2) {
    endAnswer(at + 1);
    if (inList && isConversation()) endConversation(at, message);
  } else if (depth > 2 && inList) {
    if (depth > 3) return closeInMessage(depth, at);
    if (elements == 1 && hasMessageFields()) messageLists |= bit(field);
    endMessage();
  }
}

/** Ends a row that is an object, and determines its format from its fields. */
export function endShape(start: usize): void {
  forgetExempt();
  if (areSameAnswers()) noteInRow(SAME_ANSWERS, load<u32>(answerOf(FIELD_REJECTED)), 1);
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
    noteFaults(bit(answer) | askingFaults());
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

/** Returns the fields that ask and are wrong: an instruction often needs no input, and an input no instruction. */
function askingFaults(): u32 {
  if (!has(FIELD_INPUT) || faultOf(FIELD_INPUT) == FIELD_EMPTY) return bit(FIELD_INSTRUCTION);
  const isAsked = faultOf(FIELD_INPUT) == 0 && faultOf(FIELD_INSTRUCTION) == FIELD_EMPTY;
  return isAsked ? 0 : bit(FIELD_INSTRUCTION) | bit(FIELD_INPUT);
}

function faultOf(index: i32): u32 {
  return load<u32>(FAULTS + <usize>index * FAULT_BYTES);
}

/** Forgets the problems of conversations that this row can't have: its answers are elsewhere, or its tools in the contents. */
function forgetExempt(): void {
  if (has(FIELD_CHOSEN) || has(FIELD_REJECTED) || has(FIELD_REJECTED_RESPONSE))
    forgetNotes(NO_ASSISTANT, TOOL_ARGUMENTS);
  else if (hasToolParts) forgetNotes(STARTS_WITH_ASSISTANT, TOOL_ARGUMENTS);
}

function answerOf(index: i32): usize {
  return ANSWERS + ((<usize>(index - FIELD_CHOSEN)) << 3);
}

/** Stores where the value of the field is, if that is an answer to compare. */
function setAnswer(from: usize, to: usize): void {
  if (field != FIELD_CHOSEN && field != FIELD_REJECTED) return;
  store<u32>(answerOf(field), <u32>from);
  store<u32>(answerOf(field), <u32>to, 4);
}

/** Stores where the value of the field ends. */
function endAnswer(to: usize): void {
  if (field == FIELD_CHOSEN || field == FIELD_REJECTED) store<u32>(answerOf(field), <u32>to, 4);
}

/** Whether the chosen and the rejected answer are written with the same bytes. */
function areSameAnswers(): bool {
  if (!has(FIELD_CHOSEN) || !has(FIELD_REJECTED)) return false;
  const chosen = <usize>load<u32>(answerOf(FIELD_CHOSEN));
  const rejected = <usize>load<u32>(answerOf(FIELD_REJECTED));
  const length = <usize>load<u32>(answerOf(FIELD_CHOSEN), 4) - chosen;
  if (length == 0 || <usize>load<u32>(answerOf(FIELD_REJECTED), 4) - rejected != length) return false;
  return memory.compare(chosen, rejected, length) == 0;
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
  if (format == FORMAT_INSTRUCTION)
    return withText(withText(withText(0, FIELD_INSTRUCTION), FIELD_INPUT), FIELD_CONTEXT);
  if (format == FORMAT_QUESTION_ANSWER) return withText(withText(0, FIELD_QUESTION), FIELD_CONTEXT);
  return format == FORMAT_TEXT || format == FORMAT_UNKNOWN ? 0 : withText(0, FIELD_PROMPT);
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
  if (faultOf(index) == FIELD_WRONG_TYPE) return false;
  return (lists & ~messageLists & bit(index)) == 0;
}
