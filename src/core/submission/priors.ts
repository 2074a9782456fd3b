import type { Receipt } from './intent.ts';

/** An earlier submission of the very same bytes to the same service. */
export interface Prior {
  /** The run that it was charged for; undefined where it was given up without knowing whether it was charged. */
  runId: string | undefined;
  modelId: string;
  priority: boolean;
  /** Milliseconds since the epoch. */
  submittedAtMs: number;
}

/** What the receipts of a service say of a dataset that is about to be submitted: whatever was or may have been charged. */
export function priorsOf(receipts: readonly Receipt[], origin: string, sha256: string): Prior[] {
  return receipts
    .filter((receipt) => receipt.origin === origin && receipt.dataset.sha256 === sha256)
    .filter(({ settled }) => settled.kind !== 'not-charged')
    .map(({ settled, model_id, priority_processing, created }) => ({
      runId: settled.kind === 'charged' ? settled.run.run_id : undefined,
      modelId: model_id,
      priority: priority_processing,
      submittedAtMs: created.localMs,
    }));
}
