import { pipeline } from 'node:stream/promises';
import { CsvError, Parser } from 'csv-parse';
import { ConvertError, MAX_COLUMNS } from './convert.ts';
import { valueIn } from './rowStage.ts';
import { namesOf, type Table } from './table.ts';

/** No row to train on is longer. The limit bounds the memory if a quote isn't closed. */
export const MAX_TABLE_ROW_BYTES = 8 * 1024 * 1024;

type Chunks = Iterable<Uint8Array>;
type Values = readonly string[];

/** What the columns of a table have. */
interface Columns {
  /** Returns a row as JSON. Values are strings, unless all values of the column are JSON objects or arrays. */
  jsonOf: (values: Values) => string;
  /** The first column with objects or arrays in Python's notation. */
  python: string | undefined;
  /** The first row; undefined if there is none. */
  first: unknown;
}

/** Thrown to stop reading. */
const ENOUGH = new Error('enough of the table was read');

/** Reads a table until it is known what each column has. Usually two rows are enough. */
export async function columnsOf(table: Table, chunks: Chunks): Promise<Columns> {
  let first: Values | undefined;
  let keys: Values = [];
  let python: string | undefined;
  const found: ('json' | 'text' | undefined)[] = [];
  const look = (values: Values, names: Values) => {
    first ??= values;
    keys = names;
    for (const [column, value] of values.entries()) {
      if (found[column] === 'text' || value.trim() === '') continue;
      found[column] = isJson(value) ? 'json' : 'text';
      if (/^\s*[[{].*'\w+'\s*:/s.test(value) && found[column] === 'text') python ??= names[column];
    }
    if (values.every((_, column) => found[column] === 'text')) throw ENOUGH;
  };
  await readTable(table, chunks, look).catch((error: unknown) => {
    if (error !== ENOUGH) throw error;
  });
  const starts = keys.map((name, column) => `${column === 0 ? '{' : ','}${JSON.stringify(name)}:`);
  const jsonOf = (values: Values) => {
    const valueAt = (column: number) => {
      const value = values[column] ?? '';
      if (found[column] !== 'json') return JSON.stringify(value);
      // Outside of strings, a line end in JSON is only white space.
      return value.trim() === '' ? 'null' : value.trim().replace(/[\r\n]+/g, ' ');
    };
    return `${starts.map((start, column) => start + valueAt(column)).join('')}}`;
  };
  return { jsonOf, python, first: first && (JSON.parse(jsonOf(first)) as unknown) };
}

function isJson(value: string): boolean {
  return /^\s*[[{]/.test(value) && valueIn(value) !== undefined;
}

/**
 * Calls `take` for each row that isn't blank and has as many values as the header, with the names of the columns.
 * @param chunks in UTF-8
 * @returns how many rows have more or fewer values
 * @throws ConvertError `quote`, `quote-not-closed`, `row-too-long`, `too-many-columns`
 */
export async function readTable(
  { separator, isDeclared }: Table,
  chunks: Chunks,
  take: (values: Values, names: Values) => void,
): Promise<number> {
  const parser = new Parser({
    delimiter: separator,
    record_delimiter: ['\r\n', '\n', '\r'],
    bom: true,
    from_line: isDeclared ? 2 : 1,
    skip_empty_lines: true,
    relax_column_count: true,
    // Values between tabs are often not quoted, so a quote inside a value is an ordinary character.
    relax_quotes: separator === '\t',
  });
  // The row that the parser is reading, as a spreadsheet counts rows.
  const rowNow = () => parser.info.records + parser.info.empty_lines + 1;
  function* bounded() {
    let [row, pendingBytes] = [0, 0];
    for (const chunk of chunks) {
      if (row !== rowNow()) pendingBytes = 0;
      row = rowNow();
      pendingBytes += chunk.length;
      if (pendingBytes > MAX_TABLE_ROW_BYTES) throw new ConvertError('row-too-long', { row });
      yield chunk;
    }
  }
  let names: Values | undefined;
  let ragged = 0;
  const takeAll = async (records: AsyncIterable<Values>) => {
    for await (const values of records)
      if (names === undefined) {
        if (values.length > MAX_COLUMNS) throw new ConvertError('too-many-columns');
        names = namesOf(values);
      } else if (values.some((value) => value.trim() !== '')) {
        if (values.length === names.length) take(values, names);
        else ragged += 1;
      }
  };
  try {
    await pipeline(bounded, parser, takeAll);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // Don't pass on its message: it contains values of the table.
    const isOpen = error.code === 'CSV_QUOTE_NOT_CLOSED';
    throw new ConvertError(isOpen ? 'quote-not-closed' : 'quote', { row: rowNow() });
  }
  return ragged;
}
