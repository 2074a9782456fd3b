import { firstByte, hasByteOrderMark, lastByte } from './fileKind.ts';
import type { Report } from './report.ts';

const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/**
 * Whether a file is one JSON array instead of rows: it begins and ends like one, and its rows are not arrays of their own.
 * @param start its first bytes
 * @param end its last bytes
 */
export function isJsonArray(report: Report, start: Uint8Array, end: Uint8Array): boolean {
  const text = hasByteOrderMark(start) ? start.subarray(3) : start;
  if (firstByte(text) !== OPEN_BRACKET || lastByte(end) !== CLOSE_BRACKET) return false;
  const isOneRow = report.rows - report.blankRows === 1;
  const firstError = Math.min(
    ...report.problems
      .filter((group) => group.class === 'grammar' && group.located > 0)
      .map((group) => group.at(0).row),
  );
  return isOneRow ? firstError === Infinity : firstError <= report.blankRows + 1;
}
