// The prompt and the answer of a row, as hashes of their strings. Rows of one normalized prompt stay on one side of a split.
import { file } from './buffers';
import { HASH_NORMALIZED, MAX_FIELDS, ROLE_ASSISTANT, ROLE_SYSTEM } from './codes';
import { conversation } from './conversation';
import { hashRow, mix } from './lines';
import { beginTexts, hashOfText } from './texts';

/** The strings of each field of the row that isn't a conversation, as a u64. */
const FIELDS: usize = memory.data(MAX_FIELDS * 8, 8);

/** Sets how prompts are hashed: `HASH_NONE`, `HASH_WRITTEN` or `HASH_NORMALIZED`. */
export function hashPrompts(hashing: i32): void {
  file.hashing = hashing;
  if (isNormalized()) beginTexts();
}

/** Whether only prompts are hashed, by what they say. */
export function isNormalized(): bool {
  return file.hashing == HASH_NORMALIZED;
}

/** Begins the value of a field: only the last of several with one name counts. */
export function beginHash(field: i32): void {
  store<u64>(FIELDS + ((<usize>field) << 3), 0);
}

/** Gives a field the strings of another one. */
export function moveHash(from: i32, to: i32): void {
  store<u64>(FIELDS + ((<usize>to) << 3), textOfField(from));
}

/** Adds a string to a hash. An empty one changes nothing. */
function added(hash: u64, from: usize, to: usize): u64 {
  if (from == to) return hash;
  const text = isNormalized() ? hashOfText(from, to) : hashRow(from, to);
  return text == 0 ? hash : mix(hash, text);
}

export function addToField(field: i32, from: usize, to: usize): void {
  const entry = FIELDS + ((<usize>field) << 3);
  store<u64>(entry, added(load<u64>(entry), from, to));
}

export function addToMessage(from: usize, to: usize): void {
  conversation.message = added(conversation.message, from, to);
}

/** Ends a message. @param role a negative one is missing */
export function endOfMessage(role: i32): void {
  if (role == ROLE_ASSISTANT) {
    conversation.prompt = conversation.asked;
    conversation.answer = conversation.message;
    conversation.hasAnswer = true;
  } else if (conversation.message != 0) {
    if (role == ROLE_SYSTEM) conversation.system = mix(conversation.system, conversation.message);
    else conversation.asked = mix(conversation.asked, conversation.message);
  }
  conversation.message = 0;
}

/** Returns the hash of a conversation's prompt: the system's message only if there is nothing else. */
export function promptOfMessages(): u64 {
  const own = conversation.hasAnswer ? conversation.prompt : conversation.asked;
  return own != 0 ? own : conversation.system;
}

export function answerOfMessages(): u64 {
  return conversation.answer;
}

/** Returns the hash of a field's strings, or 0 if there are none. The row must have the field. */
export function textOfField(field: i32): u64 {
  return load<u64>(FIELDS + ((<usize>field) << 3));
}
