import { FIELDS } from './formats.ts';

/** How a table separates values. */
export interface Table {
  separator: string;
  /** Whether the first line names the separator, as spreadsheets do: `sep=;`. */
  isDeclared: boolean;
}

const SEPARATORS = [',', ';', '\t'] as const;
const NAME = /^[\p{L}_][\p{L}\p{N}_ .-]{0,40}$/u;
/** Fields of the training formats, and fields that can be beside them. */
const NAMES: ReadonlySet<string> = new Set([...FIELDS, 'system', 'history']);

/**
 * Recognizes a table by its beginning: a header and a row with as many values (RFC 4180), or a line that names the separator.
 * @param extension with `.csv` or `.tsv`, any text is a table
 */
export function tableOf(text: string, extension: string): Table | undefined {
  const declared = /^sep=([,;\t|])[\r\n]/i.exec(text)?.[1];
  if (declared !== undefined) return { separator: declared, isDeclared: true };
  // Quoted values may contain separators and line ends.
  const [names = '', values = ''] = text.replace(/"(?:[^"]|"")*"/g, 'quoted').split(/\r\n|\r|\n/);
  const columns = (line: string, separator: string) => line.split(separator).length;
  const likely = SEPARATORS.filter((one) => columns(names, one) > 1).toSorted(
    (one, other) => columns(names, other) - columns(names, one),
  );
  const isNamed = /^\.(csv|tsv)$/i.test(extension);
  const found = likely.find(
    (one) => columns(names, one) === columns(values, one) && (isNamed || areNames(names.split(one))),
  );
  if (found !== undefined) return { separator: found, isDeclared: false };
  if (!isNamed) return undefined;
  return { separator: /^\.tsv$/i.test(extension) ? '\t' : (likely[0] ?? ','), isDeclared: false };
}

/** Whether these may be the names in a header. Beside the name of a training field, others may be blank. */
function areNames(fields: readonly string[]): boolean {
  const isOfTraining = fields.some((field) => NAMES.has(fold(field)));
  return fields.every((field) => NAME.test(isOfTraining ? field.trim() || 'blank' : field));
}

/** With both of these columns, each row is a message. */
const OF_MESSAGE: readonly string[] = ['role', 'content'];

/** Returns unique names for the columns. Names of training fields are spelled as trainers expect; others are unchanged. */
export function namesOf(header: readonly string[]): string[] {
  const names = new Set<string>();
  const areMessages = OF_MESSAGE.every((name) => header.some((text) => fold(text) === name));
  for (const [column, text] of header.entries()) {
    const folded = fold(text);
    const isKnown = NAMES.has(folded) || (areMessages && OF_MESSAGE.includes(folded));
    let name = isKnown ? folded : text;
    if (folded === '' || names.has(name)) name = `${folded === '' ? 'column' : name}_${column + 1}`;
    while (names.has(name)) name += '_';
    names.add(name);
  }
  return [...names];
}

function fold(name: string): string {
  return name.trim().toLowerCase();
}
