// The training formats and their names. The table is in `datasets/formats.ts`. `datasets/formatTable.ts` encodes it, and
// `datasets/scanner.ts` writes it into this memory before the first file.
import { MAX_FIELDS, MAX_FORMATS, MAX_PARTS, MAX_SPEAKERS } from './codes';

/** For each kind of fields: their bits. */
@unmanaged
class FieldKinds {
  /** Conversations: lists of messages; and those that may be lists of strings. */
  turns: u32;
  strings: u32;
  /** Other fields that may be lists of messages. */
  lists: u32;
  /** Texts of the assistant. */
  spoken: u32;
  optional: u32;
  /** Two answers to compare; and all fields that replace the answers of a conversation. */
  compared: u32;
  elsewhere: u32;
  /** Fields whose list of messages may be in an object. The number of `input`, which is then used as the prompt, and of the prompt. */
  wrapped: u32;
  input: i32;
  prompt: i32;
  /** The number of the field with a system message beside a conversation. */
  system: i32;
  /** The number of the field with earlier questions and answers. */
  history: i32;
}

/** A format. Its fields are given as numbers (0 for none) or as bits. */
@unmanaged
export class FormatEntry {
  /** The format's number. The last entry has 0: an unknown format. */
  number: i32;
  /** Bits. A row has the format if it has one of the fields of `some`, or all of `both`. */
  some: u32;
  both: u32;
  /** The bit of the conversation, and the problem if it isn't a list. */
  turns: u32;
  noList: i32;
  /** The fields of the prompt, a byte each; the first one is the lowest byte. */
  prompt: u32;
  /** Two fields that are needed. If the second is 0, the answer is needed. */
  first: i32;
  second: i32;
  /** The field of the answer, and one that is used if that is missing. */
  answer: i32;
  spare: i32;
  firstMissing: i32;
  secondMissing: i32;
  /** Bits of the fields with texts, and of those whose problems are noted. Neither includes the answer. */
  texts: u32;
  noted: u32;
  optional: u32;
  isCommon: u32;
  history: i32;
}

/** Bytes of an entry: the length of the name (0 for a free slot), two numbers, its first and its last eight bytes. */
export const NAME_BYTES: usize = 24;
const FORMATS_AT = offsetof<FieldKinds>();
const FIELDS_AT = FORMATS_AT + MAX_FORMATS * offsetof<FormatEntry>();
const PARTS_AT = FIELDS_AT + MAX_FIELDS * NAME_BYTES;
const SPEAKERS_AT = PARTS_AT + MAX_PARTS * NAME_BYTES;

export const FORMAT_TABLE: usize = memory.data(SPEAKERS_AT + MAX_SPEAKERS * NAME_BYTES, 8);
export const kinds = changetype<FieldKinds>(FORMAT_TABLE);
export const firstFormat = changetype<FormatEntry>(FORMAT_TABLE + FORMATS_AT);
/** The names of fields, of rows and of messages, each with its number. */
export const FIELD_NAMES: usize = FORMAT_TABLE + FIELDS_AT;
export const PART_NAMES: usize = FORMAT_TABLE + PARTS_AT;
/** The names of speakers, each with its role and whether only ShareGPT has it. */
export const SPEAKER_NAMES: usize = FORMAT_TABLE + SPEAKERS_AT;

/** Returns the next format in the table. */
export function formatAfter(format: FormatEntry): FormatEntry {
  return changetype<FormatEntry>(changetype<usize>(format) + offsetof<FormatEntry>());
}
