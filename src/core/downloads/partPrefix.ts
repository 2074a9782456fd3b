import { createHash, type Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { throwIfCancelled } from '../base/errors.ts';
import type { Mark } from './sidecar.ts';

const READ_BYTES = 1024 * 1024;
/** Hexadecimal digits of SHA-256 that a mark holds. */
const DIGEST_LENGTH = 32;

/** The bytes of a file from the first on that are known, and their hash, to be gone on with. */
export interface Prefix {
  bytes: number;
  hash: Hash;
}

/** The mark behind what was hashed so far. */
export function markOf(hash: Hash, bytes: number): Mark {
  return { bytes, digest: hash.copy().digest('hex').slice(0, DIGEST_LENGTH) };
}

/**
 * Reads a file up to the last mark that it holds, with all those before it. Undefined where it does not hold the first.
 * @throws CancelledError, and what the file system says
 */
export async function readPrefix(
  handle: FileHandle,
  marks: readonly Mark[],
  signal: AbortSignal,
): Promise<Prefix | undefined> {
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
  const hash = createHash('sha256');
  let known: Prefix | undefined = marks.length === 0 ? { bytes: 0, hash: hash.copy() } : undefined;
  let position = 0;
  for (const mark of marks) {
    while (position < mark.bytes) {
      throwIfCancelled(signal);
      const length = Math.min(READ_BYTES, mark.bytes - position);
      const { bytesRead } = await handle.read(buffer, 0, length, position);
      if (bytesRead === 0) return known;
      hash.update(buffer.subarray(0, bytesRead));
      position += bytesRead;
    }
    if (markOf(hash, position).digest !== mark.digest) return known;
    known = { bytes: position, hash: hash.copy() };
  }
  return known;
}
