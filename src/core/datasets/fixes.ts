/** Text that takes the place of a part of a document: lines and UTF-16 units from 0, as an editor counts. */
export interface LineEdit {
  startLine: number;
  startCharacter: number;
  endLine: number;
  endCharacter: number;
  text: string;
}

/** More edits than these become one that replaces everything from the first to the last: an editor is slow with many. */
const MAX_EDITS = 1_000;
const BOM = '\uFEFF';

/** The lines of a document's text, as an editor splits it. */
export function linesOf(text: string): string[] {
  return text.split(/\r\n|\r|\n/);
}

/** Whether a line is a blank row; what follows the last line end is none if it is empty. */
function isBlankRow(lines: readonly string[], index: number): boolean {
  const line = lines[index];
  return line === '' ? index < lines.length - 1 : line !== undefined && /^[ \t]+$/.test(line);
}

/** Removes every blank row. */
export function removeBlankRows(lines: readonly string[]): LineEdit[] {
  return deleteLines(lines, (_line, index) => isBlankRow(lines, index));
}

/** Removes one blank row with its line end. */
export function removeBlankRow(lines: readonly string[], index: number): LineEdit[] {
  return deleteLines(lines, (_line, other) => other === index && isBlankRow(lines, index));
}

/**
 * Removes rows that are the same as an earlier one, unit for unit, and keeps the first. Rows with a replacement character
 * stay: in its place the file may hold different bytes. Where a duplicate line is not an object by itself, lines are not rows, but
 * parts of larger ones: then nothing is removed.
 */
export function removeDuplicateRows(lines: readonly string[]): LineEdit[] {
  const seen = new Set<string>();
  let otherLines = 0;
  const edits = deleteLines(lines, (line, index) => {
    if (line.includes('\uFFFD') || isBlankRow(lines, index) || line === '') return false;
    if (!seen.has(line)) {
      seen.add(line);
      return false;
    }
    if (!isObject(line)) otherLines += 1;
    return true;
  });
  return otherLines === 0 ? edits : [];
}

function isObject(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line.startsWith(BOM) ? line.slice(BOM.length) : line);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** Removes the byte order mark at a place. */
export function removeBom(lines: readonly string[], line: number, character: number): LineEdit[] {
  return lines[line]?.[character] === BOM ? [deletion(line, character, line, character + 1)] : [];
}

/** Removes byte order marks from the beginnings of rows: elsewhere one may belong to a text. */
export function removeRowBoms(lines: readonly string[]): LineEdit[] {
  const edits: LineEdit[] = [];
  for (const [index, line] of lines.entries()) {
    const length = /^\uFEFF*/.exec(line)?.[0].length ?? 0;
    if (length > 0) edits.push(deletion(index, 0, index, length));
  }
  return few(lines, edits);
}

function deletion(
  startLine: number,
  startCharacter: number,
  endLine: number,
  endCharacter: number,
): LineEdit {
  return { startLine, startCharacter, endLine, endCharacter, text: '' };
}

/** Deletes lines with their ends, neighbours by one edit. */
function deleteLines(
  lines: readonly string[],
  isDeleted: (line: string, index: number) => boolean,
): LineEdit[] {
  const edits: LineEdit[] = [];
  let first = -1;
  for (let index = 0; index <= lines.length; index++) {
    const line = lines[index];
    if (line !== undefined && isDeleted(line, index)) {
      if (first === -1) first = index;
    } else if (first !== -1) {
      // After the last line there is no place.
      if (index < lines.length) edits.push(deletion(first, 0, index, 0));
      else edits.push(deletion(first, 0, index - 1, lines[index - 1]?.length ?? 0));
      first = -1;
    }
  }
  return few(lines, edits);
}

/** Joins too many edits into one. */
function few(lines: readonly string[], edits: LineEdit[]): LineEdit[] {
  const first = edits[0];
  const last = edits.at(-1);
  if (first === undefined || last === undefined || edits.length <= MAX_EDITS) return edits;
  // What is between two edits stays, line by line: the editor converts line endings.
  const left: string[] = [];
  let from = first;
  for (const edit of edits.slice(1)) {
    const between = lines.slice(from.endLine, edit.startLine + 1);
    between[between.length - 1] = between.at(-1)?.slice(0, edit.startCharacter) ?? '';
    between[0] = between[0]?.slice(from.endCharacter) ?? '';
    left.push(between.join('\n'));
    from = edit;
  }
  const { startLine, startCharacter } = first;
  const { endLine, endCharacter } = last;
  return [{ startLine, startCharacter, endLine, endCharacter, text: left.join('') }];
}
