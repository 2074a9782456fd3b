import { randomUUID } from 'node:crypto';
import type { Intent, Receipt } from '../../../src/core/submission/intent.ts';

let made = 0;

/** An intent with an id and bytes of its own; later ones are newer. */
export function sampleIntent(changes: Partial<Intent> = {}): Intent {
  made++;
  return {
    version: 1,
    id: randomUUID(),
    boundary: `----${randomUUID()}`,
    accountId: 'account-1',
    origin: 'https://service.test',
    created: { localMs: 1_700_000_000_000 + made },
    dataset: {
      path: '/data/tränen 💧.jsonl',
      filename: 'tränen 💧.jsonl',
      sizeBytes: 12,
      sha256: made.toString(16).padStart(64, '0'),
    },
    model_id: 'model-1',
    priority_processing: false,
    consents: {
      model_terms: { accepted_at: '2026-05-03T12:00:00Z', urls: ['https://terms.test/'] },
      data_policy: { accepted_at: '2026-05-03T12:00:01Z' },
    },
    attempts: [],
    ...changes,
  };
}

/** An intent as it is after it was charged. */
export function chargedAt(intent: Intent, localMs: number): Receipt {
  const run = { run_id: 'run-1', price_cents: 500 };
  return { ...intent, settled: { kind: 'charged', at: { localMs }, run, how: 'answered' } };
}

/** Another intent for the same bytes and model. */
export function sameWish(intent: Intent, changes: Partial<Intent> = {}): Intent {
  return sampleIntent({ dataset: intent.dataset, ...changes });
}
