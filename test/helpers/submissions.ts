import { randomUUID } from 'node:crypto';
import type { PendingSubmission } from '../../src/core/submission/pendingSubmission.ts';
import { uncertaintyOf } from '../../src/core/submission/reconcilePolicy.ts';
import { charged, type ChargedReceipt, type Submission } from '../../src/core/submission/submission.ts';

/** Returns the stage that follows from the attempts, the checks, and the end of a record. */
function stageOf({ attempts, charge, end, ...checks }: Omit<Submission, 'stage'>): Submission['stage'] {
  if (charge !== undefined) return 'charged';
  if (end !== undefined) return 'ended';
  if (attempts.some(({ closed }) => closed !== undefined))
    return uncertaintyOf({ attempts, stage: 'sent', ...checks }) === undefined ? 'cleared' : 'sent';
  return attempts.every(({ ended }) => ended !== undefined) ? 'draft' : 'sending';
}

/** The end of a record that the service refused. */
export function refusedWith(code: string, localMs = 0): Pick<Submission, 'stage' | 'reason' | 'end'> {
  return { stage: 'ended', reason: 'refused', end: { at: { localMs }, code } };
}

/** Creates a submission, by default one that was never sent. Its stage follows from its other fields. */
export function submissionOf(changes: Partial<Submission> = {}): Submission {
  const record = recordOf(changes);
  return { ...record, stage: changes.stage ?? stageOf(record) };
}

function recordOf(changes: Partial<Submission>): Omit<Submission, 'stage'> {
  const accepted_at = '2026-05-01T11:00:00.000Z';
  return {
    version: 1,
    id: randomUUID(),
    boundary: '----b',
    accountId: 'account-1',
    origin: 'https://service.test',
    keyId: 'key-1',
    created: { localMs: Date.parse('2026-05-01T11:00:00Z') },
    dataset: {
      path: '/data/train.jsonl',
      filename: 'train.jsonl',
      sizeBytes: 600_000_000,
      sha256: '0'.repeat(64),
      rows: 7_473,
      ...{ mtimeMs: 1, ctimeMs: 1 },
    },
    model_id: 'qwen3-8b',
    priority_processing: false,
    consents: { model_terms: { accepted_at, urls: [] }, data_policy: { accepted_at } },
    attempts: [],
    ...changes,
  };
}

/** An attempt that was fully uploaded after a minute, and ended a minute later unless it was interrupted. */
export function uploadedAttempt(startedMs: number, isInterrupted = false): Submission['attempts'][number] {
  return {
    started: { localMs: startedMs },
    closed: { localMs: startedMs + 60_000 },
    ...(!isInterrupted && { ended: { localMs: startedMs + 120_000 }, code: 'network' }),
  };
}

export function pendingOf(
  state: PendingSubmission['state'],
  submission: Submission = submissionOf(),
  live: Partial<PendingSubmission> = {},
): PendingSubmission {
  return {
    id: submission.id,
    accountId: submission.accountId,
    submission,
    state,
    sentBytes: 0,
    totalBytes: submission.dataset.sizeBytes,
    attempt: submission.attempts.length,
    ...live,
  };
}

let made = 0;

/** Creates a submission with a unique ID and dataset; later ones are newer. */
export function sampleSubmission(changes: Partial<Submission> = {}): Submission {
  made++;
  const sha256 = made.toString(16).padStart(64, '0');
  return submissionOf({
    boundary: `----${randomUUID()}`,
    created: { localMs: 1_700_000_000_000 + made },
    dataset: {
      path: '/data/tränen 💧.jsonl',
      filename: 'tränen 💧.jsonl',
      sizeBytes: 12,
      sha256,
      mtimeMs: 1,
      ctimeMs: 1,
    },
    ...changes,
  });
}

/** The receipt of a charged submission. */
export function chargedAt(submission: Submission, localMs: number): ChargedReceipt {
  const run = { run_id: 'run-1', price_cents: 500 };
  return charged(submission, { at: { localMs }, run, foundBy: 'answered' });
}

/** Creates another submission for the same bytes and model. */
export function sameDataset(submission: Submission, changes: Partial<Submission> = {}): Submission {
  return sampleSubmission({ dataset: submission.dataset, ...changes });
}
