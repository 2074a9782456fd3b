import { randomUUID } from 'node:crypto';
import type { Codec } from '../../../src/core/storage/versions.ts';

/** A record of the tests of versions. */
export interface Entry {
  format: number;
  id: string;
  /** Different in each version. */
  nonce: string;
  /** The nonce of the version that it was appended to; empty in version 1. */
  below: string;
  isOver: boolean;
  /** Whether its last bytes may have left. */
  isSent: boolean;
}

/** The `bytes` of the two datasets. */
export const [BYTES, OTHER_BYTES] = ['a'.repeat(32), 'b'.repeat(32)] as const;

/** The format that these tests write. A higher one is a later one. */
export const ENTRY_FORMAT = 1;

export function newEntry(below?: Entry, change: Partial<Entry> = {}): Entry {
  const { id = randomUUID(), nonce = '', isSent = false } = below ?? {};
  return { format: ENTRY_FORMAT, id, nonce: randomUUID(), below: nonce, isOver: false, isSent, ...change };
}

export const ENTRY_CODEC: Codec<Entry> = {
  parse: (text) => {
    try {
      const entry = JSON.parse(text) as Entry;
      if (typeof entry.nonce !== 'string') return undefined;
      if (entry.format > ENTRY_FORMAT) return entry.isOver ? 'ended' : undefined;
      return entry;
    } catch {
      return undefined;
    }
  },
  // About as long as a submission.
  format: (entry) => `${JSON.stringify({ ...entry, fill: 'x'.repeat(1500) })}\n`,
  isOver: ({ isOver }) => isOver,
};
