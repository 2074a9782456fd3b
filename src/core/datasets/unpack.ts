import { hasFormat, isField, isRow } from './otherForms.ts';
import { isFields, isRequestRow, type Fields } from './requestShapes.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MAX_NAME_BYTES = 200;

/** A list of objects, or of lists, in the only object of a file: its name, and the place of its bracket. */
interface Part {
  name: string;
  offset: number;
}

/** Returns the lists in an object that is all there is in a file; undefined if there is more, or it doesn't end. */
export function partsOf(chunks: Iterable<Uint8Array>): Part[] | undefined {
  const parts: Part[] = [];
  let [depth, offset, bracket] = [0, 0, -1];
  let [inString, isEscaped, isName, isEnd] = [false, false, false, false];
  let name: number[] = [];
  for (const chunk of chunks)
    for (const byte of chunk) {
      const at = offset++;
      if (inString) {
        inString = isEscaped || byte !== QUOTE;
        isEscaped = !isEscaped && byte === BACKSLASH;
        if (isName && inString && name.length < MAX_NAME_BYTES) name.push(byte);
        continue;
      }
      // White space, and a byte order mark.
      if (byte <= 0x20 || (at < 3 && byte > 0x7f)) continue;
      if (isEnd) return undefined;
      const char = String.fromCharCode(byte);
      if (bracket !== -1 && (char === '{' || char === '['))
        parts.push({ name: textOfName(name), offset: bracket });
      bracket = depth === 1 && char === '[' ? at : -1;
      if (char === '{' || char === '[') depth += 1;
      else if (char === '}' || char === ']') isEnd = --depth === 0;
      else if (byte === QUOTE) {
        inString = true;
        if (isName) name = [];
      }
      if (depth === 1 && byte !== QUOTE) isName = char === '{' || char === ',';
      else if (depth !== 1) isName = false;
    }
  return isEnd ? parts : undefined;
}

function textOfName(bytes: readonly number[]): string {
  const text = Buffer.from(bytes).toString();
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text;
  }
}

/** Returns the rows in an object that is itself no row: columns, or rows with their numbers. `row`: it is one. */
export function rowsIn(value: Fields): 'row' | Fields[] | undefined {
  if (isRow(value) || isRequestRow(value)) return 'row';
  const fields = Object.entries(value);
  const rows = fields.map(([, one]) => one);
  if (rows.length > 0 && rows.every(isRow)) return rows as Fields[];
  const columns = fields.map(([name, column]) => [name, valuesOf(column)] as const);
  const length = columns[0]?.[1]?.length ?? 0;
  const isWhole = length > 0 && columns.every(([, values]) => values?.length === length);
  // Lists of objects are columns only beside one of training.
  const areData = columns.every(([, values]) =>
    values?.every((one) => !isFields(one) && !Array.isArray(one)),
  );
  if (
    !isWhole ||
    !(areData || columns.some(([name, values]) => isField(name) && values?.some(isFields) === false))
  )
    return hasFormat(value) && !rows.flat().some(isRow) ? 'row' : undefined;
  return Array.from({ length }, (_, at) =>
    Object.fromEntries(columns.map(([name, values]) => [name, values?.[at]])),
  );
}

function valuesOf(column: unknown): unknown[] | undefined {
  return Array.isArray(column) || isFields(column) ? Object.values(column) : undefined;
}
