import type { RowLengths } from './report.ts';

/** Lengths below are exact bins; above, each doubling has as many (`scanner/counts.ts`). */
const BINS_PER_OCTAVE = 32;
const FIRST_OCTAVE = 5;

/** What the scanner counted of the lengths of rows. */
export interface LengthCounts {
  bins: Uint32Array;
  minLength: number;
  maxLength: number;
  lengthSum: number;
}

/** Makes percentiles and a histogram of what was counted. */
export function rowLengths({ bins, minLength, maxLength, lengthSum }: LengthCounts): RowLengths {
  const rows = bins.reduce((sum, count) => sum + count, 0);
  if (rows === 0)
    return {
      minBytes: 0,
      maxBytes: 0,
      meanBytes: 0,
      percentiles: { p50: 0, p90: 0, p99: 0 },
      histogram: [],
    };
  const percentile = (share: number): number => {
    let left = Math.ceil(rows * share);
    const bin = bins.findIndex((count) => (left -= count) <= 0);
    return Math.min(binEnd(bin) - 1, maxLength);
  };
  return {
    minBytes: minLength,
    maxBytes: maxLength,
    meanBytes: lengthSum / rows,
    percentiles: { p50: percentile(0.5), p90: percentile(0.9), p99: percentile(0.99) },
    histogram: histogram(bins),
  };
}

/** The first length that is longer than those of a bin. */
function binEnd(bin: number): number {
  if (bin < BINS_PER_OCTAVE) return bin + 1;
  const octave = FIRST_OCTAVE - 1 + Math.floor(bin / BINS_PER_OCTAVE);
  return 2 ** octave + ((bin % BINS_PER_OCTAVE) + 1) * 2 ** (octave - FIRST_OCTAVE);
}

function histogram(bins: Uint32Array): RowLengths['histogram'] {
  const octaves: { fromBytes: number; toBytes: number; rows: number }[] = [];
  for (let first = 0; first < bins.length; first += BINS_PER_OCTAVE) {
    const rows = bins.subarray(first, first + BINS_PER_OCTAVE).reduce((sum, count) => sum + count, 0);
    const fromBytes = first === 0 ? 1 : binEnd(first - 1);
    octaves.push({ fromBytes, toBytes: binEnd(first + BINS_PER_OCTAVE - 1), rows });
  }
  const firstUsed = octaves.findIndex(({ rows }) => rows > 0);
  const lastUsed = octaves.findLastIndex(({ rows }) => rows > 0);
  return octaves.slice(firstUsed, lastUsed + 1);
}
