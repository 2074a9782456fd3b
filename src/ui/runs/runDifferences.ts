import { stat } from 'node:fs/promises';
import { sha256OfFile } from '../../core/api/dataset.ts';
import { isSameStamp, stampOf } from '../../core/base/fileStamp.ts';
import { chargedSince } from '../../core/submission/earlier.ts';
import type { ChargedReceipt, Receipt } from '../../core/submission/submission.ts';
import type { Services } from '../../services.ts';
import type { RowsSince } from './runPageFacts.ts';

type Fingerprints = Pick<Services['fingerprints'], 'between' | 'has' | 'since'>;

/** Compares the file of a run as it is now, unless this version is known. @throws if it can't be read or compared */
export async function rowsNow(
  { id, dataset: { path, sizeBytes, sha256 } }: ChargedReceipt,
  { now }: RowsSince,
  [fingerprints, signal]: [Fingerprints, AbortSignal],
): Promise<RowsSince['now']> {
  const file = { path, ...stampOf(await stat(path, { bigint: true })) };
  if (now !== undefined && isSameStamp(now.file, file)) return now;
  // A file that was only touched is the same.
  const isSame = file.sizeBytes === sizeBytes && (await sha256OfFile(file, signal)) === sha256;
  return { file, difference: isSame ? undefined : await fingerprints.since(id, file, signal) };
}

/** Compares the rows of a run with those of the run before, if that has other bytes. @throws if they can't be read */
export async function rowsBefore(
  { created, dataset, id, origin }: ChargedReceipt,
  receipts: readonly Receipt[],
  fingerprints: Fingerprints,
): Promise<RowsSince['before']> {
  for (const run of chargedSince(receipts, origin, dataset, created.localMs)) {
    if (!(await fingerprints.has(run.id))) continue;
    const difference = await fingerprints.between(run.id, id);
    return difference && { difference, run };
  }
  return undefined;
}
