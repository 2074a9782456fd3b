import type { Receipt } from './intent.ts';

/** An earlier submission to the same service that was charged, or may have been. */
export interface Prior {
  accountId: string;
  /** The run that it was charged for; undefined where it was given up without knowing whether it was charged. */
  runId: string | undefined;
  modelId: string;
  priority: boolean;
  /** Milliseconds since the epoch. */
  submittedAtMs: number;
  priceCents: number | undefined;
  currency: string | undefined;
  /** Of its dataset, where they were counted. */
  rows: number | undefined;
}

/** The earlier submissions of these bytes to a service, newest first. */
export function priorsOf(receipts: readonly Receipt[], origin: string, sha256: string): Prior[] {
  return priorsWhere(receipts, origin, (dataset) => dataset.sha256 === sha256);
}

/** The last run that a file was trained in: `same` with its bytes, `changed` with others that were at its path. */
export interface TrainedBefore {
  kind: 'same' | 'changed';
  run: Prior & { runId: string };
}

/** @param sha256 undefined while it is unknown: then nothing is known of a file that has the size of an earlier one */
export function trainedBefore(
  receipts: readonly Receipt[],
  origin: string,
  { path, sizeBytes }: { path: string; sizeBytes: number },
  sha256: string | undefined,
): TrainedBefore | undefined {
  if (sha256 === undefined && wasSubmittedInSize(receipts, origin, sizeBytes)) return undefined;
  const same = sha256 === undefined ? undefined : priorsOf(receipts, origin, sha256).find(isCharged);
  if (same !== undefined) return { kind: 'same', run: same };
  const run = priorsWhere(receipts, origin, (dataset) => dataset.path === path).find(isCharged);
  return run && { kind: 'changed', run };
}

/** Whether a dataset of this size was charged: only then its bytes can be the same, and are worth hashing. */
export function wasSubmittedInSize(receipts: readonly Receipt[], origin: string, sizeBytes: number): boolean {
  return priorsWhere(receipts, origin, (dataset) => dataset.sizeBytes === sizeBytes).some(isCharged);
}

function priorsWhere(
  receipts: readonly Receipt[],
  origin: string,
  isMeant: (dataset: Receipt['dataset']) => boolean,
): Prior[] {
  return receipts
    .filter((receipt) => receipt.origin === origin && receipt.settled.kind !== 'not-charged')
    .filter(({ dataset }) => isMeant(dataset))
    .map(({ settled, accountId, model_id, priority_processing, created, balanceBefore, dataset }) => {
      const run = settled.kind === 'charged' ? settled.run : undefined;
      return {
        accountId,
        runId: run?.run_id,
        modelId: model_id,
        priority: priority_processing,
        submittedAtMs: created.localMs,
        priceCents: run?.price_cents,
        currency: run?.currency ?? balanceBefore?.currency,
        rows: dataset.rows,
      };
    })
    .sort((one, other) => other.submittedAtMs - one.submittedAtMs);
}

function isCharged(prior: Prior): prior is TrainedBefore['run'] {
  return prior.runId !== undefined;
}
