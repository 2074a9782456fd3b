// The texts of rows, without names and brackets: how many bytes they have as they are written, and how many are the assistant's.
import { BYTES_PER_TOKEN } from './codes';

/** Since `forgetTexts`. Exact up to 2 ** 53. */
export let textBytes: f64 = 0;
export let assistantBytes: f64 = 0;
/** Rows with more text than this many tokens, about. */
export let rowsOver4096: u32 = 0;
export let rowsOver8192: u32 = 0;

const MAX_FIELDS = 16;
/** Bytes of each field's texts, and how many of them are the assistant's, each a u32. */
const FIELDS: usize = memory.data(MAX_FIELDS * 8, 8);

/** Bytes of the message that is being read, and whether it is the assistant's. */
let messageBytes: u32 = 0;
let isAssistant: bool = false;

/** Begins a file. */
export function forgetTexts(): void {
  textBytes = 0;
  assistantBytes = 0;
  rowsOver4096 = 0;
  rowsOver8192 = 0;
}

/** Begins a row. */
export function beginTexts(): void {
  messageBytes = 0;
  isAssistant = false;
}

/** Begins the value of a field: only the last of several with one name counts. */
export function forgetText(field: i32): void {
  store<u64>(FIELDS + ((<usize>field) << 3), 0);
}

/** Adds a text to a field. */
export function addText(field: i32, bytes: u32, ofAssistant: bool): void {
  const entry = FIELDS + ((<usize>field) << 3);
  store<u32>(entry, load<u32>(entry) + bytes);
  if (ofAssistant) store<u32>(entry, load<u32>(entry, 4) + bytes, 4);
}

export function addToContent(bytes: u32): void {
  messageBytes += bytes;
}

export function setSpeaker(ofAssistant: bool): void {
  isAssistant = ofAssistant;
}

/** Ends a message of a field: its role may follow its content. */
export function endContent(field: i32): void {
  addText(field, messageBytes, isAssistant);
  beginTexts();
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
