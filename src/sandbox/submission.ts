import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { MAX_LABEL_LENGTH } from '../core/api/types.ts';
import type { DatasetDigest } from './dataset.ts';
import { invalid, refuse } from './errors.ts';
import { readForm } from './form.ts';

/** A submission whose form is right; whether its model can be had and paid is not known yet. */
export interface Submission {
  /** In lower case; undefined where the header is omitted. */
  idempotencyKey: string | undefined;
  modelId: string;
  label: string | null;
  priority: boolean;
  dataset: DatasetDigest;
}

/**
 * Reads and validates POST /runs (spec: "Endpoints").
 * @throws Refusal `validation_failed` or `consent_required`, before the whole body is read where it is known before.
 * @throws ClientGone
 */
export async function readSubmission(request: IncomingMessage): Promise<Submission> {
  const idempotencyKey = readIdempotencyKey(request);
  const { fields, dataset } = await readForm(request);
  const { model_id: modelId, label = '', priority_processing: priority = 'false' } = fields;
  if (!modelId) throw invalid('The field model_id is missing.');
  if (label.length > MAX_LABEL_LENGTH)
    throw invalid(`The label is longer than ${MAX_LABEL_LENGTH} characters.`);
  if (priority !== 'true' && priority !== 'false')
    throw invalid('priority_processing is neither true nor false.');
  for (const consent of ['model_terms_accepted', 'data_policy_accepted'] as const) {
    if (fields[consent] !== 'true') throw refuse('consent_required', `${consent} must be true.`);
  }
  return { idempotencyKey, modelId, label: label || null, priority: priority === 'true', dataset };
}

/** Equal for "the exact same request" (spec: "Limits"): every parameter counts, and the dataset by its bytes. */
export function fingerprint({ modelId, label, priority, dataset }: Submission): string {
  return createHash('sha256')
    .update(JSON.stringify([modelId, label, priority, dataset.bytes, dataset.sha256]))
    .digest('hex');
}

function readIdempotencyKey({ headers }: IncomingMessage): string | undefined {
  const value = headers['idempotency-key'];
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || !/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(value)) {
    throw invalid('The Idempotency-Key is not a UUID.');
  }
  return value.toLowerCase();
}
