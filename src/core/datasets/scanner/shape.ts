// Recognizes the formats of fine-tuning rows. The service publishes no schema, so all problems here are
// warnings. The grammar passes each token of the outer levels; only what determines the format is stored.
import {
  CONTENT_EMPTY,
  FIELD_EMPTY,
  FIELD_WRONG_TYPE,
  MAX_FIELDS,
  MESSAGE_NOT_OBJECT,
  MESSAGES_NOT_ARRAY,
  NO_ASSISTANT,
  ROLE_ASSISTANT,
  ROLE_USER,
  SAME_ANSWERS,
  STARTS_WITH_ASSISTANT,
  TOOL_ARGUMENTS,
  UNKNOWN_FORMAT,
} from './codes';
import { addText, beginField, countTexts } from './contents';
import { beginConversation, endConversation, takeMessage } from './conversation';
import { Format, firstFormat, formatAfter, kinds } from './formats';
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
import { mix } from './lines';
import { fieldOf, KIND_NULL, KIND_STRING } from './names';
import {
  addToField,
  addToMessage,
  answerOfMessages,
  endOfMessage,
  forgetField,
  forgetMessages,
  hashesPrompts,
  isNormalized,
  promptOfMessages,
  textOfField,
} from './prompts';
import { isBlank } from './strings';

/** The row (1), its messages (2), a message (3), its content's parts or its calls (4), one of these (5), a function (6). */
export const MAX_SHAPE_DEPTH = 6;

/** Of another field than those of the formats. */
const FIELD_OTHER = 0;

/** The format of the last row, set when it has ended; and whether its fields have the types of that format, not only the names. */
export let format: Format = firstFormat;
export let hasTypes: bool = false;

/** Bits of the row's fields, and the field that is being read. */
let fields: u32 = 0;
let field: i32 = FIELD_OTHER;
/** What is wrong with the last value of each field: code (0 for nothing), address, length; each a u32. */
const FAULT_BYTES = 12;
const FAULTS: usize = memory.data(MAX_FIELDS * FAULT_BYTES, 4);
/** Where the two answers to compare begin and end, each a u32. */
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

/** Whether the field is one of some, given as bits. */
function isOf(some: u32): bool {
  return (bit(field) & some) != 0;
}

function isConversation(): bool {
  return isOf(kinds.turns);
}

/** Begins a row. */
export function beginShape(start: usize): void {
  hasTypes = false;
  fields = 0;
  lists = messageLists = 0;
  field = FIELD_OTHER;
  forgetMessage(start);
  forgetToolParts();
  forgetTurns();
}

function noteNoArray(at: usize, length: usize): void {
  let one = firstFormat;
  while (!isOf(one.turns)) one = formatAfter(one);
  noteInRow(one.noList, at, length);
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
  } else if (isOf(kinds.optional) && kind == KIND_NULL) setFault(FIELD_EMPTY, from, to - from);
  else if (kind != KIND_STRING) setFault(FIELD_WRONG_TYPE, from, to - from);
  else if (isBlank(from, to)) setFault(FIELD_EMPTY, from - 1, to - from + 2);
}

/** Whether the assistant is to say the field's text. */
function isAnswer(): bool {
  return isOf(kinds.spoken);
}

/** Handles an element of the field's list that is no container. */
function takeElement(kind: i32, from: usize, to: usize): void {
  const role = speaker();
  if (kind == KIND_STRING) addText(<u32>(to - from), isConversation() ? role == ROLE_ASSISTANT : isAnswer());
  if (++elements == 1) hasStrings = kind == KIND_STRING && isOf(kinds.strings);
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
  inList = !isObject && isOf(kinds.turns | kinds.lists);
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
  if (areSameAnswers()) noteInRow(SAME_ANSWERS, load<u32>(ANSWERS + 8), 1);
  format = firstFormat;
  while (format.number != 0 && !isFormat(format)) format = formatAfter(format);
  if (format.number == 0) return noteInRow(UNKNOWN_FORMAT, start, 1);
  if (format.turns != 0) hasTypes = (messageLists & format.turns) != 0;
  if (format.first != 0) needBoth(start);
  noteFaults(askingFaults() | bitOf(answerField()));
}

function isFormat(one: Format): bool {
  return (fields & one.some) != 0 || (one.both != 0 && (fields & one.both) == one.both);
}

/** Returns the fields besides the answer that are wrong. What is optional can be missing, or have all that is asked. */
function askingFaults(): u32 {
  const noted = format.noted;
  const optional = format.optional;
  if ((fields & optional) == 0) return noted;
  const fault = faultOf(ctz(optional));
  if (fault == FIELD_EMPTY) return noted;
  return fault == 0 && faultOf(format.first) == FIELD_EMPTY ? 0 : noted | optional;
}

/** Returns the field of the format's answer, or 0. */
function answerField(): i32 {
  return format.spare != 0 && has(format.spare) && !has(format.answer) ? format.spare : format.answer;
}

/** Returns the bit of a field, or nothing for no field. */
function bitOf(index: i32): u32 {
  return bit(index) & ~bit(FIELD_OTHER);
}

function faultOf(index: i32): u32 {
  return load<u32>(FAULTS + <usize>index * FAULT_BYTES);
}

/** Forgets the problems of conversations that this row can't have: its answers are elsewhere, or its tools in the contents. */
function forgetExempt(): void {
  if ((fields & kinds.elsewhere) != 0) forgetNotes(NO_ASSISTANT, TOOL_ARGUMENTS);
  else if (hasToolParts) forgetNotes(STARTS_WITH_ASSISTANT, TOOL_ARGUMENTS);
}

/** Returns where the field's value is stored, which is one of two answers to compare. */
function comparedEntry(): usize {
  return bit(field) > (kinds.compared ^ bit(field)) ? ANSWERS + 8 : ANSWERS;
}

/** Stores where the value of the field is, if that is an answer to compare. */
function setAnswer(from: usize, to: usize): void {
  if (!isOf(kinds.compared)) return;
  store<u32>(comparedEntry(), <u32>from);
  store<u32>(comparedEntry(), <u32>to, 4);
}

/** Stores where the value of the field ends. */
function endAnswer(to: usize): void {
  if (isOf(kinds.compared)) store<u32>(comparedEntry(), <u32>to, 4);
}

/** Whether the two answers to compare are written with the same bytes. */
function areSameAnswers(): bool {
  if ((fields & kinds.compared) != kinds.compared) return false;
  const one = <usize>load<u32>(ANSWERS);
  const other = <usize>load<u32>(ANSWERS, 8);
  const length = <usize>load<u32>(ANSWERS, 4) - one;
  if (length == 0 || <usize>load<u32>(ANSWERS, 12) - other != length) return false;
  return memory.compare(one, other, length) == 0;
}

/** Counts the texts of the object that was read last, which its format determines. */
export function countRowTexts(): void {
  countTexts((format.texts | bitOf(answerField())) & fields);
}

/** Returns the hash of the prompt of the object that was read last, or 0 if it has none. */
export function promptHash(): u64 {
  if (format.turns != 0) return promptOfMessages();
  let hash: u64 = 0;
  for (let left = format.prompt; left != 0; left >>= 8) {
    const text = textOf(left & 0xff);
    // One text has the same hash as the only message of a conversation.
    if (text != 0) hash = mix(hash, text);
  }
  return hash;
}

/** Returns the hash of the answer of the object that was read last, or 0 if it has none. */
export function answerHash(): u64 {
  return format.turns != 0 ? answerOfMessages() : textOf(answerField());
}

function textOf(index: i32): u64 {
  return has(index) ? textOfField(index) : 0;
}

function has(index: i32): bool {
  return (fields & bit(index)) != 0;
}

/** Notes if one of the two fields that the format needs is missing. */
function needBoth(start: usize): void {
  const second = format.second == 0 ? answerField() : format.second;
  if (!has(format.first)) noteInRow(format.firstMissing, start, 1);
  else if (!has(second)) noteInRow(format.secondMissing, start, 1);
  else hasTypes = !format.isCommon && isText(format.first) && isText(second);
}

/** Whether a field is a string or a list of messages. */
function isText(index: i32): bool {
  if (faultOf(index) == FIELD_WRONG_TYPE) return false;
  return (lists & ~messageLists & bit(index)) == 0;
}
