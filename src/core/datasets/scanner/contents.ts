// The texts of rows, without names and brackets: how many bytes they have as they are written, and how many are the assistant's.
import { BYTES_PER_TOKEN, MAX_FIELDS } from './codes';

/** Since `forgetTexts`. Exact up to 2 ** 53. */
export let textBytes: f64 = 0;
export let assistantBytes: f64 = 0;
/** Rows with more text than this many tokens, about. */
export let rowsOver4096: u32 = 0;
export let rowsOver8192: u32 = 0;

/** Bytes of each field's texts, and how many of them are the assistant's, each a u32. */
const FIELDS: usize = memory.data(MAX_FIELDS * 8, 8);
/** The entry of the field that is being read, and the bytes of the message in it. */
let field: usize = FIELDS;
let messageBytes: u32 = 0;

/** Begins a file. */
export function forgetTexts(): void {
  textBytes = 0;
  assistantBytes = 0;
  rowsOver4096 = 0;
  rowsOver8192 = 0;
}

/** Begins the value of a field: only the last of several with one name counts. */
export function beginField(index: i32): void {
  field = FIELDS + ((<usize>index) << 3);
  store<u64>(field, 0);
}

/** Adds a text to the field. */
export function addText(bytes: u32, isAssistant: bool): void {
  store<u32>(field, load<u32>(field) + bytes);
  if (isAssistant) store<u32>(field, load<u32>(field, 4) + bytes, 4);
}

export function beginContent(): void {
  messageBytes = 0;
}

/** Adds a text to the message, whose role may follow. */
export function addToContent(from: usize, to: usize): void {
  messageBytes += <u32>(to - from);
}

export function endContent(isAssistant: bool): void {
  addText(messageBytes, isAssistant);
}

/** Counts the texts of a row, which are those of some fields, given as bits. */
export function countTexts(fields: u32): void {
  let bytes: u32 = 0;
  for (let left = fields; left != 0; left &= left - 1) {
    const entry = FIELDS + ((<usize>ctz(left)) << 3);
    bytes += load<u32>(entry);
    assistantBytes += <f64>load<u32>(entry, 4);
  }
  textBytes += <f64>bytes;
  if (bytes > 4096 * BYTES_PER_TOKEN) rowsOver4096++;
  if (bytes > 8192 * BYTES_PER_TOKEN) rowsOver8192++;
}
