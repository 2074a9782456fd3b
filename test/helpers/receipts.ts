import { randomUUID } from 'node:crypto';
import {
  charged,
  type ChargedReceipt,
  type Submission,
  type ReceiptRun,
} from '../../src/core/submission/submission.ts';
import { submissionOf } from './submissions.ts';

/** Values of a charged receipt; all others are those of `submissionOf`. */
export interface ReceiptOptions extends Partial<Omit<Submission, 'dataset' | 'created'>> {
  atMs?: number;
  dataset?: Partial<Submission['dataset']>;
  run?: Partial<ReceiptRun>;
}

/** Creates a receipt of a 5.00 USD charge. */
export function chargedReceipt({ atMs = 0, dataset, run, ...changes }: ReceiptOptions = {}): ChargedReceipt {
  const id = randomUUID();
  const submission = submissionOf({ id, ...changes, created: { localMs: atMs } });
  return charged(
    { ...submission, dataset: { ...submission.dataset, ...dataset } },
    {
      at: { localMs: atMs },
      foundBy: 'answered',
      run: { run_id: `run-${id}`, price_cents: 500, currency: 'USD', plan_name: 'Basic', ...run },
    },
  );
}
