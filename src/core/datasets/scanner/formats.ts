// The training formats, and the names in them. The table is `datasets/formats.ts`; `datasets/scanner.ts` writes it into this
// memory before the first file, encoded by `datasets/formatTable.ts`.
import { MAX_FIELDS, MAX_FORMATS, MAX_PARTS, MAX_SPEAKERS } from './codes';

/** Bits of the fields of some kind. */
@unmanaged
class FieldKinds {
  /** Conversations: lists of messages, of which some can consist of strings. */
  turns: u32;
  strings: u32;
  /** Others that can be lists of messages. */
  lists: u32;
  /** What the assistant is to say. */
  spoken: u32;
  optional: u32;
  /** Two answers to compare; and these with what stands beside a conversation instead of its answers. */
  compared: u32;
  elsewhere: u32;
  /** Those whose list of messages can be in an object; the number of one that is another field's then. */
  wrapped: u32;
  input: i32;
  prompt: i32;
  /** What the system says, besides a conversation. */
  system: i32;
  /** Earlier questions and answers. */
  history: i32;
}

/** A format. Fields are numbers, 0 for none, or bits of several. */
@unmanaged
export class FormatEntry {
  /** 0 for what has no known format: it ends the table. */
  number: i32;
  /** Bits: a row has the format if it has one of the first, or all of the second. */
  some: u32;
  both: u32;
  /** The bit of a conversation, and the problem if that is no list. */
  turns: u32;
  noList: i32;
  /** The fields of the prompt, a byte each, the first one lowest. */
  prompt: u32;
  /** The field that is needed, and another one; if that is 0, the answer. */
  first: i32;
  second: i32;
  /** The field of the answer, and one that counts only without it. */
  answer: i32;
  spare: i32;
  firstMissing: i32;
  secondMissing: i32;
  /** Bits of the fields with texts, and of those whose problems are noted. The answer is in neither. */
  texts: u32;
  noted: u32;
  optional: u32;
  isCommon: u32;
  history: i32;
}

/** Bytes of a name: its length, or 0 if the slot is free; two numbers; its first and its last eight bytes. */
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
/** The names of speakers, each with its role, and whether only ShareGPT has it. */
export const SPEAKER_NAMES: usize = FORMAT_TABLE + SPEAKERS_AT;

/** Returns the format after one. */
export function formatAfter(format: FormatEntry): FormatEntry {
  return changetype<FormatEntry>(changetype<usize>(format) + offsetof<FormatEntry>());
}
