// Whether an answer begins like a refusal: with a direct phrase (`I cannot`), or with an opening (`I'm sorry`) that a denial
// follows soon (`unable`). Both are compared decoded, without white space, in lower case, with a straight apostrophe.
import { MAX_PHRASE_BYTES, PHRASE_DENIAL, PHRASE_DIRECT, PHRASE_OPENING } from './codes';
import { clear } from './buffers';
import { isLetter } from './characters';
import { decodeEscape, keys } from './keys';

/** The phrases: a kind, a length, and so many bytes; a kind of 0 ends them. Written by the scanner's owner. */
export const PHRASES: usize = memory.data(MAX_PHRASE_BYTES);
/** 1 for a byte with which the string of a refusal may begin, 2 for a hash of its first three. Written with the phrases. */
export const FIRSTS: usize = memory.data(256);

/** A denial comes within so many characters. */
const DENIAL_CHARACTERS = 120;
/** No opening has more bytes. */
const OPENING_BYTES = 64;
const TEXT_BYTES: usize = OPENING_BYTES + DENIAL_CHARACTERS * 4;
/** The beginning of an answer; an escape may exceed it, and a phrase is compared beyond it. */
const TEXT: usize = memory.data(TEXT_BYTES + 80, 8);

@unmanaged
class Beginning {
  /** How far the answer was read, and where it ends. */
  at: usize;
  to: usize;
  /** Where the text that was read ends. */
  end: usize;
}
const beginning = changetype<Beginning>(memory.data(16, 16));

/** Whether a string begins like a refusal. */
export function beginsLikeRefusal(from: usize, to: usize): bool {
  if ((load<u8>(FIRSTS + <usize>load<u8>(from)) & 1) == 0) return false;
  // Three letters are known without reading on.
  const areLetters = isLetter(load<u8>(from)) && isLetter(load<u8>(from, 1)) && isLetter(load<u8>(from, 2));
  if (areLetters && !mayBegin(load<u32>(from) | 0x202020)) return false;
  beginning.at = from;
  beginning.to = to;
  beginning.end = TEXT;
  readText(3);
  if (!mayBegin(load<u32>(TEXT))) return false;
  readText(OPENING_BYTES);
  if (lengthOf(PHRASE_DIRECT, TEXT) != 0) return true;
  const opening = lengthOf(PHRASE_OPENING, TEXT);
  if (opening == 0) return false;
  readText(TEXT_BYTES);
  let characters = 0;
  for (let at = TEXT + opening; at < beginning.end && characters < DENIAL_CHARACTERS; at++) {
    if ((load<u8>(at) & 0xc0) == 0x80) continue;
    characters++;
    if (lengthOf(PHRASE_DENIAL, at) != 0) return true;
  }
  return false;
}

/** Whether a phrase may begin with the first three of four bytes, by their hash. */
function mayBegin(bytes: u32): bool {
  return (load<u8>(FIRSTS + <usize>(((bytes & 0xffffff) * 0x9e3779b1) >> 24)) & 2) != 0;
}

/** Reads more of the answer, until so many bytes of text are known, or all. Zeros follow them. */
function readText(bytes: usize): void {
  while (beginning.at < beginning.to && beginning.end < TEXT + bytes) {
    const start = beginning.end;
    const first = <u32>load<u8>(beginning.at);
    if (first == 0x5c) {
      beginning.end = decodeEscape(beginning.at, start);
      beginning.at = keys.afterEscape;
    } else {
      store<u8>(beginning.end++, first);
      beginning.at++;
    }
    const character = <u32>load<u8>(start);
    if (character <= 0x20) beginning.end = start;
    else if (character - 0x41 < 26) store<u8>(start, character | 0x20);
    // A typographic apostrophe, whose bytes may come one by one.
    const last = beginning.end - 3;
    if (last >= TEXT && (load<u32>(last) & 0xffffff) == 0x9980e2) {
      store<u8>(last, 0x27);
      beginning.end = last + 1;
    }
  }
  clear(beginning.end, 64);
}

/** Returns the length of a phrase of a kind with which the text at `at` begins, or 0. */
function lengthOf(kind: u32, at: usize): u32 {
  let phrase = PHRASES;
  while (load<u8>(phrase) != 0) {
    const length = <u32>load<u8>(phrase, 1);
    const isKind = load<u8>(phrase) == kind && load<u16>(phrase, 2) == load<u16>(at);
    if (isKind && memory.compare(phrase + 2, at, length) == 0) return length;
    phrase += 2 + length;
  }
  return 0;
}
