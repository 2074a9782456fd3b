import { lstat } from 'node:fs/promises';
import path from 'node:path';
import { isSystemError } from '../base/diskError.ts';
import { isDuplicate, type Intent } from './intent.ts';
import type { Hint } from './submissionHints.ts';

/** A journal file whose content is not known. It may be an open submission. */
export interface UnreadRecord {
  /** The ID of its submission, or any other name of a foreign file. */
  id: string;
  file: string;
  /** The file's name and, if it can be read, its identity and version. Consent to a record covers this stamp only. */
  stamp: string;
  /**
   * `damaged`: it contains no intent. `unreadable`: its permissions or the disk prevent reading. `busy`: another
   * program is using it. `owned`: a window owns the submission, and knows what becomes of it.
   */
  state: 'damaged' | 'unreadable' | 'busy' | 'owned';
  /** Why it could not be read; undefined if it was, but contains no intent. */
  cause: unknown;
  /** What `state.sqlite` knows of the submission. */
  hint: Hint | undefined;
}

/**
 * How another program's use of a file shows. Without EPERM and EACCES, which Windows also reports for the moment
 * in which a file is deleted: they usually last, and consent to such a file could never be used.
 */
const BUSY: ReadonlySet<string> = new Set(['EBUSY', 'EAGAIN', 'ETXTBSY', 'EMFILE', 'ENFILE']);

export function isBusyFile(error: unknown): boolean {
  return isSystemError(error) && BUSY.has(error.code ?? '');
}

/** Changes whenever a file is written or replaced. Never rejects. */
export async function stampOf(file: string): Promise<string> {
  const stats = await lstat(file, { bigint: true }).catch(() => undefined);
  const version = stats && [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs];
  return [path.basename(file), ...(version ?? [])].join(':');
}

/** Whether it will probably be readable soon: better to wait than to ask. */
export function isHeld({ state }: UnreadRecord): boolean {
  return state === 'busy' || state === 'owned';
}

/**
 * Whether a record prevents a new intent: it may be open for the same bytes, model, and service.
 * @param known what the user agreed to: IDs of submissions of other accounts, and stamps of unread records
 */
export function prevents(
  record: UnreadRecord,
  intent: Intent,
  { duplicates = [], unread = [] }: { duplicates?: readonly string[]; unread?: readonly string[] },
): boolean {
  const { hint, id, stamp } = record;
  if (hint === undefined) return isHeld(record) || !unread.includes(stamp);
  return isDuplicate(hint, intent) && (hint.accountId === intent.accountId || !duplicates.includes(id));
}
