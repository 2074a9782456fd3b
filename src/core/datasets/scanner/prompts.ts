// The prompt and the answer of a row, as hashes of their strings. Rows of one normalized prompt stay on one side of a split.
import { HASH_NONE, HASH_NORMALIZED, MAX_FIELDS, ROLE_ASSISTANT, ROLE_SYSTEM } from './codes';
import { hashRow, mix } from './lines';
import { beginTexts, hashOfText } from './texts';

/** Whether prompts are hashed, and whether only they are, by what they say. */
export let hashesPrompts: bool = false;
export let isNormalized: bool = false;

/** The strings of the messages so far that are neither the assistant's nor the system's, and of the system's. */
let asked: u64 = 0;
let system: u64 = 0;
/** The strings of the message that is being read. */
let message: u64 = 0;
/** What precedes the assistant's last message, and that message. */
let prompt: u64 = 0;
let answer: u64 = 0;
let hasAnswer: bool = false;

/** The strings of each field of the row that isn't a conversation, as a u64. */
const FIELDS: usize = memory.data(MAX_FIELDS * 8, 8);

/** @param prompts how they are hashed: `HASH_NONE`, `HASH_WRITTEN` or `HASH_NORMALIZED` */
export function beginFile(prompts: i32): void {
  hashesPrompts = prompts != HASH_NONE;
  isNormalized = prompts == HASH_NORMALIZED;
  if (isNormalized) beginTexts();
}

/** Begins the value of a field: only the last of several with one name counts. */
export function forgetField(field: i32): void {
  store<u64>(FIELDS + ((<usize>field) << 3), 0);
}

export function forgetMessages(): void {
  asked = system = message = prompt = answer = 0;
  hasAnswer = false;
}

/** Adds a string to a hash. An empty one changes nothing. */
function added(hash: u64, from: usize, to: usize): u64 {
  if (from == to) return hash;
  const text = isNormalized ? hashOfText(from, to) : hashRow(from, to);
  return text == 0 ? hash : mix(hash, text);
}

export function addToField(field: i32, from: usize, to: usize): void {
  const entry = FIELDS + ((<usize>field) << 3);
  store<u64>(entry, added(load<u64>(entry), from, to));
}

export function addToMessage(from: usize, to: usize): void {
  message = added(message, from, to);
}

/** Ends a message. @param role a negative one is missing */
export function endOfMessage(role: i32): void {
  if (role == ROLE_ASSISTANT) {
    prompt = asked;
    answer = message;
    hasAnswer = true;
  } else if (message != 0) {
    if (role == ROLE_SYSTEM) system = mix(system, message);
    else asked = mix(asked, message);
  }
  message = 0;
}

/** Returns the hash of a conversation's prompt: the system's message only if there is nothing else. */
export function promptOfMessages(): u64 {
  const own = hasAnswer ? prompt : asked;
  return own != 0 ? own : system;
}

export function answerOfMessages(): u64 {
  return answer;
}

/** Returns the hash of a field's strings, or 0 if there are none. The row must have the field. */
export function textOfField(field: i32): u64 {
  return load<u64>(FIELDS + ((<usize>field) << 3));
}
