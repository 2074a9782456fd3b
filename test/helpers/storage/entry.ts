import { randomUUID } from 'node:crypto';
import type { Codec } from '../../../src/core/storage/versions.ts';

/** A record of the tests of versions. */
export interface Entry {
  format: number;
  id: string;
  /** Unlike that of any other version. */
  nonce: string;
  /** The nonce of the version that it was appended to; empty in version 1. */
  below: string;
  isSettled: boolean;
  /** The highest version was damaged. */
  isDoubtful?: true;
}

/** IDs of records. */
export const IDS = [1, 2, 3].map((number) => `00000000-0000-4000-8000-00000000000${number}`);

/** The format that these tests write; a higher one is later. */
export const ENTRY_FORMAT = 1;

export function newEntry(id: string, below?: Entry, isSettled = false): Entry {
  return { format: ENTRY_FORMAT, id, nonce: randomUUID(), below: below?.nonce ?? '', isSettled };
}

export const ENTRY_CODEC: Codec<Entry> = {
  parse: (text, id) => {
    try {
      const entry = JSON.parse(text) as Entry;
      return entry.id === id && typeof entry.nonce === 'string' ? entry : undefined;
    } catch {
      return undefined;
    }
  },
  // About as long as a submission.
  format: (entry) => `${JSON.stringify({ ...entry, fill: 'x'.repeat(1500) })}\n`,
  isSettled: ({ isSettled }) => isSettled,
  afterDamage: (below) => (below.isSettled ? below : { ...below, isDoubtful: true }),
};
