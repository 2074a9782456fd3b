import * as vscode from 'vscode';
import { MAX_LABEL_LENGTH, type Model } from '../../core/api/types.ts';
import { cutLabel } from '../shared/label.ts';
import { openServiceLink } from '../shared/links.ts';
import { modelLinks } from '../shared/models.ts';
import { confirmStep, termsStep } from './consentSteps.ts';
import { ask, pick, runSteps, type Choice, type Place, type Step, type StepEnd } from '../shared/steps.ts';
import {
  LABEL_STEP,
  MODEL_STEP,
  sentLabel,
  type Consents,
  type SubmissionChoices,
  type SubmissionContext,
  type SubmissionState,
} from './submissionState.ts';
import { summaryStep } from './summaryStep.ts';

/** The choices, with a model and both consents given by the person in this very run of the steps. */
interface ConsentedChoices {
  model: Model;
  /** As it is sent. */
  label: string;
  priority: boolean;
  consents: Consents;
}

/**
 * Leads through model, label, priority, summary, the terms and the last question.
 * @returns undefined when it was given up or a consent was declined: nothing is kept and nothing is sent
 */
export async function askToSubmit(
  context: SubmissionContext,
  initial: SubmissionChoices,
): Promise<ConsentedChoices | undefined> {
  const steps: Step<SubmissionState>[] = [
    (state, place) => modelStep(context, state, place),
    (state, place) => labelStep(context, state, place),
    priorityStep,
    (state, place) => summaryStep(context, state, place),
    termsStep,
    (state) => confirmStep(context, state),
  ];
  const title =
    context.account.kind === 'sandbox'
      ? vscode.l10n.t('Submit {0} to the sandbox (nothing is trained)', context.fileName)
      : vscode.l10n.t('Submit {0}', context.fileName);
  const start = initial.model === undefined ? MODEL_STEP : LABEL_STEP;
  const state = await runSteps(title, steps, { ...initial, terms: undefined, dataPolicy: undefined }, start);
  if (state?.model === undefined || state.terms === undefined || state.dataPolicy === undefined)
    return undefined;
  const { model, label, priority, terms, dataPolicy } = state;
  return {
    model,
    label: sentLabel(context, label),
    priority,
    consents: { model_terms: terms, data_policy: dataPolicy },
  };
}

async function modelStep(
  context: SubmissionContext,
  state: SubmissionState,
  place: Place,
): Promise<StepEnd<SubmissionState>> {
  const { l10n } = vscode;
  const terms: vscode.QuickInputButton = {
    iconPath: new vscode.ThemeIcon('law'),
    tooltip: l10n.t('Open the license terms'),
  };
  const items: Choice<Model>[] = [];
  let provider: string | undefined;
  for (const model of byProvider(context.models)) {
    if (model.provider !== provider) {
      provider = model.provider;
      items.push({ label: provider, kind: vscode.QuickPickItemKind.Separator } as Choice<Model>);
    }
    items.push({
      label: model.name,
      description: model.model_id,
      value: model,
      buttons: modelLinks(model).terms === undefined ? [] : [terms],
    });
  }
  const answer = await pick(place, {
    placeholder: l10n.t('Base model to fine-tune; the choice does not change the price'),
    items,
    ...(state.model === undefined ? {} : { active: state.model }),
    onButton: (model) => void openServiceLink(model.terms_url ?? ''),
  });
  return answer.kind === 'value' ? { kind: 'next', state: { ...state, model: answer.value } } : answer;
}

function byProvider(models: readonly Model[]): Model[] {
  return models
    .filter((model) => model.available)
    .sort((a, b) => a.provider.localeCompare(b.provider) || a.name.localeCompare(b.name));
}

async function labelStep(
  { marker }: SubmissionContext,
  state: SubmissionState,
  place: Place,
): Promise<StepEnd<SubmissionState>> {
  const { l10n } = vscode;
  // A blank stands between the two.
  const maxLength = MAX_LABEL_LENGTH - (marker === undefined ? 0 : marker.text.length + 1);
  const answer = await ask(place, {
    prompt:
      marker === undefined
        ? l10n.t('Label, to find the run again (may be empty; at most {0} characters)', MAX_LABEL_LENGTH)
        : l10n.t(
            'Label, to find the run again (may be empty). “{0}” is added, so that this very run can be recognised if the answer gets lost; at most {1} characters together.',
            marker.text,
            MAX_LABEL_LENGTH,
          ),
    value: state.label,
    validate: (text) =>
      text.length <= maxLength
        ? undefined
        : {
            message: l10n.t('{0} of {1} characters: the end will be cut.', text.length, maxLength),
            severity: vscode.InputBoxValidationSeverity.Warning,
          },
  });
  return answer.kind === 'value'
    ? { kind: 'next', state: { ...state, label: cutLabel(answer.value.trim(), maxLength) } }
    : answer;
}

async function priorityStep(state: SubmissionState, place: Place): Promise<StepEnd<SubmissionState>> {
  const { l10n } = vscode;
  const answer = await pick(place, {
    placeholder: l10n.t('Place in the queue'),
    items: [
      { label: l10n.t('Standard queue'), description: l10n.t('no extra price'), value: false },
      {
        label: l10n.t('Priority queue'),
        description: l10n.t('costs extra'),
        detail: l10n.t('Unless the plan of the account includes it. The service tells neither beforehand.'),
        value: true,
      },
    ],
    active: state.priority,
  });
  return answer.kind === 'value' ? { kind: 'next', state: { ...state, priority: answer.value } } : answer;
}
