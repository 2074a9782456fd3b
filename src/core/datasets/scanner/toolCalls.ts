// The tool calls of a message: `tool_calls`, a list of objects, or `function_call`, one object. Only their arguments are read: they must
// be a JSON object, or a string with one.
import { isArgumentsName, isFunctionName } from './names';
import { isBlankText, skipBlank } from './strings';

@unmanaged
class Calls {
  isList: bool;
  /** Whether the last key is `function`, or `arguments`. */
  isFunction: bool;
  isArguments: bool;
  /** The depth of the object with the fields of a function, or 0. */
  depth: i32;
}
const calls = changetype<Calls>(memory.data(16, 16));

/** Begins the calls of a message. */
export function openCalls(isObject: bool): void {
  calls.isList = !isObject;
  calls.depth = isObject ? 4 : 0;
}

/** Handles the start of a container in them. */
export function openInCalls(depth: i32, isObject: bool): void {
  if (calls.isList && isObject && (depth == 5 || (calls.depth == 5 && calls.isFunction))) calls.depth = depth;
}

/** Handles the end of a container in them. */
export function closeInCalls(depth: i32): void {
  if (depth == calls.depth) calls.depth = depth - 1;
}

/** Handles a key of an object in them. */
export function keyInCalls(from: usize, to: usize): void {
  calls.isFunction = isFunctionName(from, to);
  calls.isArguments = isArgumentsName(from, to);
}

/** Whether a string is the arguments of a call, but can't be a JSON object. Only its first and last character are checked. */
export function isNoObject(depth: i32, from: usize, to: usize): bool {
  if (depth != calls.depth || !calls.isArguments) return false;
  const first = skipBlank(from, to);
  if (first == to) return false;
  let last = to - 1;
  while (last > first && load<u8>(last) != 0x7d) last--;
  return load<u8>(first) != 0x7b || last == first || !isBlankText(last + 1, to);
}
