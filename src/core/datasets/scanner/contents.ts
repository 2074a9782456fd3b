// The texts of rows, without names and brackets: how many bytes they have as they are written, and how many are the assistant's.
import { file } from './buffers';
import { BYTES_PER_TOKEN, MAX_FIELDS } from './codes';

/** Bytes of each field's texts, and how many of them are the assistant's, each a u32. */
const FIELDS: usize = memory.data(MAX_FIELDS * 8, 8);

@unmanaged
class Texts {
  /** The entry of the field that is being read, and the bytes of the message in it. */
  field: usize;
  messageBytes: u32;
}
export const texts = changetype<Texts>(memory.data(16, 16));

/** Begins the value of a field: only the last of several with one name counts. */
export function beginField(index: i32): void {
  texts.field = FIELDS + ((<usize>index) << 3);
  store<u64>(texts.field, 0);
}

/** Adds a text to the field. */
export function addText(bytes: u32, isAssistant: bool): void {
  store<u32>(texts.field, load<u32>(texts.field) + bytes);
  if (isAssistant) store<u32>(texts.field, load<u32>(texts.field, 4) + bytes, 4);
}

/** Adds a text to the message, whose role may follow. */
export function addToContent(from: usize, to: usize): void {
  texts.messageBytes += <u32>(to - from);
}

export function endContent(isAssistant: bool): void {
  addText(texts.messageBytes, isAssistant);
}

/** Counts the texts of a row, which are those of some fields, given as bits. */
export function countTexts(fields: u32): void {
  let bytes: u32 = 0;
  for (let left = fields; left != 0; left &= left - 1) {
    const entry = FIELDS + ((<usize>ctz(left)) << 3);
    bytes += load<u32>(entry);
    file.assistantBytes += <f64>load<u32>(entry, 4);
  }
  file.textBytes += <f64>bytes;
  if (bytes > 4096 * BYTES_PER_TOKEN) file.rowsOver4096++;
  if (bytes > 8192 * BYTES_PER_TOKEN) file.rowsOver8192++;
}
