import { open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { isMissing } from '../base/diskError.ts';
import { syncDirectory } from '../base/folders.ts';
import { isClosed, type Attempt, type Intent } from './intent.ts';
import { withoutObservations } from './reconcilePolicy.ts';

/**
 * What was decided about an intent's next closing boundary. `closing`: it may be sent. `ended`: it never will be,
 * because the intent was refused, settled, or discarded.
 */
export type Decision = 'closing' | 'ended';

/** How many attempts of an intent sent their closing boundary or recorded that they may. */
export function closingsOf({ attempts }: Pick<Intent, 'attempts'>): number {
  return attempts.filter(isClosed).length;
}

/**
 * Returns the file whose exclusive creation decides about an intent's next closing boundary. A lease doesn't: it can
 * be lost without a trace, and then two windows own one intent.
 */
export function decisionFile(directory: string, { id, attempts }: Pick<Intent, 'id' | 'attempts'>): string {
  return path.join(directory, `${id}.${closingsOf({ attempts })}.closing`);
}

/**
 * Decides, durably.
 * @returns false if it was decided before
 * @throws file system errors; nothing is decided then, unless the file can't be removed either
 */
export async function decide(file: string, decision: Decision): Promise<boolean> {
  let handle;
  try {
    handle = await open(file, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
  try {
    try {
      await handle.writeFile(decision);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await syncDirectory(path.dirname(file));
    return true;
  } catch (error) {
    await rm(file, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** A file without a complete text counts as `closing`, which is safe: a check follows. */
export async function decisionOf(file: string): Promise<Decision | undefined> {
  try {
    return (await readFile(file, 'utf8')) === 'ended' ? 'ended' : 'closing';
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Returns what another window decided about an open intent, and could not write. */
export async function decisionAbout(directory: string, intent: Intent): Promise<Decision | undefined> {
  return intent.refused === undefined ? decisionOf(decisionFile(directory, intent)) : undefined;
}

/**
 * Returns an intent whose record lacks the mark of a closing boundary that may have been sent. If its last attempt has one,
 * its record is an old copy, or a window was killed while it decided: what is known of the earlier attempts proves nothing.
 */
export function withClosing(intent: Intent): Intent {
  // Without an attempt, a window was killed while it discarded the draft, or the record is the oldest copy.
  const last: Attempt = intent.attempts.at(-1) ?? { started: intent.created };
  if (!isClosed(last))
    return { ...intent, attempts: [...intent.attempts.slice(0, -1), { ...last, closed: last.started }] };
  const { started, closed } = last;
  return withoutObservations({ ...intent, attempts: [...intent.attempts, { started, closed }] });
}
