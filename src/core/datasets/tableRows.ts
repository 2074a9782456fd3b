import { pipeline } from 'node:stream/promises';
import { CsvError, Parser } from 'csv-parse';
import { ConvertError, MAX_COLUMNS } from './convert.ts';
import { namesOf, type Table } from './table.ts';

/** No row that could be trained on is longer. It bounds the memory if a quote isn't closed. */
export const MAX_TABLE_ROW_BYTES = 8 * 1024 * 1024;
/** Lines are passed on together. */
const BATCH_UNITS = 64 * 1024;

/** What is known of a table once it was read, as far as needed. */
interface Columns {
  /** Of each column, whether all its values are JSON objects or arrays; empty ones don't count. */
  areJson: readonly boolean[];
  /** The first column with such values in Python's notation. */
  python: string | undefined;
  /** The first row; undefined if there is none. */
  first: unknown;
}

/** Thrown to read no further. */
const ENOUGH = new Error('enough of the table was read');

/** Reads a table to see what its values are: most often, two rows are enough. */
export async function columnsOf(table: Table, chunks: Iterable<Uint8Array>): Promise<Columns> {
  const rows = new TableRows(table);
  let first: readonly string[] | undefined;
  const found: ('json' | 'text' | undefined)[] = [];
  let python: string | undefined;
  const look = (record: readonly string[]) => {
    first ??= record;
    for (const [column, value] of record.entries()) {
      if (found[column] === 'text' || value.trim() === '') continue;
      found[column] = isJson(value) ? 'json' : 'text';
      if (found[column] === 'text' && /^\s*[[{].*'\w+'\s*:/s.test(value)) python ??= rows.names?.[column];
    }
    if (record.every((_, column) => found[column] === 'text')) throw ENOUGH;
  };
  try {
    await rows.read(chunks, look);
  } catch (error) {
    if (error !== ENOUGH) throw error;
  }
  const { names = [] } = rows;
  const areJson = names.map((_, column) => found[column] === 'json');
  const values = first?.map((value, column) =>
    areJson[column] === true ? (JSON.parse(value || 'null') as unknown) : value,
  );
  return {
    areJson,
    python,
    first: values && Object.fromEntries(names.map((name, column) => [name, values[column]])),
  };
}

function isJson(value: string): boolean {
  if (!/^\s*[[{]/.test(value)) return false;
  try {
    return typeof JSON.parse(value) === 'object';
  } catch {
    return false;
  }
}

/** Converts the rows of a table to lines of JSON, objects of strings. Rows without any text are left out. */
export class TableRows {
  readonly #parser: Parser;
  readonly #areJson: readonly boolean[];
  /** Rows with another number of values than the header, which are left out. */
  ragged = 0;
  names: readonly string[] | undefined;
  #keys: readonly string[] | undefined;

  /** @param areJson of each column, whether its values are written as JSON */
  constructor({ separator, isDeclared }: Table, areJson: readonly boolean[] = []) {
    this.#areJson = areJson;
    this.#parser = new Parser({
      delimiter: separator,
      record_delimiter: ['\r\n', '\n', '\r'],
      bom: true,
      from_line: isDeclared ? 2 : 1,
      skip_empty_lines: true,
      relax_column_count: true,
      // Values between tabs are often written without quoting, so a quote inside of one is a character.
      relax_quotes: separator === '\t',
    });
  }

  /**
   * @param chunks in UTF-8
   * @throws ConvertError `quote`, `quote-not-closed`, `row-too-long`, `too-many-columns`
   */
  async convert(chunks: Iterable<Uint8Array>, write: (lines: Uint8Array) => void): Promise<void> {
    let lines = '';
    const flush = () => {
      write(Buffer.from(lines));
      lines = '';
    };
    await this.read(chunks, (record) => {
      lines += this.lineOf(record);
      if (lines.length >= BATCH_UNITS) flush();
    });
    flush();
  }

  /** Passes on each row that has text and as many values as the header. */
  async read(chunks: Iterable<Uint8Array>, take: (record: readonly string[]) => void): Promise<void> {
    const takeAll = async (records: AsyncIterable<string[]>) => {
      for await (const record of records) if (this.#isRow(record)) take(record);
    };
    try {
      await pipeline(this.#bounded(chunks), this.#parser, takeAll);
    } catch (error) {
      if (!(error instanceof CsvError)) throw error;
      // Its message contains values of the table.
      const isOpen = error.code === 'CSV_QUOTE_NOT_CLOSED';
      throw new ConvertError(isOpen ? 'quote-not-closed' : 'quote', this.#row);
    }
  }

  *#bounded(chunks: Iterable<Uint8Array>): Generator<Uint8Array> {
    let row = 0;
    let pendingBytes = 0;
    for (const chunk of chunks) {
      if (row !== this.#row) pendingBytes = 0;
      row = this.#row;
      pendingBytes += chunk.length;
      if (pendingBytes > MAX_TABLE_ROW_BYTES) throw new ConvertError('row-too-long', row);
      yield chunk;
    }
  }

  /** The row that the parser reads now, as a spreadsheet counts them. */
  get #row(): number {
    const { records, empty_lines } = this.#parser.info;
    return records + empty_lines + 1;
  }

  #isRow(record: readonly string[]): boolean {
    if (this.names === undefined) {
      if (record.length > MAX_COLUMNS) throw new ConvertError('too-many-columns');
      this.names = namesOf(record);
      return false;
    }
    if (record.every((value) => value.trim() === '')) return false;
    if (record.length === this.names.length) return true;
    this.ragged += 1;
    return false;
  }

  lineOf(record: readonly string[]): string {
    this.#keys ??= this.names?.map((name) => `${JSON.stringify(name)}:`) ?? [];
    let line = '';
    for (const [column, key] of this.#keys.entries()) {
      const value = record[column] ?? '';
      line += `${column === 0 ? '{' : ','}${key}${this.#areJson[column] === true ? jsonIn(value) : JSON.stringify(value)}`;
    }
    return `${line}}\n`;
  }
}

/** Line ends of JSON aren't in its texts. */
function jsonIn(value: string): string {
  return value.trim() === '' ? 'null' : value.trim().replace(/[\r\n]+/g, ' ');
}
