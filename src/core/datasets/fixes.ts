import type { ProblemCode } from './problems.ts';

/** Replaces a document from the start of a line on. Lines and UTF-16 units count from 0, as in an editor. */
export interface LineEdit {
  startLine: number;
  endLine: number;
  endCharacter: number;
  text: string;
}

/** Returns the new text of a line, or undefined to remove the line with its end. */
type Keep = (line: string, index: number) => string | undefined;

const BOM = '\uFEFF';

/** Splits a document into lines as an editor does. */
export function editorLines(text: string): string[] {
  return text.split(/\r\n|\r|\n/);
}

/** Whether a line is a blank row. Empty text after the last line end is not a row. */
function isBlankRow(lines: readonly string[], index: number): boolean {
  const line = lines[index];
  return line === '' ? index < lines.length - 1 : line !== undefined && /^[ \t]+$/.test(line);
}

export function removeBlankRows(lines: readonly string[]): LineEdit | undefined {
  return edited(lines, (line, index) => (isBlankRow(lines, index) ? undefined : line));
}

export function removeBlankRow(lines: readonly string[], index: number): LineEdit | undefined {
  return edited(lines, (line, other) => (other === index && isBlankRow(lines, index) ? undefined : line));
}

/** @param row its text when this was offered: lines may have moved since */
export function deleteRow(lines: readonly string[], at: number, row: string): LineEdit | undefined {
  return edited(lines, (line, index) => (index === at && line === row ? undefined : line));
}

/**
 * Removes rows that equal an earlier one in each UTF-16 unit. Rows with a replacement character stay: the file's
 * bytes may differ there. Removes nothing if a duplicate isn't an object: lines are then parts of larger values.
 */
export function removeDuplicateRows(lines: readonly string[]): LineEdit | undefined {
  const seen = new Set<string>();
  let otherLines = 0;
  const edit = edited(lines, (line, index) => {
    if (line.includes('\uFFFD') || isBlankRow(lines, index) || line === '') return line;
    if (seen.size < seen.add(line).size) return line;
    if (!isWholeRow(line)) otherLines += 1;
    return undefined;
  });
  return otherLines === 0 ? edit : undefined;
}

/** Whether a line is a complete row: not a part of one that has a lone CR, or of an indented value. */
export function isWholeRow(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line.startsWith(BOM) ? line.slice(BOM.length) : line);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** Whether a line can be deleted alone: a complete row, or a comment (JSON has none). */
export function isRowOrComment(line: string): boolean {
  return /^\s*(?:\/\/|#)/.test(line) || isWholeRow(line);
}

export function removeBom(lines: readonly string[], at: number, character: number): LineEdit | undefined {
  return edited(lines, (line, index) =>
    index === at && line[character] === BOM ? line.slice(0, character) + line.slice(character + 1) : line,
  );
}

/** Removes byte order marks at the start of rows; elsewhere one may belong to a text. */
export function removeRowBoms(lines: readonly string[]): LineEdit | undefined {
  return edited(lines, (line) => line.replace(/^\uFEFF+/, ''));
}

/** Problems with exactly one right repair of the row. Applied in this order, the repairs mend a row that has several. */
const REPAIRS = {
  'single-quote': (row) => (firstQuote(row) === "'" ? doubleQuoted(row) : row),
  // Only where JSON needs quotes: inside a text, typographic ones are right.
  'typographic-quotes': (row) =>
    firstQuote(row) === "'"
      ? row
      : changed(row, (outside) =>
          outside
            .replace(/([{[,:][ \t]*)[\u2018-\u201f]/g, '$1"')
            .replace(/[\u2018-\u201f](?=[ \t]*[:,}\]])/g, '"'),
        ),
  'control-character': (row) =>
    changed(row, undefined, (text) =>
      // After a backslash, it is part of another problem.
      text.replace(/\\[^]|[\0-\x1f]/g, (found) =>
        found.length === 1 ? JSON.stringify(found).slice(1, -1) : found,
      ),
    ),
  // If strings have single quotes, the comma may be inside one.
  'trailing-comma': (row) =>
    firstQuote(row) === "'" ? row : changed(row, (outside) => outside.replace(/,(?=[ \t]*[}\]])/g, '')),
  // An indented object with a comma is more likely an element of an array.
  'comma-after-object': (row) => (/^[ \t]/.test(row) ? row : row.trimEnd().replace(/,$/, '')),
} as const satisfies Partial<Record<ProblemCode, (row: string) => string>>;

export type RepairableCode = keyof typeof REPAIRS;

export function isRepairable(code: unknown): code is RepairableCode {
  return Object.hasOwn(REPAIRS, String(code));
}

/** Repairs one problem of a row. Undefined if nothing changes, or if the row wouldn't be an object even after all repairs. */
export function repaired(row: string, code: RepairableCode): string | undefined {
  const result = REPAIRS[code](row);
  return result !== row && allRepaired(result) !== undefined ? result : undefined;
}

/** Applies all repairs to a row, and removes a byte order mark. Undefined if the result isn't an object. */
export function allRepaired(row: string): string | undefined {
  const result = Object.values(REPAIRS).reduce((text, repair) => repair(text), row.replace(/^\uFEFF+/, ''));
  return isWholeRow(result) ? result : undefined;
}

export function repairRow(lines: readonly string[], at: number, code: RepairableCode): LineEdit | undefined {
  return edited(lines, (line, index) => (index === at ? repaired(line, code) : undefined) ?? line);
}

export function repairRows(lines: readonly string[], code: RepairableCode): LineEdit | undefined {
  return edited(lines, (line) => repaired(line, code) ?? line);
}

type Change = (text: string) => string;
const SAME: Change = (text) => text;

/** Returns the first quote outside of a row's strings that isn't a `"`. It shows which kind of quotes the row uses. */
function firstQuote(row: string): string | undefined {
  let found: string | undefined;
  const look: Change = (outside) => {
    found ??= /['\u2018-\u201f]/.exec(outside)?.[0];
    return outside;
  };
  if (/['\u2018-\u201f]/.test(row)) changed(row, look);
  return found;
}

/** Replaces the single quotes around strings, as Python writes them. */
function doubleQuoted(row: string): string {
  let result = '';
  for (let at = 0; at < row.length;) {
    const quote = row[at];
    const start = at++;
    if (quote === '"' || quote === "'") {
      for (; at < row.length && row[at] !== quote;) at += row[at] === '\\' ? 2 : 1;
      at += 1;
    }
    const part = row.slice(start, at);
    const text = part
      .slice(1, -1)
      .replace(/\\[^]|"/g, (one) => (one === "\\'" ? "'" : one === '"' ? '\\"' : one));
    result += quote === "'" ? `"${text}"` : part;
  }
  return result;
}

/** Changes a row outside of its strings, and its strings with their quotes. A regular expression could be slow here. */
function changed(row: string, outside: Change = SAME, inside: Change = SAME): string {
  let result = '';
  for (let at = 0; at < row.length;) {
    const quote = row.indexOf('"', at);
    const start = quote === -1 ? row.length : quote;
    result += outside(row.slice(at, start));
    for (at = start + 1; at < row.length && row[at] !== '"';) at += row[at] === '\\' ? 2 : 1;
    at += 1;
    result += inside(row.slice(start, at));
  }
  return result;
}

/** Returns one edit that spans all changes: editors are slow with thousands of edits. They convert line ends themselves. */
function edited(lines: readonly string[], keep: Keep): LineEdit | undefined {
  const kept = lines.map(keep);
  const startLine = kept.findIndex((line, index) => line !== lines[index]);
  if (startLine === -1) return undefined;
  const lastLine = kept.findLastIndex((line, index) => line !== lines[index]);
  // The document's last line has no line end to remove.
  const isLast = lastLine === lines.length - 1;
  const left = kept.slice(startLine, lastLine + 1);
  const text = left.flatMap((line, index) =>
    line === undefined ? [] : isLast && index === left.length - 1 ? [line] : [line, '\n'],
  );
  return {
    ...{ startLine, text: text.join('') },
    endLine: isLast ? lastLine : lastLine + 1,
    endCharacter: isLast ? (lines[lastLine]?.length ?? 0) : 0,
  };
}
