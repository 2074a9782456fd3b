// A message in a list of the row: its role, its content and its parts, and whether it calls a tool. In prompts, completions
// and preferences, only roles and contents matter: a prompt ends with the user, and a completion is only an answer.
import {
  CONTENT_EMPTY,
  CONTENT_MISSING,
  CONTENT_WRONG_TYPE,
  MESSAGE_NOT_OBJECT,
  ROLE_ASSISTANT,
  ROLE_MISSING,
  ROLE_OTHER,
  ROLE_SYSTEM,
  ROLE_TOOL,
  ROLE_UNKNOWN,
  TOOL_ARGUMENTS,
} from './codes';
import { addToContent, beginContent, endContent } from './contents';
import { keep, skipMessage, takeMessage } from './conversation';
import { noteInRow } from './found';
import {
  countedRole,
  isTextName,
  isToolName,
  isTypeName,
  KIND_NULL,
  KIND_STRING,
  PART_CONTENT,
  PART_FROM,
  PART_MARK,
  PART_OTHER,
  PART_REASONING,
  PART_ROLE,
  PART_TOOL_CALLS,
  PART_VALUE,
  partOf,
  roleOf,
} from './names';
import { endOfMessage } from './prompts';
import { isBlank } from './strings';
import { closeInCalls, isNoObject, keyInCalls, openCalls, openInCalls } from './toolCalls';

/** Where the last message begins. */
export let message: usize = 0;
/** Whether it is a turn of a conversation, and an object. */
let isTurn: bool = false;
let isObject: bool = false;
/** The field that is being read, and bits of those before it. A role that is no string doesn't count. */
let part: i32 = PART_OTHER;
let partsSeen: u32 = 0;

let role: i32 = -1;
let roleAt: usize = 0;
let roleLength: usize = 0;
let hasCalls: bool = false;
let hasReasoning: bool = false;
let isMarked: bool = false;

let hasContent: bool = false;
/** What is wrong with the content: its code, or 0 for nothing; address and length. */
let fault: i32 = 0;
let faultAt: usize = 0;
let faultLength: usize = 0;
/** Parts of the content, and how many of them are empty. */
let parts: u32 = 0;
let emptyParts: u32 = 0;
/** Whether the key that was read last names a part's text, or its type; whether the part's text is blank. */
let isText: bool = false;
let isType: bool = false;
let isEmptyPart: bool = false;

/** Whether a tool is used in the parts of a content, in this row. */
export let hasToolParts: bool = false;

function bit(index: i32): u32 {
  return 1 << index;
}

/** Begins a row, or a list in it, at `start`. */
export function forgetMessage(start: usize): void {
  message = start;
}

/** Begins a row. */
export function forgetToolParts(): void {
  hasToolParts = false;
}

/** Whether the value being read is, or is in, the content of the message. */
export function isContent(): bool {
  return part == PART_CONTENT || part == PART_VALUE;
}

/** Whether a string at a depth may be of the prompt: not the word of a part's type, nor what the assistant says. */
export function isPrompted(depth: i32): bool {
  // The system is left out of a conversation when it has ended, unless there is nothing else.
  const isAnother = role != ROLE_ASSISTANT && (isTurn || role != ROLE_SYSTEM);
  return isContent() && isAnother && !(depth == 5 && isType);
}

function isRole(): bool {
  return part == PART_ROLE || part == PART_FROM;
}

/** Begins an element of the list, an object or an array. @param ofConversation whether it is a turn */
export function beginMessage(at: usize, isAnObject: bool, ofConversation: bool): void {
  isTurn = ofConversation;
  isObject = isAnObject;
  if (isTurn && !isObject) noteInRow(MESSAGE_NOT_OBJECT, at, 1);
  message = at;
  part = PART_OTHER;
  partsSeen = 0;
  role = -1;
  roleAt = at;
  roleLength = 1;
  hasCalls = hasReasoning = isMarked = false;
  noContent();
}

/** Begins a content, of which only the last counts. */
function noContent(): void {
  beginContent();
  hasContent = false;
  fault = 0;
}

function setFault(code: i32, at: usize, length: usize): void {
  if (fault == CONTENT_WRONG_TYPE) return;
  fault = code;
  faultAt = at;
  faultLength = length;
}

/** Handles a key of the message, or of an object in it. */
export function keyInMessage(depth: i32, from: usize, to: usize): void {
  if (depth == 3) {
    part = partOf(from, to);
    if (isContent() && (partsSeen & bit(part)) != 0) noContent();
    partsSeen |= bit(part);
  } else if (part == PART_TOOL_CALLS) keyInCalls(from, to);
  else if (depth == 5 && isContent()) {
    isText = isTextName(from, to);
    isType = isTypeName(from, to);
    if (isToolName(from, to)) hasToolParts = true;
  }
}

/** Handles a string, number or literal in the message. */
export function scalarInMessage(depth: i32, kind: i32, from: usize, to: usize): void {
  if (depth == 3) takePart(kind, from, to);
  else if (part == PART_TOOL_CALLS) {
    if (kind != KIND_NULL) hasCalls = true;
    if (kind == KIND_STRING && isNoObject(depth, from, to)) keep(TOOL_ARGUMENTS, from, to - from);
  } else if (depth == 4 && isContent()) {
    parts++;
    if (kind != KIND_STRING) return setFault(CONTENT_WRONG_TYPE, from, to - from);
    addToContent(from, to);
    if (isBlank(from, to)) emptyParts++;
  } else if (depth == 5 && isContent() && kind == KIND_STRING) {
    if (isText) {
      addToContent(from, to);
      isEmptyPart = isBlank(from, to);
    } else if (isType && isToolName(from, to)) hasToolParts = true;
  }
}

function takePart(kind: i32, from: usize, to: usize): void {
  if (isRole()) {
    role = kind == KIND_STRING ? roleOf(from, to, part == PART_FROM) : ROLE_OTHER;
    roleAt = from;
    roleLength = to - from;
    if (kind != KIND_STRING) partsSeen &= ~bit(part);
  } else if (kind == KIND_NULL) return;
  else if (part == PART_MARK) isMarked = true;
  else if (part == PART_REASONING) hasReasoning = kind == KIND_STRING && !isBlank(from, to);
  else if (isContent()) {
    hasContent = true;
    if (kind != KIND_STRING) return setFault(CONTENT_WRONG_TYPE, from, to - from);
    addToContent(from, to);
    if (isBlank(from, to)) setFault(CONTENT_EMPTY, from - 1, to - from + 2);
  }
}

/** Handles the start of a container in the message, at its depth. */
export function openInMessage(depth: i32, isAnObject: bool, at: usize): void {
  if (part == PART_TOOL_CALLS) {
    // An empty list calls no tool.
    if (isAnObject || depth > 4) hasCalls = true;
    if (depth == 4) openCalls(isAnObject);
    else openInCalls(depth, isAnObject);
  } else if (depth == 4) openPart(isAnObject, at);
  else if (depth == 5 && isContent()) {
    parts++;
    isText = isType = isEmptyPart = false;
  }
}

function openPart(isAnObject: bool, at: usize): void {
  parts = emptyParts = 0;
  if (part == PART_REASONING) hasReasoning = true;
  else if (isRole()) {
    role = ROLE_OTHER;
    roleAt = at;
    roleLength = 1;
    partsSeen &= ~bit(part);
  } else if (isContent()) {
    hasContent = true;
    if (isAnObject) setFault(CONTENT_WRONG_TYPE, at, 1);
  }
}

/** Handles the end of a container in the message. */
export function closeInMessage(depth: i32, at: usize): void {
  if (part == PART_TOOL_CALLS) closeInCalls(depth);
  else if (depth == 5) emptyParts += <u32>isEmptyPart;
  else if (depth == 4 && isContent() && parts == emptyParts) setFault(CONTENT_EMPTY, at, 1);
}

/** Whether the last element has the fields of a message. */
export function hasMessageFields(): bool {
  const hasText = (partsSeen & (bit(PART_CONTENT) | bit(PART_TOOL_CALLS))) != 0;
  const shareGpt = bit(PART_FROM) | bit(PART_VALUE);
  return ((partsSeen & bit(PART_ROLE)) != 0 && hasText) || (partsSeen & shareGpt) == shareGpt;
}

/** Ends an element of the list. */
export function endMessage(): void {
  endContent(countedRole(role) == ROLE_ASSISTANT);
  if (isTurn) {
    endOfMessage(countedRole(role));
    if (!isObject) return skipMessage();
    takeMessage(role, roleAt, roleLength, hasCalls, isMarked);
  } else if (!isObject) return;
  if (role < 0) noteInRow(ROLE_MISSING, message, 1);
  if (role == ROLE_OTHER) noteInRow(ROLE_UNKNOWN, roleAt, roleLength);
  if (fault == CONTENT_WRONG_TYPE) noteInRow(fault, faultAt, faultLength);
  // With tool calls, the content may be missing, null or empty.
  if (hasCalls) return;
  if (!hasContent) noteInRow(CONTENT_MISSING, message, 1);
  else if (fault == CONTENT_EMPTY && role != ROLE_TOOL && !hasReasoning)
    noteInRow(fault, faultAt, faultLength);
}
