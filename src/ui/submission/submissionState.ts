import type { Balance, Model } from '../../core/api/types.ts';
import type { Summary } from '../../core/datasets/report.ts';
import type { Prior } from './priorMessages.ts';

/** What the steps of a submission are about and do not change. */
export interface SubmissionContext {
  account: { name: string; kind: 'service' | 'sandbox'; baseUrl?: string };
  fileName: string;
  sizeBytes: number;
  check: Summary | 'unchecked';
  models: readonly Model[];
  balance: Balance | undefined;
  /** What is added to the label, unless the setting says no, and how the two are joined. */
  marker: { text: string; join: (label: string) => string } | undefined;
  /** Earlier submissions of the same bytes by the same account. */
  priors: readonly Prior[];
}

/** What a person chose before consenting; the label without its marker. */
export interface SubmissionChoices {
  model: Model | undefined;
  label: string;
  priority: boolean;
}

/** When a person gave each consent (ISO 8601), and the addresses that were shown. */
export interface Consents {
  model_terms: { accepted_at: string; urls: string[] };
  data_policy: { accepted_at: string };
}

/** What is known between two steps. */
export interface SubmissionState extends SubmissionChoices {
  terms: Consents['model_terms'] | undefined;
  dataPolicy: Consents['data_policy'] | undefined;
}

/** The label as it will be sent. */
export function sentLabel({ marker }: Pick<SubmissionContext, 'marker'>, label: string): string {
  return marker === undefined ? label : marker.join(label);
}

/** Where the steps stand that others lead back to. */
export const MODEL_STEP = 0;
export const LABEL_STEP = 1;
export const PRIORITY_STEP = 2;
export const SUMMARY_STEP = 3;
