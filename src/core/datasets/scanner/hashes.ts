import * as codes from './codes';
// Computes the hashes of a row from those of its fields: of its prompt, its answer, and all its texts. Its format says where they are.
import { textIn } from './contents';
import { kinds } from './formats';
import { mix } from './lines';
import {
  addToWhole,
  useSharedPrompt,
  beginWhole,
  hashesAnswers,
  isNormalized,
  promptOfWhole,
  extend,
  textOfField,
} from './prompts';
import { textsOfField, whole } from './prompts';
import { answerField, bitOf, faultOf, has, shape, textFields } from './shape';
import { hashOfText } from './texts';

/** Returns the exact hash of all texts of the object that was read last, or 0 if it has none. */
export function textsHash(): u64 {
  let hash: u64 = 0;
  for (let left = textFields() | (bitOf(kinds.system) & shape.fields); left != 0; left &= left - 1) {
    const texts = textsOfField(<i32>ctz(left));
    if (texts != 0) hash = mix(hash, texts);
  }
  return hash;
}

/** Hashes the object that was read last as a chat, with the messages that `toChat.ts` would make of it. */
export function hashMessages(): void {
  beginWhole(hasWords(kinds.system) ? textOf(kinds.system) : 0);
  const turns = shape.format.turns;
  if (turns != 0) return addToWhole(<i32>ctz(turns));
  if (has(shape.format.history)) addToWhole(shape.format.history);
  const asked = shape.format.prompt & 0xff;
  const question = questionHash();
  if (question != 0) extend(whole, codes.ROLE_USER, question);
  else if (has(asked)) addToWhole(asked);
  const compared = shape.format.second;
  if (whole.asked == 0 && compared != 0 && has(compared)) useSharedPrompt(shape.format.first, compared);
  const field = answerField();
  const answer = hashesAnswers() ? textOf(field) : 0;
  if (answer == 0 && (shape.lists & bitOf(field)) != 0) addToWhole(field);
  else extend(whole, codes.ROLE_ASSISTANT, answer);
}

/** Returns the hash of the prompt's fields: the first one and one more, without blank ones. */
function questionHash(): u64 {
  const first = <i32>(shape.format.prompt & 0xff);
  for (let left = shape.format.prompt >> 8; left != 0; left >>= 8) {
    const further = <i32>(left & 0xff);
    if (!hasWords(further)) continue;
    if (!hasWords(first)) return textOf(further);
    if (!isNormalized()) return mix(textOf(first), textOf(further));
    const one = textIn(first);
    const other = textIn(further);
    return mix(0, hashOfText(load<u32>(one), load<u32>(one, 4), load<u32>(other), load<u32>(other, 4)));
  }
  return textOf(first);
}

/** Whether a field is a string that isn't blank. */
function hasWords(index: i32): bool {
  return has(index) && faultOf(index) == 0 && load<u32>(textIn(index)) != 0;
}

/** Returns the hash of the prompt, after `hashMessages`; 0 if there is none. */
export function promptHash(): u64 {
  return (shape.format.turns | shape.format.prompt) == 0 ? 0 : promptOfWhole();
}

/** Returns the hash of a field's strings, or 0. A normalized string is hashed only now, since two fields may form one text. */
function textOf(index: i32): u64 {
  if (!has(index)) return 0;
  if (!isOneText(index)) return textOfField(index);
  const text = hashOfText(load<u32>(textIn(index)), load<u32>(textIn(index), 4), 0, 0);
  return text == 0 ? 0 : mix(0, text);
}

/** Whether the field is a string that is normalized. */
function isOneText(index: i32): bool {
  return isNormalized() && (shape.lists & bitOf(index)) == 0 && load<u32>(textIn(index)) != 0;
}
