// The tool calls of a message: `tool_calls`, a list of objects with a function or with its fields, or `function_call`, one
// object with them. Only their arguments are read: a JSON object, or a string of one.
import { isArgumentsName, isFunctionName } from './names';
import { isBlank, skipBlank } from './strings';

let isList: bool = false;
/** The depth of the object that has the fields of a function, or 0. */
let callDepth: i32 = 0;
let isFunction: bool = false;
let isArguments: bool = false;

/** Begins the calls of a message. */
export function openCalls(isObject: bool): void {
  isList = !isObject;
  callDepth = isObject ? 4 : 0;
  isFunction = isArguments = false;
}

/** Handles the start of a container in them. */
export function openInCalls(depth: i32, isObject: bool): void {
  if (isList && isObject && (depth == 5 || (callDepth == 5 && isFunction))) callDepth = depth;
}

/** Handles the end of a container in them. */
export function closeInCalls(depth: i32): void {
  if (depth == callDepth) callDepth = depth - 1;
}

/** Handles a key of an object in them. */
export function keyInCalls(from: usize, to: usize): void {
  isFunction = isFunctionName(from, to);
  isArguments = isArgumentsName(from, to);
}

/** Whether a string in them is a call's arguments, but can't be a JSON object. It isn't read as JSON. */
export function isNoObject(depth: i32, from: usize, to: usize): bool {
  if (depth != callDepth || !isArguments) return false;
  const first = skipBlank(from, to);
  if (first == to) return false;
  let last = to - 1;
  while (last > first && load<u8>(last) != 0x7d) last--;
  return load<u8>(first) != 0x7b || last == first || !isBlank(last + 1, to);
}
