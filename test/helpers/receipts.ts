import { randomUUID } from 'node:crypto';
import type { ChargedReceipt, Intent } from '../../src/core/submission/intent.ts';
import { intentOf } from './submissions.ts';

/** Values of a charged receipt; all others are those of `intentOf`. */
export interface ReceiptOptions extends Partial<Omit<Intent, 'dataset' | 'created'>> {
  atMs?: number;
  dataset?: Partial<Intent['dataset']>;
  run?: Partial<ChargedReceipt['settled']['run']>;
}

/** Creates a receipt of a 5.00 USD charge. */
export function chargedReceipt({ atMs = 0, dataset, run, ...changes }: ReceiptOptions = {}): ChargedReceipt {
  const id = randomUUID();
  const intent = intentOf({ id, ...changes, created: { localMs: atMs } });
  return {
    ...intent,
    dataset: { ...intent.dataset, ...dataset },
    settled: {
      kind: 'charged',
      at: { localMs: atMs },
      foundBy: 'answered',
      run: { run_id: `run-${id}`, price_cents: 500, currency: 'USD', plan_name: 'Basic', ...run },
    },
  };
}
