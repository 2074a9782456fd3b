// Where the strings of the row's fields are.
import { MAX_FIELDS } from './codes';

/** For each field: where its string begins (or 0) and ends, each a u32. */
const FIELDS: usize = memory.data(MAX_FIELDS * 8, 8);

/** Returns the entry of a field. */
export function textIn(field: i32): usize {
  return FIELDS + ((<usize>field) << 3);
}

/** Begins the value of a field. If a field occurs twice, the last value counts. */
export function beginFieldText(field: i32): void {
  store<u64>(textIn(field), 0);
}

/** Takes the string that was read last as the value of a field. */
export function takeText(field: i32, from: usize, to: usize): void {
  store<u32>(textIn(field), <u32>from);
  store<u32>(textIn(field), <u32>to, 4);
}

/** Gives a field the string of another one. */
export function moveText(from: i32, to: i32): void {
  store<u64>(textIn(to), load<u64>(textIn(from)));
}
