import { holdOutBeside } from '../../core/answers/filesBeside.ts';
import { CancelledError } from '../../core/base/errors.ts';
import type { DatasetFile } from '../../core/datasets/fileKind.ts';
import type { Fingerprints } from '../../core/datasets/fingerprints.ts';
import type { Log } from './log.ts';

/** A hold-out, and how many rows of its dataset have prompts that are also there. */
export interface HeldOut {
  path: string;
  rows: number;
}

/**
 * Counts the rows of a dataset that are also in the hold-out beside it. Undefined if it has none, and after a failure, which is
 * logged.
 * @param inside returns undefined for a hold-out that may not be read
 * @throws CancelledError
 */
export async function heldOutOf(
  file: DatasetFile,
  { fingerprints, log }: { fingerprints: Pick<Fingerprints, 'alsoIn'>; log: Pick<Log, 'error'> },
  signal: AbortSignal,
  inside = (holdOut: string): Promise<string | undefined> => Promise.resolve(holdOut),
): Promise<HeldOut | undefined> {
  const holdOut = await holdOutBeside(file.path);
  if (holdOut === undefined || holdOut === file.path || !(await inside(holdOut))) return undefined;
  try {
    return { path: holdOut, rows: await fingerprints.alsoIn(holdOut, file, signal) };
  } catch (error) {
    if (error instanceof CancelledError) throw error;
    log.error('hold-out', error);
    return undefined;
  }
}
