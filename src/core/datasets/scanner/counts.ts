// What is counted of the rows that are not blank, since `forgetCounts`.
import { FORMAT_COUNT, ROLE_COUNT } from './codes';
import { format, turns, TURNS_BY_ROLE } from './shape';

/** Bins of row lengths: exact below 32 bytes, then 32 for each doubling. */
export const LENGTH_BINS_COUNT = 32 * 24;
/** A u32 for each bin. */
export const LENGTH_BINS: usize = memory.data(LENGTH_BINS_COUNT * 4, 4);
/** A u32 for each format, and for each role. */
export const FORMATS: usize = memory.data(FORMAT_COUNT * 4, 4);
export const ROLES: usize = memory.data(ROLE_COUNT * 4, 4);
/** Turns of the longest conversation. */
export let maxTurns: u32 = 0;
export let maxLength: u32 = 0;

export function forgetCounts(): void {
  memory.fill(LENGTH_BINS, 0, LENGTH_BINS_COUNT * 4);
  memory.fill(FORMATS, 0, FORMAT_COUNT * 4);
  memory.fill(ROLES, 0, ROLE_COUNT * 4);
  maxTurns = 0;
  maxLength = 0;
}

function increment(table: usize, index: u32, by: u32): void {
  const counter = table + ((<usize>index) << 2);
  store<u32>(counter, load<u32>(counter) + by);
}

/** Counts a row of so many bytes. */
export function countLength(length: u32): void {
  increment(LENGTH_BINS, binOf(length), 1);
  maxLength = max(maxLength, length);
}

function binOf(length: u32): u32 {
  if (length < 32) return length;
  const octave = 31 - clz(length);
  return ((octave - 4) << 5) + ((length >> (octave - 5)) & 31);
}

/** Counts the shape of the object that was read last. */
export function countShape(): void {
  increment(FORMATS, format, 1);
  if (turns == 0) return;
  maxTurns = max(maxTurns, turns);
  for (let role = 0; role < ROLE_COUNT; role++)
    increment(ROLES, role, load<u32>(TURNS_BY_ROLE + ((<usize>role) << 2)));
}
