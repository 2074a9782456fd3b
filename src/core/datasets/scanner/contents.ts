// The texts of rows, without names and brackets: what they weigh (`weights.ts`), and how much of that is the assistant's.
import { clear, file } from './buffers';
import { BYTES_PER_TOKEN, MAX_FIELDS } from './codes';
import { weightOf } from './weights';

/** Of each field: the weight of its texts, that of the assistant's among them, and where the last of these is; each a u32. */
const FIELDS: usize = memory.data(MAX_FIELDS * 16, 16);

@unmanaged
class Texts {
  /** The entry of the field that is being read, and the weight of the message in it. */
  field: usize;
  messageBytes: u32;
}
export const texts = changetype<Texts>(memory.data(16, 16));

/** Begins the value of a field: only the last of several with one name counts. */
export function beginFieldTexts(index: i32): void {
  texts.field = FIELDS + ((<usize>index) << 4);
  clear(texts.field, 16);
}

/** Gives a field the texts of another one. */
export function moveTexts(from: i32, to: i32): void {
  v128.store(FIELDS + ((<usize>to) << 4), v128.load(FIELDS + ((<usize>from) << 4)));
}

/** Adds the string that was read last to the field. */
export function addText(from: usize, to: usize, isAssistant: bool): void {
  addBytes(weightOf(from, to), isAssistant);
}

function addBytes(bytes: u32, isAssistant: bool): void {
  store<u32>(texts.field, load<u32>(texts.field) + bytes);
  if (isAssistant) store<u32>(texts.field, load<u32>(texts.field, 4) + bytes, 4);
}

/** Adds the string that was read last to the message, whose role may follow. */
export function addToContent(from: usize, to: usize): void {
  texts.messageBytes += weightOf(from, to);
}

export function endContent(isAssistant: bool): void {
  addBytes(texts.messageBytes, isAssistant);
}

/** Stores where the first text of what the assistant says is; 0 if it has none, as a call of a tool. */
export function takeAnswer(from: usize, to: usize): void {
  store<u32>(texts.field, <u32>from, 8);
  store<u32>(texts.field, <u32>to, 12);
}

/** Returns the entry of the answer of a field: its start, or 0, and its end, each a u32. */
export function answerIn(field: i32): usize {
  return FIELDS + ((<usize>field) << 4) + 8;
}

/** Counts the texts of a row, which are those of some fields, given as bits. */
export function countTexts(fields: u32): void {
  let bytes: u32 = 0;
  for (let left = fields; left != 0; left &= left - 1) {
    const entry = FIELDS + ((<usize>ctz(left)) << 4);
    bytes += load<u32>(entry);
    file.assistantBytes += <f64>load<u32>(entry, 4);
  }
  file.textBytes += <f64>bytes;
  if (bytes > 4096 * BYTES_PER_TOKEN) file.rowsOver4096++;
  if (bytes > 8192 * BYTES_PER_TOKEN) file.rowsOver8192++;
}
