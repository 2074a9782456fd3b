// Numbers that the scanner (AssemblyScript) shares with TypeScript: the languages can share only plain constants.
// `datasets/problems.ts` and `datasets/formats.ts` have the names, in this order.

// The row isn't JSON (RFC 8259).
export const UNEXPECTED_CHARACTER = 0;
export const UNEXPECTED_END = 1;
export const UNTERMINATED_STRING = 2;
export const CONTROL_CHARACTER = 3;
export const BAD_ESCAPE = 4;
export const BAD_NUMBER = 5;
export const BAD_LITERAL = 6;
export const TRAILING_COMMA = 7;
export const EXTRA_VALUE = 8;
export const SINGLE_QUOTE = 9;
export const KEY_EXPECTED = 10;
export const COLON_EXPECTED = 11;
export const COMMA_EXPECTED = 12;
// The row has invalid UTF-8 or a byte order mark, or is not an object.
export const INVALID_UTF8 = 13;
export const BOM_INSIDE = 14;
export const NOT_AN_OBJECT = 15;
// Valid, but seldom intended.
export const BLANK_LINE = 16;
export const BOM_AT_START = 17;
export const CRLF = 18;
export const DUPLICATE_KEY = 19;
export const LONE_SURROGATE = 20;
export const NUMBER_PRECISION = 21;
// Limits of the scanner, beyond which it checks less.
export const TOO_DEEP = 22;
export const ROW_TOO_LONG = 23;
export const TOO_MANY_KEYS = 24;
// The shape of a row: the service publishes no schema, so these are warnings.
export const UNKNOWN_FORMAT = 25;
export const DIFFERENT_FORMAT = 26;
export const MESSAGES_NOT_ARRAY = 27;
export const MESSAGES_EMPTY = 29;
export const MESSAGE_NOT_OBJECT = 30;
export const ROLE_MISSING = 31;
export const ROLE_UNKNOWN = 32;
export const CONTENT_MISSING = 33;
export const CONTENT_WRONG_TYPE = 34;
export const CONTENT_EMPTY = 35;
/** A weight that is neither 0 nor 1, or not on a message of the assistant. */
export const WEIGHT = 36;
export const NO_ASSISTANT = 37;
/** All answers have weight 0. */
export const WEIGHTS_ZERO = 38;
export const LAST_NOT_ASSISTANT = 39;
// The order of a conversation's messages, and its tool calls.
export const STARTS_WITH_ASSISTANT = 40;
export const REPEATED_ROLE = 41;
export const SYSTEM_INSIDE = 42;
export const TOOL_ORDER = 43;
export const TOOL_ARGUMENTS = 44;
// 28 and 45 to 52 have no names here: only the table of formats uses them (`datasets/formats.ts`).
export const FIELD_WRONG_TYPE = 53;
export const FIELD_EMPTY = 54;
export const SAME_ANSWERS = 55;
export const VERY_LONG_ROW = 56;
export const DUPLICATE_ROW = 57;
// The file ends in the middle of its last row.
export const CUT_OFF = 58;
// More reasons why a row is not JSON.
export const COMMA_AFTER_OBJECT = 59;
export const TYPOGRAPHIC_QUOTES = 60;
// Secrets and private data, which should not leave the machine. They are reported at once. Codes for `noteInRow` must be below 64: a
// row's noted problems are the bits of a u64.
export const API_KEY = 61;
export const PRIVATE_KEY = 62;
export const EMAIL_ADDRESS = 63;
export const CARD_NUMBER = 64;
export const PROBLEM_COUNT = 65;
// From here on, the format of a row. Each row's format is reported as a place: only the end shows which format is the most common.
export const ROW_OF_FORMAT = PROBLEM_COUNT;

// Formats have the numbers of `datasets/formats.ts`; an unknown one has 0.
export const FORMAT_COUNT = 8;
export const PLACE_CODE_COUNT = ROW_OF_FORMAT + FORMAT_COUNT;

// Roles in a conversation.
export const ROLE_SYSTEM = 0;
export const ROLE_USER = 1;
export const ROLE_ASSISTANT = 2;
export const ROLE_TOOL = 3;
export const ROLE_OTHER = 4;
export const ROLE_COUNT = 5;

// Flags of a row. The number of its format is in the bits above.
export const ROW_BLANK = 1;
/** It has a problem that is an error. */
export const ROW_ERROR = 2;
/** It has an API key or a private key. */
export const ROW_SECRET = 4;
/** It has an email address or a card number. */
export const ROW_PERSONAL = 8;
/** Too long to check. */
export const ROW_UNCHECKED = 16;
/** An object in it has a key twice. */
export const ROW_REPEATS_KEY = 32;
/** Three bits with the reason why it can't be trained on. */
export const ROW_UNTRAINABLE_SHIFT = 6;
export const ROW_UNTRAINABLE_MASK = 7;
export const ROW_FORMAT_SHIFT = 9;

/** Reasons why an object without errors can't be trained on, from 1, as `UNTRAINABLE` of `datasets/problems.ts` names them. */
export const UNTRAINABLE_COUNT = 5;

// How prompts and answers are hashed. Hashing reads most bytes once more.
export const HASH_NONE = 0;
/** Prompts and answers, as they are written. */
export const HASH_WRITTEN = 1;
/** Only prompts, normalized: by what they say (`texts.ts`). */
export const HASH_NORMALIZED = 2;
/** Prompts and answers, normalized. */
export const HASH_ANSWERS = 3;
/** Prompts, normalized; in place of the answer, all texts of the row exactly, with the roles. */
export const HASH_TEXTS = 4;

/** So many places of a code are located; further ones are only counted. */
export const LOCATED_LIMIT = 5000;
/** Kinds of keys that can be searched for. */
export const MAX_PATTERNS = 128;
/** Longer rows aren't checked. */
export const MAX_ROW_BYTES = 64 * 1024 * 1024;
/** The most training formats, and slots for names: of fields, of a message's fields, of speakers. Powers of two. */
export const MAX_FORMATS = 16;
export const MAX_FIELDS = 32;
export const MAX_PARTS = 32;
export const MAX_SPEAKERS = 64;
