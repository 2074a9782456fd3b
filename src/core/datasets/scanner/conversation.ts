// The order of the messages in a conversation. Trainers differ: some reject what others accept, so these are risks. They are
// kept until the conversation ends, because some depend on what follows.
import {
  LAST_NOT_ASSISTANT,
  MESSAGES_EMPTY,
  NO_ASSISTANT,
  REPEATED_ROLE,
  ROLE_ASSISTANT,
  ROLE_COUNT,
  ROLE_OTHER,
  ROLE_SYSTEM,
  ROLE_TOOL,
  ROLE_USER,
  STARTS_WITH_ASSISTANT,
  SYSTEM_INSIDE,
  TOOL_ARGUMENTS,
  TOOL_ORDER,
} from './codes';
import { noteInRow } from './found';
import { countedRole, ROLE_CALL, ROLE_PRETRAIN } from './names';

/** Turns of the row's last conversation, and a u32 for each role. */
export let turns: u32 = 0;
export const TURNS_BY_ROLE: usize = memory.data(ROLE_COUNT * 4, 4);

/** The first problem of each code, from the first to the last of these: address (or 0) and length, each a u32. */
const FIRST_CODE = STARTS_WITH_ASSISTANT;
const LAST_CODE = TOOL_ARGUMENTS;
const KEPT: usize = memory.data((LAST_CODE - FIRST_CODE + 1) * 8, 4);

let hasAssistant: bool = false;
let hasPretrain: bool = false;
/** Whether a role is unknown: it may be meant as the assistant's. */
let hasUnknown: bool = false;
/** Whether a message calls a tool, and whether one isn't the system's. */
let hasCalls: bool = false;
let hasOther: bool = false;

/** The last message: its role and where it is, whether it calls a tool, and whether it is marked. */
let last: i32 = -1;
let lastAt: usize = 0;
let lastLength: usize = 0;
let lastCalls: bool = false;
let lastMarked: bool = false;

/** The assistant's message with which the conversation starts, and the first result after one without a call; or 0. */
let startAt: usize = 0;
let startLength: usize = 0;
let uncalledAt: usize = 0;
let uncalledLength: usize = 0;

/** Begins a conversation. */
export function beginConversation(): void {
  turns = 0;
  hasAssistant = hasPretrain = hasUnknown = hasCalls = hasOther = false;
  last = -1;
  lastCalls = lastMarked = false;
  startAt = uncalledAt = 0;
  // Not `memory.fill`: for so few bytes, a call out of WebAssembly takes longer than the loop.
  for (let index = 0; index < ROLE_COUNT; index++) store<u32>(TURNS_BY_ROLE + ((<usize>index) << 2), 0);
  for (let code = FIRST_CODE; code <= LAST_CODE; code++) store<u32>(entryOf(code), 0);
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
  turns++;
}

/**
 * Takes the next message.
 * @param role negative if it is missing
 * @param at where its problems are located
 * @param isMarked whether it says how to train it, or who speaks
 */
export function takeMessage(role: i32, at: usize, length: usize, calls: bool, isMarked: bool): void {
  turns++;
  if (role >= 0) {
    const counter = TURNS_BY_ROLE + ((<usize>countedRole(role)) << 2);
    store<u32>(counter, load<u32>(counter) + 1);
  }
  const isAssistant = role == ROLE_ASSISTANT || role == ROLE_CALL;
  if (role == ROLE_PRETRAIN) hasPretrain = true;
  if (role == ROLE_OTHER) hasUnknown = true;
  if (role == ROLE_SYSTEM) {
    if (hasOther) keep(SYSTEM_INSIDE, at, length);
  } else {
    if (isAssistant && !hasOther) {
      startAt = at;
      startLength = length;
    }
    hasOther = true;
  }
  if (role == ROLE_USER && startAt != 0) keep(STARTS_WITH_ASSISTANT, startAt, startLength);
  if (role == ROLE_TOOL && last != ROLE_TOOL) takeResult(at, length);
  // A call may be one of several messages, each with a call.
  if (lastCalls && (role == ROLE_USER || role == ROLE_SYSTEM || role == ROLE_ASSISTANT))
    keep(TOOL_ORDER, lastAt, lastLength);
  else if (role == last && (role == ROLE_USER || role == ROLE_ASSISTANT) && !isMarked && !lastMarked)
    keep(REPEATED_ROLE, at, length);
  if (isAssistant) hasAssistant = true;
  last = role;
  lastAt = at;
  lastLength = length;
  lastCalls = role == ROLE_CALL || (calls && isAssistant);
  lastMarked = isMarked;
  if (lastCalls) hasCalls = true;
}

/** Takes the first of consecutive results. A call can be text: then no message of the conversation has a structured one. */
function takeResult(at: usize, length: usize): void {
  if (last != ROLE_ASSISTANT && last != ROLE_CALL) keep(TOOL_ORDER, at, length);
  else if (!lastCalls && uncalledAt == 0) {
    uncalledAt = at;
    uncalledLength = length;
  }
}

/** Ends a conversation at `at`; `message` is the address of its last message. */
export function endConversation(at: usize, message: usize): void {
  if (turns == 0) return noteInRow(MESSAGES_EMPTY, at, 1);
  if (hasPretrain) return;
  if (!hasAssistant && !hasUnknown) noteInRow(NO_ASSISTANT, message, 1);
  if (!hasAssistant) return;
  if (last != ROLE_ASSISTANT && last != ROLE_CALL && last != ROLE_OTHER)
    noteInRow(LAST_NOT_ASSISTANT, message, 1);
  if (hasCalls && uncalledAt != 0) keep(TOOL_ORDER, uncalledAt, uncalledLength);
  for (let code = FIRST_CODE; code <= LAST_CODE; code++) {
    const entry = entryOf(code);
    if (load<u32>(entry) != 0) noteInRow(code, load<u32>(entry), load<u32>(entry, 4));
  }
}
