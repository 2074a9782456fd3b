// Hashes the prompt and the answer of a row while it is read. Rows with the same normalized prompt stay on the same side of a split.
import { clear, file } from './buffers';
import { HASH_ANSWERS, HASH_TEXTS, HASH_WRITTEN, MAX_FIELDS, ROLE_ASSISTANT, ROLE_SYSTEM } from './codes';
import { row } from './found';
import { mix } from './lines';
import { beginTexts, exactHashOf, hashOfText } from './texts';

/** The hash of the strings of each field that isn't a conversation, a u64. */
const FIELDS: usize = memory.data(MAX_FIELDS * 8, 8);
/** With `HASH_TEXTS`: the hash of all texts of each field, a u64. */
const TEXTS: usize = memory.data(MAX_FIELDS * 8, 8);

/** The hashes of a list of messages: of a field, or of the whole row. */
@unmanaged
class Chain {
  /** Messages that are neither of the assistant nor of the system, in order. */
  asked: u64;
  /** Those of them before the assistant's last message. */
  prompt: u64;
  /** The system's messages, in any order: a field can have one beside the list. */
  system: u64;
  /** The assistant's last message. */
  answer: u64;
  /** How many messages `asked` and `prompt` have. */
  askedCount: u32;
  promptCount: u32;
  hasAnswer: bool;
}
const CHAIN_BYTES: usize = 48;
/** After each chain in memory: the values of `asked` after each of its first messages, a u64 each. */
const MAX_COMPARED: u32 = 16;
const CHAIN_AND_ASKED: usize = CHAIN_BYTES + 16 * 8;
const CHAINS: usize = memory.data(MAX_FIELDS * CHAIN_AND_ASKED, 16);
export const whole = changetype<Chain>(memory.data(CHAIN_AND_ASKED, 16));
/** A hash is multiplied by this for each later message, so that lists can be joined. */
const PER_MESSAGE: u64 = 0x9e3779b97f4a7c15;
/** A string up to this length may be a label. */
const MAX_LABEL_BYTES: usize = 256;

/** The message that is being read. With `HASH_TEXTS`: its contents, in order, and its further texts, in any order. */
@unmanaged
class Said {
  contents: u64;
  further: u64;
  /** In any mode: the hash of its strings, and the chain of its field. */
  message: u64;
  chain: usize;
}
const said = changetype<Said>(memory.data(32, 16));

/** Sets what to hash, and how: `HASH_NONE` and so on. */
export function hashPrompts(hashing: i32): void {
  file.hashing = hashing;
  if (isNormalized()) beginTexts();
}

/** Whether texts are normalized before they are hashed. */
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

/** Begins the value of a field. If a field occurs twice, the last value counts. */
export function beginHash(field: i32): void {
  store<u64>(FIELDS + ((<usize>field) << 3), 0);
  store<u64>(TEXTS + ((<usize>field) << 3), 0);
  said.contents = said.further = said.message = 0;
  said.chain = chainOf(field);
  clear(said.chain, CHAIN_BYTES);
}

function chainOf(field: i32): usize {
  return CHAINS + <usize>field * CHAIN_AND_ASKED;
}

/** Gives a field the hashes of another one. */
export function moveHash(from: i32, to: i32): void {
  store<u64>(FIELDS + ((<usize>to) << 3), textOfField(from));
  store<u64>(TEXTS + ((<usize>to) << 3), textsOfField(from));
  memory.copy(chainOf(to), chainOf(from), CHAIN_AND_ASKED);
}

/** Adds the string that was read last to a hash. An empty string changes nothing. */
function added(hash: u64, from: usize, to: usize): u64 {
  if (from == to) return hash;
  // If not normalized, only short strings are decoded: that is cheap.
  const text = isNormalized()
    ? hashOfText(from, to, 0, 0)
    : exactHashOf(from, to, to - from <= MAX_LABEL_BYTES);
  return text == 0 ? hash : mix(hash, text);
}

export function addToField(field: i32, from: usize, to: usize): void {
  const entry = FIELDS + ((<usize>field) << 3);
  store<u64>(entry, added(load<u64>(entry), from, to));
}

export function addToMessage(from: usize, to: usize): void {
  said.message = added(said.message, from, to);
}

/** Adds the message that was read to its field's chain. @param role negative if it is missing */
export function addMessage(role: i32): void {
  extend(changetype<Chain>(said.chain), role, said.message);
  said.message = 0;
}

/** Adds a message to a chain. @param message the hash of its strings */
export function extend(chain: Chain, role: i32, message: u64): void {
  if (role == ROLE_ASSISTANT) {
    chain.prompt = chain.asked;
    chain.promptCount = chain.askedCount;
    chain.answer = message;
    chain.hasAnswer = true;
  } else if (message == 0) return;
  else if (role == ROLE_SYSTEM) chain.system += mix(0, message);
  else {
    chain.asked = chain.asked * PER_MESSAGE + mix(0, message);
    if (chain.askedCount < MAX_COMPARED) store<u64>(askedIn(chain, chain.askedCount), chain.asked);
    chain.askedCount++;
  }
}

/** Begins the messages of the whole row. @param system the hash of a system message beside the list, or 0 */
export function beginWhole(system: u64): void {
  clear(changetype<usize>(whole), CHAIN_BYTES);
  extend(whole, ROLE_SYSTEM, system);
}

/** Adds the messages of a field to those of the whole row. */
export function addToWhole(field: i32): void {
  const chain = changetype<Chain>(chainOf(field));
  if (chain.hasAnswer) {
    whole.prompt = joined(chain.prompt, chain.promptCount);
    whole.answer = chain.answer;
    whole.hasAnswer = true;
  }
  whole.asked = joined(chain.asked, chain.askedCount);
  whole.system += chain.system;
}

function askedIn(chain: Chain, message: u32): usize {
  return changetype<usize>(chain) + CHAIN_BYTES + ((<usize>message) << 3);
}

/** Uses the messages that two fields have in common, before their last answers, as the prompt of the whole row. */
export function useSharedPrompt(field: i32, other: i32): void {
  const one = changetype<Chain>(chainOf(field));
  const two = changetype<Chain>(chainOf(other));
  if (one.system == two.system) whole.system += one.system;
  let count = min(min(promptCountOf(one), promptCountOf(two)), MAX_COMPARED);
  while (count > 0 && load<u64>(askedIn(one, count - 1)) != load<u64>(askedIn(two, count - 1))) count--;
  if (count > 0) whole.asked = load<u64>(askedIn(one, count - 1));
}

function promptCountOf(chain: Chain): u32 {
  return chain.hasAnswer ? chain.promptCount : chain.askedCount;
}

/** Returns `asked` of the whole row, continued by a list with so many messages. */
function joined(hash: u64, count: u32): u64 {
  let asked = whole.asked;
  for (let left = count; left != 0; left--) asked *= PER_MESSAGE;
  return asked + hash;
}

/** Returns the hash of the row's prompt. The system's messages count only if there are no others. */
export function promptOfWhole(): u64 {
  const own = whole.hasAnswer ? whole.prompt : whole.asked;
  return own != 0 ? own : whole.system;
}

/** Adds a string to all texts of a field. */
export function addToTexts(field: i32, from: usize, to: usize): void {
  const entry = TEXTS + ((<usize>field) << 3);
  store<u64>(entry, mix(load<u64>(entry), exactHashOf(from, to, true)));
}

/** Adds a string to the texts of the message. @param part the field that has the string; 0 for the content */
export function addToSaid(part: i32, from: usize, to: usize): void {
  const text = exactHashOf(from, to, true);
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
