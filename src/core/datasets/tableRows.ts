import { pipeline } from 'node:stream/promises';
import { CsvError, Parser } from 'csv-parse';
import { ConvertError, MAX_COLUMNS } from './convert.ts';
import { namesOf, type Table } from './table.ts';

/** No row that could be trained on is longer. It bounds the memory if a quote isn't closed. */
export const MAX_TABLE_ROW_BYTES = 8 * 1024 * 1024;
/** Lines are passed on together. */
const BATCH_UNITS = 64 * 1024;

/** Converts the rows of a table to lines of JSON, objects of strings. Rows without any text are left out. */
export class TableRows {
  readonly #parser: Parser;
  /** Rows that were converted, and rows with another number of values than the header, which are left out. */
  rows = 0;
  ragged = 0;
  #names: readonly string[] | undefined;

  constructor({ separator, isDeclared }: Table) {
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
    const convertAll = async (records: AsyncIterable<string[]>) => {
      let lines = '';
      for await (const record of records) {
        lines += this.#lineOf(record);
        if (lines.length < BATCH_UNITS) continue;
        write(Buffer.from(lines));
        lines = '';
      }
      write(Buffer.from(lines));
    };
    try {
      await pipeline(this.#bounded(chunks), this.#parser, convertAll);
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

  #lineOf(record: readonly string[]): string {
    if (this.#names === undefined) {
      if (record.length > MAX_COLUMNS) throw new ConvertError('too-many-columns');
      this.#names = namesOf(record).map(
        (name, column) => `${column === 0 ? '{' : ','}${JSON.stringify(name)}:`,
      );
      return '';
    }
    if (record.every((value) => value.trim() === '')) return '';
    if (record.length !== this.#names.length) {
      this.ragged += 1;
      return '';
    }
    this.rows += 1;
    let line = '';
    for (const [column, name] of this.#names.entries()) line += name + JSON.stringify(record[column]);
    return `${line}}\n`;
  }
}
