import path from 'node:path';
import { MAX_LABEL_LENGTH } from '../../core/api/types.ts';
import { cutAtWholeCharacters } from '../../core/base/plainText.ts';
import { withoutMarker } from '../../core/runs/marker.ts';
import type { Draft, Receipt } from '../../core/submission/intent.ts';
import { Proposal } from '../shared/proposal.ts';
import type { PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import { modelOf } from '../shared/arguments.ts';
import type { SubmissionChoices, SubmissionContext } from './review.ts';

/** What "Submit Again…" and a refused submission start with. */
export interface SubmissionPreset {
  modelId?: string | undefined;
  /** Without its marker; the default is the file name. */
  label?: string | undefined;
  priority?: boolean;
  /** The refused submission that this one replaces. */
  replacesRefused?: string | undefined;
  /** Whether it replaces a submission that was withdrawn. */
  isAnew?: boolean;
  /** The run whose dataset is submitted again. */
  runToRepeat?: string | undefined;
  /** The account that this was chosen for, which may no longer be active. */
  accountId?: string | undefined;
  /** Given if an agent proposed it. */
  proposal?: Proposal | undefined;
}

/** The choices of an earlier submission, with which a new one starts. */
export function presetOf({ model_id, label = '', priority_processing }: Draft): SubmissionPreset {
  return { modelId: model_id, label: withoutMarker(label), priority: priority_processing };
}

/** Validates the preset, since any extension can call a command with anything. */
export function presetFrom(value: unknown): SubmissionPreset {
  const given = { ...(value as Record<string, unknown> | undefined) };
  const text = (field: keyof SubmissionPreset) =>
    typeof given[field] === 'string' ? given[field] : undefined;
  return {
    modelId: text('modelId'),
    label: text('label'),
    priority: given['priority'] === true,
    replacesRefused: text('replacesRefused'),
    isAnew: given['isAnew'] === true,
    runToRepeat: text('runToRepeat'),
    accountId: text('accountId'),
    proposal: given['proposal'] instanceof Proposal ? given['proposal'] : undefined,
  };
}

/** The default model is the one last used with this account. The queue, which may cost extra, is not remembered. */
export function initialChoices(
  { account, dataset: { filename }, models }: SubmissionContext,
  argument: unknown,
  preset: SubmissionPreset,
  receipts: readonly Receipt[],
  pending: readonly PendingSubmission[],
): SubmissionChoices {
  const [last] = [...receipts, ...pending.map(({ intent }) => intent)]
    .filter(({ accountId }) => accountId === account.id)
    .sort((a, b) => b.created.localMs - a.created.localMs);
  const model =
    preset.modelId === undefined
      ? (modelOf(argument, models) ?? modelOf(last?.model_id, models))
      : modelOf(preset.modelId, models);
  return {
    model,
    label: withoutMarker(cutAtWholeCharacters(preset.label ?? path.parse(filename).name, MAX_LABEL_LENGTH)),
    priority: preset.priority ?? false,
  };
}
