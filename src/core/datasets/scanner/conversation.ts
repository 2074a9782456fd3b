import { clear } from './buffers';
// Judges the order of the messages in a conversation. Some trainers reject what others accept, so these problems are only risks. They
// are kept until the conversation ends, because some depend on later messages.
import * as codes from './codes';
import { noteInRow } from './found';
import { countedRole, ROLE_CALL, ROLE_PRETRAIN } from './names';

/** The conversation that is read, or the last one of the row. */
@unmanaged
class Conversation {
  hasAssistant: bool;
  hasPretrain: bool;
  /** Whether a role is unknown: it may mean the assistant. */
  hasUnknown: bool;
  /** Whether a message calls a tool, and whether one isn't of the system. */
  hasCalls: bool;
  hasOther: bool;
  /** The last message: whether it calls a tool, whether it is marked, its role, where the role is, where it begins. */
  lastCalls: bool;
  lastMarked: bool;
  last: i32;
  lastAt: usize;
  lastLength: usize;
  messageAt: usize;
  /** The message of the assistant with which the conversation starts, and the first tool result after one without a call; or 0. */
  startAt: usize;
  startLength: usize;
  uncalledAt: usize;
  uncalledLength: usize;
  turns: u32;
}
/** The first problem of each of these codes is kept: its address (or 0) and length, each a u32. */
const FIRST_CODE = codes.STARTS_WITH_ASSISTANT;
const LAST_CODE = codes.TOOL_ARGUMENTS;
const CONVERSATION_BYTES: usize =
  offsetof<Conversation>() + codes.ROLE_COUNT * 4 + (LAST_CODE - FIRST_CODE + 1) * 8;
const CONVERSATION: usize = memory.data(CONVERSATION_BYTES + 15, 16);
export const conversation = changetype<Conversation>(CONVERSATION);
/** How many messages of each role it has, each a u32. */
export const TURNS_BY_ROLE: usize = CONVERSATION + offsetof<Conversation>();
const KEPT: usize = TURNS_BY_ROLE + codes.ROLE_COUNT * 4;

/** Begins a conversation whose list begins at `at`. */
export function beginConversation(at: usize): void {
  clear(CONVERSATION, CONVERSATION_BYTES);
  conversation.last = -1;
  conversation.messageAt = at;
}

function entryOf(code: i32): usize {
  return KEPT + ((<usize>(code - FIRST_CODE)) << 3);
}

/** Keeps a problem until the conversation ends; only the first of each code. */
export function keep(code: i32, at: usize, length: usize): void {
  const entry = entryOf(code);
  if (load<u32>(entry) != 0) return;
  store<u32>(entry, <u32>at);
  store<u32>(entry, <u32>length, 4);
}

/** Counts an element of the list that can't be a message. */
export function skipMessage(): void {
  conversation.turns++;
}

/**
 * Takes the next message.
 * @param role negative if it is missing
 * @param at where its problems are located
 * @param isMarked whether a field says how to train it, or names the speaker
 */
export function takeMessage(role: i32, at: usize, length: usize, calls: bool, isMarked: bool): void {
  conversation.turns++;
  if (role >= 0) {
    const counter = TURNS_BY_ROLE + ((<usize>countedRole(role)) << 2);
    store<u32>(counter, load<u32>(counter) + 1);
  }
  const isAssistant = role == codes.ROLE_ASSISTANT || role == ROLE_CALL;
  if (role == ROLE_PRETRAIN) conversation.hasPretrain = true;
  if (role == codes.ROLE_OTHER) conversation.hasUnknown = true;
  if (role == codes.ROLE_SYSTEM) {
    if (conversation.hasOther) keep(codes.SYSTEM_INSIDE, at, length);
  } else {
    if (isAssistant && !conversation.hasOther) {
      conversation.startAt = at;
      conversation.startLength = length;
    }
    conversation.hasOther = true;
  }
  if (role == codes.ROLE_USER && conversation.startAt != 0)
    keep(codes.STARTS_WITH_ASSISTANT, conversation.startAt, conversation.startLength);
  if (role == codes.ROLE_TOOL && conversation.last != codes.ROLE_TOOL) takeResult(at, length);
  // Several calls in a row are fine: each may be a message of its own.
  if (
    conversation.lastCalls &&
    (role == codes.ROLE_USER || role == codes.ROLE_SYSTEM || role == codes.ROLE_ASSISTANT)
  )
    keep(codes.TOOL_ORDER, conversation.lastAt, conversation.lastLength);
  else if (
    role == conversation.last &&
    (role == codes.ROLE_USER || role == codes.ROLE_ASSISTANT) &&
    !(calls && isAssistant) &&
    !isMarked &&
    !conversation.lastMarked
  )
    keep(codes.REPEATED_ROLE, at, length);
  if (isAssistant) conversation.hasAssistant = true;
  conversation.last = role;
  conversation.lastAt = at;
  conversation.lastLength = length;
  conversation.lastCalls = role == ROLE_CALL || (calls && isAssistant);
  conversation.lastMarked = isMarked;
  if (conversation.lastCalls) conversation.hasCalls = true;
}

/** Takes the first of consecutive tool results. If no message has a structured call, calls may be text. */
function takeResult(at: usize, length: usize): void {
  if (conversation.last != codes.ROLE_ASSISTANT && conversation.last != ROLE_CALL)
    keep(codes.TOOL_ORDER, at, length);
  else if (!conversation.lastCalls && conversation.uncalledAt == 0) {
    conversation.uncalledAt = at;
    conversation.uncalledLength = length;
  }
}

/** Ends a conversation at `at`. */
export function endConversation(at: usize): void {
  const message = conversation.messageAt;
  if (conversation.turns == 0) return noteInRow(codes.MESSAGES_EMPTY, at, 1);
  if (conversation.hasPretrain) return;
  if (!conversation.hasAssistant && !conversation.hasUnknown) noteInRow(codes.NO_ASSISTANT, message, 1);
  if (!conversation.hasAssistant) return;
  if (
    conversation.last != codes.ROLE_ASSISTANT &&
    conversation.last != ROLE_CALL &&
    conversation.last != codes.ROLE_OTHER
  )
    noteInRow(codes.LAST_NOT_ASSISTANT, message, 1);
  if (conversation.hasCalls && conversation.uncalledAt != 0)
    keep(codes.TOOL_ORDER, conversation.uncalledAt, conversation.uncalledLength);
  for (let code = FIRST_CODE; code <= LAST_CODE; code++) {
    const entry = entryOf(code);
    if (load<u32>(entry) != 0) noteInRow(code, load<u32>(entry), load<u32>(entry, 4));
  }
}
