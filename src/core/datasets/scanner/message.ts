// A message in a list of the row: its role, its content with its parts, and whether it calls a tool. Outside of conversations (in
// prompts, completions and preferences), only roles and contents are judged, not their order.
import { clear } from './buffers';
import * as codes from './codes';
import { conversation, keep, skipMessage, takeMessage } from './conversation';
import { noteInRow, row } from './found';
import { countedRole, isTextName, isToolName, isTypeName, KIND_BOOLEAN, KIND_NULL } from './names';
import { KIND_NUMBER, KIND_STRING, PART_LEARNED, PART_WEIGHT } from './names';
import { PART_CONTENT, PART_FROM, PART_MARK, PART_OTHER, PART_REASONING, PART_ROLE } from './names';
import { PART_TOOL_CALLS, PART_VALUE, partOf, roleOf } from './names';
import { addMessage } from './prompts';
import { isBlankText } from './strings';
import { closeInCalls, isNoObject, keyInCalls, openCalls, openInCalls } from './toolCalls';

@unmanaged
class Message {
  /** Whether it is in a conversation, and whether it is an object. */
  isTurn: bool;
  isObject: bool;
  hasCalls: bool;
  hasReasoning: bool;
  isMarked: bool;
  /** Whether a field says that it isn't to be learned. */
  isIgnored: bool;
  hasContent: bool;
  /** Whether the last key names a part's text, or its type; and whether the part's text is blank. */
  isText: bool;
  isType: bool;
  isEmptyPart: bool;
  /** Where it begins. */
  at: usize;
  /** The field that is being read, and the bits of the fields so far. A role that isn't a string doesn't count. */
  part: i32;
  partsSeen: u32;
  role: i32;
  roleAt: usize;
  roleLength: usize;
  /** The problem of the content: its code (0 for none), address and length. */
  fault: i32;
  faultAt: usize;
  faultLength: usize;
  /** Parts of the content, and how many of them are empty. */
  parts: u32;
  emptyParts: u32;
  /** Where its weight is, or 0. */
  weightAt: usize;
}
const MESSAGE: usize = memory.data(64, 16);
const message = changetype<Message>(MESSAGE);

function bit(index: i32): u32 {
  return 1 << index;
}

/** Whether the value being read is, or is in, the content of the message. */
export function isContent(): bool {
  return message.part == PART_CONTENT || message.part == PART_VALUE;
}

/** Whether a string at a depth may be part of the prompt: a text that isn't the assistant's. The system's is left out at the end of
 * the row, if there are others. */
export function isPromptText(depth: i32): bool {
  return message.role != codes.ROLE_ASSISTANT && isContentText(depth);
}

/** Whether a string at a depth is a text of the content, and not the type of a part. */
export function isContentText(depth: i32): bool {
  return isContent() && !(depth == 5 && message.isType);
}

/** Returns the field of a string at a depth, if it is a text of reasoning or of a tool call; otherwise 0. */
export function furtherPart(depth: i32): i32 {
  const isCall = message.part == PART_TOOL_CALLS && depth != 5;
  return isCall || (message.part == PART_REASONING && depth == 3) ? message.part : PART_OTHER;
}

/** Returns the role of the message as it is counted; negative if it is missing. */
export function roleOfMessage(): i32 {
  return countedRole(message.role);
}

function isRole(): bool {
  return message.part == PART_ROLE || message.part == PART_FROM;
}

/** Begins an element of the list, an object or an array. @param isTurn whether the list is a conversation */
export function beginMessage(at: usize, isObject: bool, isTurn: bool): void {
  clear(MESSAGE, 64);
  message.isTurn = isTurn;
  message.isObject = isObject;
  message.at = at;
  message.role = -1;
  message.roleAt = at;
  message.roleLength = 1;
  if (!isTurn) return;
  conversation.messageAt = at;
  if (!isObject) noteInRow(codes.MESSAGE_NOT_OBJECT, at, 1);
}

/** Forgets an earlier content: if there are several, the last one counts. */
function forgetContent(): void {
  message.hasContent = false;
  message.fault = 0;
}

function setFault(code: i32, at: usize, length: usize): void {
  if (message.fault == codes.CONTENT_WRONG_TYPE) return;
  message.fault = code;
  message.faultAt = at;
  message.faultLength = length;
}

/** Handles a key of the message, or of an object in it. */
export function keyInMessage(depth: i32, from: usize, to: usize): void {
  if (depth == 3) {
    message.part = partOf(from, to);
    if (isContent() && (message.partsSeen & bit(message.part)) != 0) forgetContent();
    message.partsSeen |= bit(message.part);
  } else if (message.part == PART_TOOL_CALLS) keyInCalls(from, to);
  else if (depth == 5 && isContent()) {
    message.isText = isTextName(from, to);
    message.isType = isTypeName(from, to);
    if (isToolName(from, to)) row.hasToolParts = true;
  }
}

/** Handles a string, number or literal in the message. */
export function scalarInMessage(depth: i32, kind: i32, from: usize, to: usize): void {
  if (depth == 3) takePart(kind, from, to);
  else if (message.part == PART_TOOL_CALLS) {
    if (kind != KIND_NULL) message.hasCalls = true;
    if (kind == KIND_STRING && isNoObject(depth, from, to)) keep(codes.TOOL_ARGUMENTS, from, to - from);
  } else if (depth == 4 && isContent()) {
    message.parts++;
    if (kind != KIND_STRING) return setFault(codes.CONTENT_WRONG_TYPE, from, to - from);
    if (isBlankText(from, to)) message.emptyParts++;
  } else if (depth == 5 && isContent() && kind == KIND_STRING) {
    if (message.isText) message.isEmptyPart = isBlankText(from, to);
    else if (message.isType && isToolName(from, to)) row.hasToolParts = true;
  }
}

function takePart(kind: i32, from: usize, to: usize): void {
  if (isRole()) {
    message.role = kind == KIND_STRING ? roleOf(from, to, message.part == PART_FROM) : codes.ROLE_OTHER;
    message.roleAt = from;
    message.roleLength = to - from;
    if (kind != KIND_STRING) message.partsSeen &= ~bit(message.part);
  } else if (kind == KIND_NULL) return;
  else if (message.part >= PART_MARK) takeMark(kind, from, to);
  else if (message.part == PART_REASONING)
    message.hasReasoning = kind == KIND_STRING && !isBlankText(from, to);
  else if (isContent()) {
    message.hasContent = true;
    if (kind != KIND_STRING) return setFault(codes.CONTENT_WRONG_TYPE, from, to - from);
    if (isBlankText(from, to)) setFault(codes.CONTENT_EMPTY, from - 1, to - from + 2);
  }
}

/** Takes the value of a field that says how to train the message, or names its speaker. */
function takeMark(kind: i32, from: usize, to: usize): void {
  message.isMarked = true;
  if (message.part == PART_MARK) return;
  if (isZero(kind, from, to)) message.isIgnored = true;
  if (message.part == PART_LEARNED) return;
  message.weightAt = from;
  if (kind != KIND_NUMBER || to - from != 1 || load<u8>(from) > 0x31)
    noteInRow(codes.WEIGHT, from, to - from);
}

/** Whether it is `false`, or a number whose digits are all 0. */
function isZero(kind: i32, from: usize, to: usize): bool {
  if (kind != KIND_NUMBER) return kind == KIND_BOOLEAN && load<u8>(from) == 0x66;
  for (let at = from; at < to && (load<u8>(at) | 0x20) != 0x65; at++) if (load<u8>(at) >= 0x31) return false;
  return true;
}

/** Handles the start of a container in the message, at its depth. */
export function openInMessage(depth: i32, isAnObject: bool, at: usize): void {
  if (message.part == PART_TOOL_CALLS) {
    // An empty list calls no tool.
    if (isAnObject || depth > 4) message.hasCalls = true;
    if (depth == 4) openCalls(isAnObject);
    else openInCalls(depth, isAnObject);
  } else if (depth == 4) openPart(isAnObject, at);
  else if (depth == 5 && isContent()) {
    message.parts++;
    message.isText = message.isType = message.isEmptyPart = false;
  }
}

function openPart(isAnObject: bool, at: usize): void {
  message.parts = message.emptyParts = 0;
  if (message.part == PART_REASONING) message.hasReasoning = true;
  else if (message.part == PART_WEIGHT) noteInRow(codes.WEIGHT, at, 1);
  else if (isRole()) {
    message.role = codes.ROLE_OTHER;
    message.roleAt = at;
    message.roleLength = 1;
    message.partsSeen &= ~bit(message.part);
  } else if (isContent()) {
    message.hasContent = true;
    if (isAnObject) setFault(codes.CONTENT_WRONG_TYPE, at, 1);
  }
}

/** Handles the end of a container in the message. */
export function closeInMessage(depth: i32, at: usize): void {
  if (message.part == PART_TOOL_CALLS) closeInCalls(depth);
  else if (depth == 5) message.emptyParts += <u32>message.isEmptyPart;
  else if (depth == 4 && isContent() && message.parts == message.emptyParts)
    setFault(codes.CONTENT_EMPTY, at, 1);
}

/** Whether the last element has the fields of a message. */
export function hasMessageFields(): bool {
  const hasText = (message.partsSeen & (bit(PART_CONTENT) | bit(PART_TOOL_CALLS))) != 0;
  const shareGpt = bit(PART_FROM) | bit(PART_VALUE);
  return ((message.partsSeen & bit(PART_ROLE)) != 0 && hasText) || (message.partsSeen & shareGpt) == shareGpt;
}

/** Ends an element of the list. */
export function endMessage(): void {
  addMessage(countedRole(message.role));
  checkWeight(countedRole(message.role) == codes.ROLE_ASSISTANT);
  if (message.isTurn) {
    if (!message.isObject) return skipMessage();
    takeMessage(message.role, message.roleAt, message.roleLength, message.hasCalls, message.isMarked);
  } else if (!message.isObject) return;
  if (message.role < 0) noteInRow(codes.ROLE_MISSING, message.at, 1);
  if (message.role == codes.ROLE_OTHER) noteInRow(codes.ROLE_UNKNOWN, message.roleAt, message.roleLength);
  if (message.fault == codes.CONTENT_WRONG_TYPE)
    noteInRow(message.fault, message.faultAt, message.faultLength);
  // With tool calls, the content may be missing, null or empty.
  if (message.hasCalls) return;
  if (!message.hasContent) noteInRow(codes.CONTENT_MISSING, message.at, 1);
  else if (message.fault == codes.CONTENT_EMPTY && message.role != codes.ROLE_TOOL && !message.hasReasoning)
    noteInRow(message.fault, message.faultAt, message.faultLength);
}

/** Notes a weight that trainers refuse, and remembers whether the list has an answer to learn. */
function checkWeight(isAnswer: bool): void {
  const isOthers = !isAnswer && message.role >= 0 && countedRole(message.role) != codes.ROLE_OTHER;
  if (message.weightAt != 0 && isOthers) noteInRow(codes.WEIGHT, message.weightAt, 1);
  if (!isAnswer) return;
  if (!message.isIgnored) row.learns = true;
  else if (row.ignoredAt == 0) row.ignoredAt = message.weightAt != 0 ? message.weightAt : message.at;
}
