import { randomUUID } from 'node:crypto';
import type { Intent, Receipt } from '../../src/core/submission/intent.ts';
import type { PendingSubmission } from '../../src/core/submission/pendingSubmission.ts';

/** Creates an intent, by default one that was never sent. */
export function intentOf(changes: Partial<Intent> = {}): Intent {
  const accepted_at = '2026-05-01T11:00:00.000Z';
  return {
    version: 1,
    id: randomUUID(),
    boundary: '----b',
    accountId: 'account-1',
    origin: 'https://service.test',
    created: { localMs: Date.parse('2026-05-01T11:00:00Z') },
    dataset: {
      path: '/data/train.jsonl',
      filename: 'train.jsonl',
      sizeBytes: 600_000_000,
      sha256: '0'.repeat(64),
      rows: 7_473,
    },
    model_id: 'qwen3-8b',
    priority_processing: false,
    consents: { model_terms: { accepted_at, urls: [] }, data_policy: { accepted_at } },
    attempts: [],
    ...changes,
  };
}

/** An attempt that was fully uploaded after a minute, and ended a minute later unless it was interrupted. */
export function uploadedAttempt(startedMs: number, isInterrupted = false): Intent['attempts'][number] {
  return {
    started: { localMs: startedMs },
    closed: { localMs: startedMs + 60_000 },
    ...(!isInterrupted && { ended: { localMs: startedMs + 120_000 }, code: 'network' }),
  };
}

export function pendingOf(
  state: PendingSubmission['state'],
  intent: Intent = intentOf(),
  live: Partial<PendingSubmission> = {},
): PendingSubmission {
  return {
    id: intent.id,
    accountId: intent.accountId,
    intent,
    state,
    sentBytes: 0,
    totalBytes: intent.dataset.sizeBytes,
    attempt: intent.attempts.length,
    ...live,
  };
}

let made = 0;

/** Creates an intent with a unique ID and dataset; later ones are newer. */
export function sampleIntent(changes: Partial<Intent> = {}): Intent {
  made++;
  const sha256 = made.toString(16).padStart(64, '0');
  return intentOf({
    boundary: `----${randomUUID()}`,
    created: { localMs: 1_700_000_000_000 + made },
    dataset: { path: '/data/tränen 💧.jsonl', filename: 'tränen 💧.jsonl', sizeBytes: 12, sha256 },
    ...changes,
  });
}

/** The receipt of a charged intent. */
export function chargedAt(intent: Intent, localMs: number): Receipt {
  const run = { run_id: 'run-1', price_cents: 500 };
  return { ...intent, settled: { kind: 'charged', at: { localMs }, run, foundBy: 'answered' } };
}

/** Creates another intent for the same bytes and model. */
export function sameDataset(intent: Intent, changes: Partial<Intent> = {}): Intent {
  return sampleIntent({ dataset: intent.dataset, ...changes });
}
