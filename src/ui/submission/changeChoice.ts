import { InputBoxValidationSeverity, l10n } from 'vscode';
import { MAX_LABEL_LENGTH, type Model } from '../../core/api/types.ts';
import { cutAtWholeCharacters } from '../../core/base/plainText.ts';
import type { QueueTime } from '../../core/money/spending.ts';
import { withoutMarker } from '../../core/runs/marker.ts';
import { compact, formatCount, formatDuration } from '../shared/format.ts';
import {
  ask,
  mapEnd,
  pick,
  separator,
  type DialogEnd,
  type PickRow,
  type DialogTitle,
} from '../shared/steps.ts';
import { TERMS } from '../shared/terms.ts';
import type { SubmissionChoices, SubmissionContext } from './review.ts';

/** What a priority queue costs. */
export const EXTRA_COST = l10n.t('costs extra unless your plan includes it');

/** Shows the box of a row. @returns the resulting choices, unchanged after Back and Esc */
export async function changeChoice(
  target: 'model' | 'label' | 'queue',
  box: DialogTitle,
  context: SubmissionContext,
  choices: SubmissionChoices,
): Promise<SubmissionChoices> {
  const place = { ...box, hasBack: true };
  const answer: DialogEnd<Partial<SubmissionChoices>> =
    target === 'model'
      ? mapEnd(await askForModel(place, context, choices), (model) => ({ model }))
      : target === 'label'
        ? mapEnd(await askForLabel(place, context, choices), (label) => ({ label }))
        : mapEnd(await askForQueue(place, context, choices), (priority) => ({ priority }));
  return answer.kind === 'value' ? { ...choices, ...answer.value } : choices;
}

/** Shows the base models by provider. */
export function askForModel(
  place: DialogTitle,
  { models }: SubmissionContext,
  { model: chosen }: SubmissionChoices,
): Promise<DialogEnd<Model>> {
  const sorted = [...models].sort(
    (a, b) => a.provider.localeCompare(b.provider) || a.name.localeCompare(b.name),
  );
  const items = sorted.flatMap((model, index): PickRow<Model>[] => [
    ...(model.provider === sorted[index - 1]?.provider ? [] : [separator(model.provider)]),
    { label: model.name, description: model.model_id, value: model },
  ]);
  const placeholder = l10n.t('Base model (the price doesn’t depend on it)');
  return pick(place, { placeholder, items, ...(chosen && { active: chosen }) });
}

async function askForLabel(
  place: DialogTitle,
  { marker }: SubmissionContext,
  { label }: SubmissionChoices,
): Promise<DialogEnd<string>> {
  // A space separates label and marker.
  const maxLength = MAX_LABEL_LENGTH - (marker === undefined ? 0 : marker.length + 1);
  const answer = await ask(place, {
    prompt:
      marker === undefined
        ? l10n.t('Label (optional, up to {0} characters)', maxLength)
        : l10n.t('Label (optional, up to {1} characters). “{0}” is added.', marker, maxLength),
    value: label,
    validate: ({ length }) =>
      length <= maxLength
        ? undefined
        : {
            message: l10n.t('{0} of {1} characters: the end will be cut.', length, maxLength),
            severity: InputBoxValidationSeverity.Warning,
          },
  });
  return mapEnd(answer, (text) => withoutMarker(cutAtWholeCharacters(text.trim(), maxLength)));
}

function askForQueue(
  place: DialogTitle,
  { queueTimes: { standard, priority } }: SubmissionContext,
  choices: SubmissionChoices,
): Promise<DialogEnd<boolean>> {
  const queue = (label: string, price: string, waited: QueueTime | undefined, value: boolean) => ({
    label,
    description: compact(price, waited && queueTimeText(waited)).join(' · '),
    value,
  });
  return pick(place, {
    placeholder: TERMS.queue,
    items: [
      queue(l10n.t('Standard queue'), l10n.t('no extra cost'), standard, false),
      queue(l10n.t('Priority queue'), EXTRA_COST, priority, true),
    ],
    active: choices.priority,
  });
}

/** How long the runs of a queue waited. */
function queueTimeText({ medianMs, runs }: QueueTime): string {
  return l10n.t('waited {0} (median of {1} runs)', formatDuration(medianMs), formatCount(runs));
}
