import { sequencer } from '../../core/base/async.ts';
import { isCharged } from '../../core/submission/submission.ts';
import type { Services } from '../../services.ts';
import { setting } from '../shared/settings.ts';

/** After this time, the file of a charge has probably changed. */
const RECENT_MS = 24 * 60 * 60_000;

interface Parts extends Pick<Services, 'log'> {
  fingerprints: Pick<Services['fingerprints'], 'keep' | 'removeAll'>;
  journal: Pick<Services['journal'], 'latest'>;
}

/**
 * Returns a function that keeps the fingerprints of recent charges, or removes all if the setting is off. It
 * never rejects, and nothing waits for it.
 */
export function rowsKeeper({ fingerprints, journal, log }: Parts): () => Promise<void> {
  const tried = new Set<string>();
  const inTurn = sequencer();
  const fails = (error: unknown) => log.error('rows-not-remembered', error);
  let isRemoved = false;
  const update = async (): Promise<void> => {
    if (!setting('rememberRows')) {
      if (!isRemoved) await fingerprints.removeAll();
      isRemoved = true;
      tried.clear();
      return;
    }
    isRemoved = false;
    const charged = journal.latest.filter(isCharged);
    const submitted = charged.map((one) => ({ ...one, submittedAtMs: one.created.localMs }));
    for (const one of submitted) {
      const isRecent = Date.now() - one.charge.at.localMs < RECENT_MS;
      // If the user turned it off meanwhile, the next update removes all.
      if (!isRecent || tried.has(one.id) || !setting('rememberRows')) continue;
      tried.add(one.id);
      await fingerprints.keep(one, submitted).catch(fails);
    }
  };
  return () => inTurn(update).catch(fails);
}
