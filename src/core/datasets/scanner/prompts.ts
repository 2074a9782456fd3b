// The prompt and the answer of a row, as hashes of their strings. Rows of one normalized prompt stay on one side of a split.
import { file } from './buffers';
import { HASH_ANSWERS, HASH_TEXTS, HASH_WRITTEN, MAX_FIELDS, ROLE_ASSISTANT, ROLE_SYSTEM } from './codes';
import { conversation } from './conversation';
import { hashRow, mix } from './lines';
import { beginTexts, exactHashOf, hashOfText } from './texts';

/** The strings of each field of the row that isn't a conversation, as a u64. */
const FIELDS: usize = memory.data(MAX_FIELDS * 8, 8);
/** With `HASH_TEXTS`: all texts of each field, as a u64. */
const TEXTS: usize = memory.data(MAX_FIELDS * 8, 8);

/** With `HASH_TEXTS`: the contents of the message that is being read, in order, and its further texts, in any order. */
@unmanaged
class Said {
  contents: u64;
  further: u64;
}
const said = changetype<Said>(memory.data(16, 16));

/** Sets what is hashed, and how: `HASH_NONE` and so on. */
export function hashPrompts(hashing: i32): void {
  file.hashing = hashing;
  if (isNormalized()) beginTexts();
}

/** Whether texts are hashed by what they say. */
export function isNormalized(): bool {
  return file.hashing > HASH_WRITTEN;
}

/** Whether answers are hashed beside prompts. */
export function hashesAnswers(): bool {
  return file.hashing == HASH_WRITTEN || file.hashing == HASH_ANSWERS;
}

/** Whether all texts are hashed. */
export function hashesTexts(): bool {
  return file.hashing == HASH_TEXTS;
}

/** Begins the value of a field: only the last of several with one name counts. */
export function beginHash(field: i32): void {
  store<u64>(FIELDS + ((<usize>field) << 3), 0);
  store<u64>(TEXTS + ((<usize>field) << 3), 0);
  said.contents = said.further = 0;
}

/** Gives a field the strings of another one. */
export function moveHash(from: i32, to: i32): void {
  store<u64>(FIELDS + ((<usize>to) << 3), textOfField(from));
  store<u64>(TEXTS + ((<usize>to) << 3), textsOfField(from));
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

/** Adds a string to all texts of a field. */
export function addToTexts(field: i32, from: usize, to: usize): void {
  const entry = TEXTS + ((<usize>field) << 3);
  store<u64>(entry, mix(load<u64>(entry), exactHashOf(from, to)));
}

/** Adds a string to the texts of the message. @param part the further field it is of; 0 for the content */
export function addToSaid(part: i32, from: usize, to: usize): void {
  const text = exactHashOf(from, to);
  if (part == 0) said.contents = mix(said.contents, text);
  else said.further += mix(part, text);
}

/** Adds the message, with its role, to the texts of a field. */
export function endOfSaid(field: i32, role: i32): void {
  const entry = TEXTS + ((<usize>field) << 3);
  const texts = mix(mix(load<u64>(entry), said.contents), said.further);
  store<u64>(entry, mix(texts, role + 2));
  said.contents = said.further = 0;
}

/** Returns the hash of all texts of a field, or 0 if there are none. The row must have the field. */
export function textsOfField(field: i32): u64 {
  return load<u64>(TEXTS + ((<usize>field) << 3));
}

/** Returns the hash of a field's strings, or 0 if there are none. The row must have the field. */
export function textOfField(field: i32): u64 {
  return load<u64>(FIELDS + ((<usize>field) << 3));
}
