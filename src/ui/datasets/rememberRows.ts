import { sequencer } from '../../core/base/async.ts';
import { isCharged, isSettled, type ChargedReceipt } from '../../core/submission/intent.ts';
import type { Services } from '../../services.ts';
import { setting } from '../shared/settings.ts';

/** After this time a charge is old, and its file most likely another one. */
const RECENT_MS = 24 * 60 * 60_000;

interface RowsParts extends Pick<Services, 'log'> {
  fingerprints: Pick<Services['fingerprints'], 'keep' | 'removeAll'>;
  journal: Pick<Services['journal'], 'latest'>;
}

/**
 * Returns what keeps the fingerprints of recent charges, once for each in this window, or removes all if the user wants none.
 * It never rejects, and nothing waits for it.
 */
export function rowsKeeper({ fingerprints, journal, log }: RowsParts): () => Promise<void> {
  const tried = new Set<string>();
  const inTurn = sequencer();
  let isRemoved = false;
  const update = async (): Promise<void> => {
    if (!setting('rememberRows')) {
      if (!isRemoved) await fingerprints.removeAll();
      isRemoved = true;
      tried.clear();
      return;
    }
    isRemoved = false;
    const charged = journal.latest.filter(isSettled).filter(isCharged);
    for (const receipt of charged.filter(isRecent)) {
      // If the user turned it off meanwhile, the next update removes all.
      if (tried.has(receipt.id) || !setting('rememberRows')) continue;
      tried.add(receipt.id);
      await fingerprints
        .keep(submitted(receipt), charged.map(submitted))
        .catch((error: unknown) => log.error('rows-not-remembered', error));
    }
  };
  return () => inTurn(update).catch((error: unknown) => log.error('rows-not-removed', error));
}

function isRecent({ settled }: ChargedReceipt): boolean {
  return Date.now() - settled.at.localMs < RECENT_MS;
}

function submitted({ id, dataset, created }: ChargedReceipt) {
  return { id, dataset, submittedAtMs: created.localMs };
}
