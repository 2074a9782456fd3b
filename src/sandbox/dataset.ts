import { createHash } from 'node:crypto';
import { invalid } from './errors.ts';

/** How much of the first row is read to check it; of a longer row only the start is. */
const ROW_BYTES = 1024 * 1024;
const LINE_FEED = 0x0a;
const OPENING_BRACE = 0x7b;
const BLANKS: readonly number[] = [0x20, 0x09, 0x0d];

/** What remains of a dataset. */
export interface DatasetDigest {
  bytes: number;
  /** In hex. */
  sha256: string;
}

/**
 * Reads a dataset as it streams by, and keeps none of it: counts and hashes its bytes, and checks that the first row
 * that is not blank is a JSON object.
 */
export class DatasetReader {
  readonly #hash = createHash('sha256');
  #bytes = 0;
  /** What has come of the row to check; undefined as soon as that is done. */
  #row: Buffer[] | undefined = [];
  #rowBytes = 0;

  /** False when this chunk shows that the first row is no JSON object. */
  update(chunk: Buffer): boolean {
    this.#hash.update(chunk);
    this.#bytes += chunk.length;
    let rest = chunk;
    while (this.#row && rest.length > 0) {
      const lineFeed = rest.indexOf(LINE_FEED);
      const end = lineFeed < 0 ? rest.length : lineFeed;
      this.#row.push(rest.subarray(0, end));
      this.#rowBytes += end;
      rest = rest.subarray(end + 1);
      const whole = lineFeed >= 0;
      if ((whole || this.#rowBytes > ROW_BYTES) && !this.#checkRow(this.#row, whole)) return false;
    }
    return true;
  }

  /** @throws Refusal when the dataset has no row, or its only one is no JSON object. */
  end(): DatasetDigest {
    if (this.#row && !this.#checkRow(this.#row, true)) throw firstRowRefusal();
    if (this.#row) throw invalid('The dataset is empty.');
    return { bytes: this.#bytes, sha256: this.#hash.digest('hex') };
  }

  #checkRow(pieces: Buffer[], whole: boolean): boolean {
    const row = Buffer.concat(pieces);
    const start = row.findIndex((byte) => !BLANKS.includes(byte));
    // A blank row, or a megabyte of blanks: the next one counts.
    this.#row = start < 0 ? [] : undefined;
    this.#rowBytes = 0;
    return start < 0 || (whole ? isJsonObject(row) : row[start] === OPENING_BRACE);
  }
}

/** Says nothing of what the row holds: that is the person's data. */
export function firstRowRefusal() {
  return invalid("The dataset's first row is not a JSON object.");
}

function isJsonObject(row: Buffer): boolean {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(row));
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
