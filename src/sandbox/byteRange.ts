/** A range of bytes, both ends included. */
interface ByteRange {
  first: number;
  last: number;
}

/**
 * Reads a Range header of one range against a body of `length` bytes (RFC 9110, 14.2): `unsatisfiable` is answered
 * 416; undefined means that the header is absent or not understood, and is ignored.
 */
export function parseRange(
  header: string | undefined,
  length: number,
): ByteRange | 'unsatisfiable' | undefined {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(header ?? '') ?? [];
  if (!from && !to) return undefined;
  // "-500" means the last 500 bytes.
  const first = from ? Number(from) : Math.max(0, length - Number(to));
  const last = from && to ? Math.min(Number(to), length - 1) : length - 1;
  if (from && to && Number(to) < first) return undefined;
  return first > last ? 'unsatisfiable' : { first, last };
}
