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
export function isBlankRow(lines: readonly string[], index: number): boolean {
  const line = lines[index];
  return line === '' ? index < lines.length - 1 : line !== undefined && /^[ \t]+$/.test(line);
}

/** Removes every blank row. */
export function removeBlankRows(lines: readonly string[]): LineEdit[] {
  return deleteLines(lines, (_line, index) => isBlankRow(lines, index));
}

/** Removes one line with its end. */
export function removeLine(lines: readonly string[], index: number): LineEdit[] {
  return deleteLines(lines, (_line, other) => other === index);
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

/** Removes byte order marks from the beginnings of rows: elsewhere one may belong to a text. */
export function removeRowBoms(lines: readonly string[]): LineEdit[] {
  const edits: LineEdit[] = [];
  for (const [index, line] of lines.entries()) {
    const length = bomsAtStart(line);
    if (length > 0)
      edits.push({ startLine: index, startCharacter: 0, endLine: index, endCharacter: length, text: '' });
  }
  return few(lines, edits);
}

function bomsAtStart(line: string): number {
  let length = 0;
  while (line.startsWith(BOM, length)) length += 1;
  return length;
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
      const isLast = index === lines.length;
      edits.push({
        startLine: first,
        startCharacter: 0,
        endLine: isLast ? index - 1 : index,
        endCharacter: isLast ? (lines[index - 1]?.length ?? 0) : 0,
        text: '',
      });
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
  const between: string[] = [];
  let from = first;
  for (const edit of edits) {
    if (edit !== first) between.push(textBetween(lines, from, edit));
    from = edit;
  }
  const { startLine, startCharacter } = first;
  const { endLine, endCharacter } = last;
  return [{ startLine, startCharacter, endLine, endCharacter, text: between.join('') }];
}

/** The text after one edit and before the next; the editor converts line endings. */
function textBetween(lines: readonly string[], before: LineEdit, after: LineEdit): string {
  if (before.endLine === after.startLine)
    return (lines[before.endLine] ?? '').slice(before.endCharacter, after.startCharacter);
  return [
    (lines[before.endLine] ?? '').slice(before.endCharacter),
    ...lines.slice(before.endLine + 1, after.startLine),
    (lines[after.startLine] ?? '').slice(0, after.startCharacter),
  ].join('\n');
}
