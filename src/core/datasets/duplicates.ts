/** How many rows are compared; with more, memory would not be bounded. */
export const MAX_COMPARED_ROWS = 8_000_000;
/** Comparisons between two checks for cancellation. */
const STEP = 4096;

/** Which rows have the hash of an earlier one. Rows count from 0, in the order of their hashes. */
export interface SameRows {
  total: number;
  /** Of the first of them: the row, and the first one with its hash. */
  pairs: [row: number, first: number][];
}

/**
 * Finds rows with the same hash. It has 64 bits: of eight million different rows, two have the same one in one of half a million
 * files.
 * @param hashes two numbers for each row
 * @param goesOn asked now and then; false ends the search
 */
export function findSameRows(hashes: Uint32Array, locatedLimit: number, goesOn: () => boolean): SameRows {
  const rows = hashes.length / 2;
  // Open addressing, two thirds full: a row and 1, or 0.
  const table = new Int32Array(Math.ceil(1.5 * rows));
  const found: SameRows = { total: 0, pairs: [] };
  let probes = 0;
  for (let row = 0; row < rows; row++) {
    const one = hashes[2 * row] ?? 0;
    const other = hashes[2 * row + 1];
    for (let slot = Math.trunc((one / 2 ** 32) * table.length); ; slot++) {
      if (slot === table.length) slot = 0;
      // Here and not at each row: a file can be made so that all its hashes begin alike.
      if (probes++ % STEP === 0 && !goesOn()) return found;
      const known = table[slot] ?? 0;
      if (known === 0) {
        table[slot] = row + 1;
        break;
      }
      if (hashes[2 * known - 2] !== one || hashes[2 * known - 1] !== other) continue;
      found.total++;
      if (found.pairs.length < locatedLimit) found.pairs.push([row, known - 1]);
      break;
    }
  }
  return found;
}
