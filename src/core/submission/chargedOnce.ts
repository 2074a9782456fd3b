import { instantOf } from '../base/clock.ts';
import type { RunStore } from '../runs/runStore.ts';
import { hasMarker, mayHaveMarker } from '../runs/marker.ts';
import type { ChargedReceipt } from './intent.ts';
import { isFromThen, lastSendMs, MARGIN_MS } from './reconcilePolicy.ts';

type KnownRuns = Pick<RunStore, 'detail' | 'isCompleteSince' | 'label' | 'readAtMs' | 'rows'>;

/** Reading more details than these would take longer than their answer is worth. */
const MAX_DETAILS = 20;

/**
 * Whether the runs prove that a submission was charged once: every run from then was listed after the charge, and of their
 * labels, which the service keeps as they were sent, only that of its run has the marker.
 */
export function isChargedOnce(receipt: ChargedReceipt, runs: KnownRuns): boolean {
  const { attempts, marker, settled } = receipt;
  const firstMs = attempts[0]?.started.serviceMs;
  const isTimed = firstMs !== undefined && lastSendMs(receipt) !== undefined;
  if (marker === undefined || !isTimed || settled.furtherRuns !== undefined) return false;
  // The label that was sent is known as well; only the details say what the service kept of it.
  const isMarked = hasMarker(runs.detail(settled.run.run_id)?.label ?? '', marker);
  const isListed = runs.readAtMs >= settled.at.localMs && runs.isCompleteSince(firstMs - MARGIN_MS);
  const hasOtherLabel = (runId: string) => {
    const label = runs.label(runId) ?? (runs.detail(runId) && '');
    return label !== undefined && !mayHaveMarker(label, marker);
  };
  return isMarked && isListed && othersFrom(receipt, runs).every(hasOtherLabel);
}

/** Reads what `isChargedOnce` needs. @throws ApiError, KeyMissingError */
export async function readChargedOnce(
  receipt: ChargedReceipt,
  runs: KnownRuns & Pick<RunStore, 'loadDetail' | 'refresh'>,
): Promise<boolean> {
  const { at, run } = receipt.settled;
  const list = async () => {
    await runs.refresh();
    // It may have shared a read that began before the charge.
    if (runs.readAtMs < at.localMs) await runs.refresh();
  };
  const read = async (runId: string) => runs.detail(runId) ?? (await runs.loadDetail(runId));
  await Promise.all([list(), read(run.run_id)]);
  const unread = othersFrom(receipt, runs).filter((runId) => runs.label(runId) === undefined);
  if (unread.length > MAX_DETAILS) return false;
  await Promise.all(unread.map(read));
  return isChargedOnce(receipt, runs);
}

/** Returns the other runs that may be of the same submission by their time. */
function othersFrom(receipt: ChargedReceipt, { rows = [] }: KnownRuns): string[] {
  return rows
    .filter((row) => Number.isNaN(instantOf(row.created_at)) || isFromThen(receipt, row))
    .map(({ run_id }) => run_id)
    .filter((runId) => runId !== receipt.settled.run.run_id);
}
