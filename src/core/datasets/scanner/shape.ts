// Recognizes the format of a row. The service publishes no schema, so all problems here are warnings. The grammar passes on each token
// of the outer levels; only what determines the format is stored.
import { clear, file } from './buffers';
import * as codes from './codes';
import { beginFieldText, moveText, takeText } from './contents';
import { beginConversation, conversation, endConversation, takeMessage } from './conversation';
import { FormatEntry, firstFormat, formatAfter, kinds } from './formats';
import { dropNotes, noteInRow, row } from './found';
import { beginMessage, closeInMessage, endMessage, furtherPart, hasMessageFields } from './message';
import {
  isContent,
  isPromptText,
  isContentText,
  roleOfMessage,
  keyInMessage,
  openInMessage,
} from './message';
import { scalarInMessage } from './message';
import { fieldOf, KIND_NULL, KIND_STRING } from './names';
import { addToField, addToMessage, addToSaid, addToTexts, beginHash, addMessage } from './prompts';
import { endOfSaid, hashesAnswers, hashesTexts, isNormalized, moveHash } from './prompts';
import { isBlankText } from './strings';

/** The row (1), its messages (2), a message (3), its content's parts or its calls (4), a part or call (5), a function (6). */
export const MAX_SHAPE_DEPTH = 6;

/** The number of fields that no format has. */
const FIELD_OTHER = 0;

/** What determines the format of the row. */
@unmanaged
class Shape {
  /** Its format, known at its end; and whether its fields also have the types of that format. */
  format: FormatEntry;
  hasTypes: bool;
  /** Whether the field's value is a list of messages, whether its first element is a string, and how many elements it has. */
  inList: bool;
  hasStrings: bool;
  elements: u32;
  /** For a list of messages in an object: whether the last key was its own, and by how much deeper its messages are. */
  isWrapped: bool;
  deeper: i32;
  /** Whether the field `input` is such a list: it may be the prompt. */
  hasInput: bool;
  /** Bits of its fields; the field that is being read, and its bit. */
  fields: u32;
  field: i32;
  bit: u32;
  /** Bits of the fields with a list, and of those whose list begins with a message. */
  lists: u32;
  messageLists: u32;
  /** Where the two answers to compare begin and end, each a u32. */
  answers: u64;
  otherAnswers: u64;
}
const SHAPE: usize = memory.data(64, 16);
export const shape = changetype<Shape>(SHAPE);
const ANSWERS: usize = SHAPE + offsetof<Shape>('answers');

/** The problem of each field's last value: code (0 for none), address and length, each a u32. */
const FAULT_BYTES = 12;
const FAULTS: usize = memory.data(codes.MAX_FIELDS * FAULT_BYTES, 4);

function bit(index: i32): u32 {
  return 1 << index;
}

/** Whether the field is one of some, given as bits. */
function isOf(some: u32): bool {
  return (shape.bit & some) != 0;
}

/** Begins a row. */
export function beginShape(): void {
  clear(SHAPE, 64);
  conversation.turns = 0;
}

function noteNoArray(at: usize, length: usize): void {
  let one = firstFormat;
  while (!isOf(one.turns)) one = formatAfter(one);
  noteInRow(one.noList, at, length);
}

/** Returns the depth of what is at a depth, as if each list of messages were the value of its field. */
export function shapeDepth(depth: i32): i32 {
  return depth - shape.deeper;
}

/** Handles a key of the object at a depth. */
export function keyShape(depth: i32, from: usize, to: usize): void {
  if (depth == 1) beginField(fieldOf(from, to));
  else if (depth == 2) shape.isWrapped = isOf(kinds.wrapped) && bit(fieldOf(from, to)) == firstFormat.turns;
  else if (shape.inList) keyInMessage(depth, from, to);
}

function beginField(field: i32): void {
  shape.field = field;
  shape.bit = bit(field);
  shape.isWrapped = false;
  if (field == kinds.input) shape.hasInput = false;
  // If a field occurs twice, the last value counts.
  if (isOf(shape.fields & (kinds.turns | kinds.lists)))
    dropNotes(codes.MESSAGES_NOT_ARRAY, codes.TOOL_ARGUMENTS);
  shape.fields |= shape.bit;
  shape.lists &= ~shape.bit;
  setFault(0, 0, 0);
  beginHash(field);
  beginFieldText(field);
}

/** Handles a string, number or literal in the container at a depth. */
export function scalarShape(depth: i32, kind: i32, from: usize, to: usize): void {
  if (file.hashing != codes.HASH_NONE && kind == KIND_STRING) hashText(depth, from, to);
  if (depth == 1) takeField(kind, from, to);
  else if (shape.inList) {
    if (depth == 2) takeElement(kind, from, to);
    else scalarInMessage(depth, kind, from, to);
  }
}

/** Adds a string to the hash of its field or message. Lists of strings, and pairs of a history, begin with the user. */
function hashText(depth: i32, from: usize, to: usize): void {
  if (hashesTexts()) hashExactly(depth, from, to);
  if (!isCompared(depth) || (depth == 1 && isNormalized())) return;
  if (shape.inList && depth > 2) addToMessage(from, to);
  else if (isOf(kinds.turns) ? depth == 2 : shape.field == kinds.history && depth == 3) {
    addToMessage(from, to);
    addMessage(speaker());
    if (depth == 3) shape.elements++;
  } else if (!isOf(kinds.turns) && shape.field != FIELD_OTHER) addToField(shape.field, from, to);
}

/** Whether a string at a depth is part of the prompt, or of the answer if that is hashed too. */
function isCompared(depth: i32): bool {
  const isAnswer = isOf(kinds.spoken | kinds.turns) && hashesAnswers();
  if (shape.inList && depth > 2) return isAnswer ? isContentText(depth) : isPromptText(depth);
  return isAnswer || !isOf(kinds.spoken);
}

/** Adds a string to all texts of its field. */
function hashExactly(depth: i32, from: usize, to: usize): void {
  if (!shape.inList || depth == 2) return addToTexts(shape.field, from, to);
  const part = furtherPart(depth);
  if (part != 0 || isContentText(depth)) addToSaid(part, from, to);
}

/** Returns the role of the next string in a conversation of strings: user and assistant take turns. */
function speaker(): i32 {
  return (shape.elements & 1) == 0 ? codes.ROLE_USER : codes.ROLE_ASSISTANT;
}

function takeField(kind: i32, from: usize, to: usize): void {
  if (shape.field == FIELD_OTHER) return;
  // With its quotes. Only strings are compared.
  setAnswer(from - 1, kind == KIND_STRING ? to + 1 : from - 1);
  if (kind == KIND_STRING) takeText(shape.field, from, to);
  if (isOf(kinds.turns)) {
    beginConversation(from);
    noteNoArray(from, to - from);
    shape.messageLists &= ~shape.bit;
  } else if (isOf(kinds.optional) && kind == KIND_NULL) setFault(codes.FIELD_EMPTY, from, to - from);
  else if (kind != KIND_STRING) setFault(codes.FIELD_WRONG_TYPE, from, to - from);
  else if (isBlankText(from, to)) setFault(codes.FIELD_EMPTY, from - 1, to - from + 2);
}

/** Handles an element of the field's list that isn't a container. */
function takeElement(kind: i32, from: usize, to: usize): void {
  const role = speaker();
  if (++shape.elements == 1) shape.hasStrings = kind == KIND_STRING && isOf(kinds.strings);
  if (!isOf(kinds.turns)) return;
  if (!shape.hasStrings || kind != KIND_STRING) return noteInRow(codes.MESSAGE_NOT_OBJECT, from, to - from);
  shape.messageLists |= shape.bit;
  takeMessage(role, from, to - from, false, false);
  if (isBlankText(from, to)) noteInRow(codes.CONTENT_EMPTY, from - 1, to - from + 2);
}

/** Stores the problem of the field's value. Only the end of the row shows whether it matters. */
function setFault(code: u32, at: usize, length: usize): void {
  const fault = FAULTS + <usize>shape.field * FAULT_BYTES;
  store<u32>(fault, code);
  store<u32>(fault, <u32>at, 4);
  store<u32>(fault, <u32>length, 8);
}

/** Notes the problems of some fields, given as bits. */
function noteFaults(some: u32): void {
  for (let left = some & shape.fields; left != 0; left &= left - 1) {
    const fault = FAULTS + <usize>ctz(left) * FAULT_BYTES;
    if (load<u32>(fault) != 0) noteInRow(load<u32>(fault), load<u32>(fault, 4), load<u32>(fault, 8));
  }
}

/** Handles the start of a container at its depth. */
export function openShape(depth: i32, isObject: bool, at: usize): void {
  if (depth == 2) openField(isObject, at);
  else if (depth == 3 && shape.isWrapped && !isObject) openWrapped(at);
  else if (depth > 2 && shape.inList) {
    if (depth > 3) return openInMessage(depth, isObject, at);
    if (++shape.elements == 1) shape.hasStrings = false;
    beginMessage(at, isObject, isOf(kinds.turns));
  }
}

function openField(isObject: bool, at: usize): void {
  shape.inList = !isObject && isOf(kinds.turns | kinds.lists);
  row.learns = false;
  row.ignoredAt = 0;
  shape.elements = 0;
  if (!isObject) shape.lists |= shape.bit;
  shape.messageLists &= ~shape.bit;
  setAnswer(at, at);
  if (isOf(kinds.turns)) {
    beginConversation(at);
    if (!isObject) return;
    noteNoArray(at, 1);
    shape.field = FIELD_OTHER;
    shape.bit = bit(FIELD_OTHER);
  } else if (shape.field != FIELD_OTHER && !shape.inList) setFault(codes.FIELD_WRONG_TYPE, at, 1);
}

/** Opens the list of messages in the object that is the field's value. */
function openWrapped(at: usize): void {
  // Texts before the list don't count.
  beginHash(shape.field);
  beginFieldText(shape.field);
  if (shape.field == kinds.input) shape.hasInput = true;
  else setFault(0, 0, 0);
  shape.inList = true;
  shape.elements = 0;
  shape.lists |= shape.bit;
  setAnswer(at, at);
  shape.isWrapped = false;
  shape.deeper = 1;
}

/** Uses the field `input` as the prompt, beside two answers to compare. */
function useInputAsPrompt(): void {
  moveText(kinds.input, kinds.prompt);
  moveHash(kinds.input, kinds.prompt);
  shape.fields = (shape.fields & ~bit(kinds.input)) | bit(kinds.prompt);
  shape.field = kinds.prompt;
  setFault(0, 0, 0);
}

/** Handles the end of the container at a depth. */
export function closeShape(depth: i32, at: usize): void {
  if (depth == 2) {
    endAnswer(at + 1);
    if (shape.inList && isOf(kinds.turns)) endConversation(at);
    if (row.ignoredAt != 0 && !row.learns && isOf(kinds.turns | (kinds.spoken & ~kinds.compared)))
      noteInRow(codes.WEIGHTS_ZERO, row.ignoredAt, 1);
    shape.inList = false;
    shape.deeper = 0;
  } else if (depth > 2 && shape.inList) {
    if (depth > 3) return closeInMessage(depth, at);
    if (shape.elements == 1 && hasMessageFields()) shape.messageLists |= shape.bit;
    if (hashesTexts()) endOfSaid(shape.field, roleOfMessage());
    endMessage();
  }
}

/** Ends a row that is an object, and determines its format from its fields. */
export function endShape(start: usize): void {
  if (shape.hasInput && (shape.fields & kinds.compared) != 0) useInputAsPrompt();
  dropExempt();
  if (areSameAnswers()) noteInRow(codes.SAME_ANSWERS, load<u32>(ANSWERS + 8), 1);
  shape.format = firstFormat;
  while (shape.format.number != 0 && !isFormat(shape.format)) shape.format = formatAfter(shape.format);
  if (shape.format.number == 0) return noteInRow(codes.UNKNOWN_FORMAT, start, 1);
  if (shape.format.turns != 0) shape.hasTypes = (shape.messageLists & shape.format.turns) != 0;
  if (shape.format.first != 0) needBoth(start);
  noteFaults(askingFaults() | bitOf(answerField()));
}

function isFormat(one: FormatEntry): bool {
  return (shape.fields & one.some) != 0 || (one.both != 0 && (shape.fields & one.both) == one.both);
}

/** Returns the fields of the prompt whose problems count. An optional field can be missing, or have all of the prompt. */
function askingFaults(): u32 {
  const noted = shape.format.noted;
  const optional = shape.format.optional;
  if ((shape.fields & optional) == 0) return noted;
  const fault = faultOf(ctz(optional));
  if (fault == codes.FIELD_EMPTY) return noted;
  return fault == 0 && faultOf(shape.format.first) == codes.FIELD_EMPTY ? 0 : noted | optional;
}

/** Returns the field of the format's answer, or 0. */
export function answerField(): i32 {
  return shape.format.spare != 0 && has(shape.format.spare) && !has(shape.format.answer)
    ? shape.format.spare
    : shape.format.answer;
}

/** Returns the bit of a field; 0 for no field. */
export function bitOf(index: i32): u32 {
  return bit(index) & ~bit(FIELD_OTHER);
}

export function faultOf(index: i32): u32 {
  return load<u32>(FAULTS + <usize>index * FAULT_BYTES);
}

/** Drops problems of conversations if they don't apply: the row's answers are in other fields, or its tool use is in contents. */
function dropExempt(): void {
  if ((shape.fields & kinds.elsewhere) != 0) dropNotes(codes.NO_ASSISTANT, codes.TOOL_ARGUMENTS);
  else if (row.hasToolParts) dropNotes(codes.STARTS_WITH_ASSISTANT, codes.TOOL_ARGUMENTS);
}

/** Returns the entry of the field, which is one of two answers to compare. */
function comparedEntry(): usize {
  return shape.bit > (kinds.compared ^ shape.bit) ? ANSWERS + 8 : ANSWERS;
}

/** Stores where the field's value is, if it is an answer to compare. */
function setAnswer(from: usize, to: usize): void {
  if (!isOf(kinds.compared)) return;
  store<u32>(comparedEntry(), <u32>from);
  store<u32>(comparedEntry(), <u32>to, 4);
}

/** Stores where the field's value ends, if it is an answer to compare. */
function endAnswer(to: usize): void {
  if (isOf(kinds.compared)) store<u32>(comparedEntry(), <u32>to, 4);
}

/** Whether the two answers to compare are written with the same bytes. */
function areSameAnswers(): bool {
  if ((shape.fields & kinds.compared) != kinds.compared) return false;
  const one = <usize>load<u32>(ANSWERS);
  const other = <usize>load<u32>(ANSWERS, 8);
  const length = <usize>load<u32>(ANSWERS, 4) - one;
  if (length == 0 || <usize>load<u32>(ANSWERS, 12) - other != length) return false;
  return memory.compare(one, other, length) == 0;
}

/** Returns the fields with texts of the last object, as bits. Its format determines them. */
export function textFields(): u32 {
  return (shape.format.texts | bitOf(answerField())) & shape.fields;
}

/** Whether the row has a field. */
export function has(index: i32): bool {
  return (shape.fields & bit(index)) != 0;
}

/** Notes if one of the two fields that the format needs is missing. */
function needBoth(start: usize): void {
  const second = shape.format.second == 0 ? answerField() : shape.format.second;
  if (!has(shape.format.first)) noteInRow(shape.format.firstMissing, start, 1);
  else if (!has(second)) noteInRow(shape.format.secondMissing, start, 1);
  else shape.hasTypes = !shape.format.isCommon && isText(shape.format.first) && isText(second);
}

/** Whether a field is a string or a list of messages. */
function isText(index: i32): bool {
  if (faultOf(index) == codes.FIELD_WRONG_TYPE) return false;
  return (shape.lists & ~shape.messageLists & bit(index)) == 0;
}
