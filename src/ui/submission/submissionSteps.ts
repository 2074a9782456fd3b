import * as vscode from 'vscode';
import { modelLinks } from '../../core/api/address.ts';
import { cutAtWholeCharacters } from '../../core/base/plainText.ts';
import { MAX_LABEL_LENGTH, type Model } from '../../core/api/types.ts';
import type { Summary } from '../../core/datasets/report.ts';
import { withMarker } from '../../core/runs/marker.ts';
import type { Draft } from '../../core/submission/intent.ts';
import { openServiceLink } from '../shared/openMessages.ts';
import {
  ask,
  pick,
  runSteps,
  type Answer,
  type Choice,
  type Place,
  type Step,
  type StepEnd,
} from '../shared/steps.ts';
import { confirmSubmission } from './confirmSubmission.ts';
import { stepMessages, summaryRows, type SubmissionChoices, type SubmissionContext } from './stepMessages.ts';

interface State extends SubmissionChoices {
  terms?: Draft['consents']['model_terms'];
  dataPolicy?: Draft['consents']['data_policy'];
}

const STEPS = ['model', 'label', 'queue', 'summary', 'terms', 'confirm'] as const;
const goTo = (step: (typeof STEPS)[number]) => ({ kind: 'go', to: STEPS.indexOf(step) }) as const;

/**
 * Leads through model, label, queue, summary, the terms and the last question.
 * @returns the choices, the label as it is sent, with both consents; undefined if the user gave up or declined
 */
export async function askToSubmit(
  context: SubmissionContext,
  initial: SubmissionChoices,
): Promise<{ model: Model; label: string; priority: boolean; consents: Draft['consents'] } | undefined> {
  const { account, fileName } = context;
  const steps: Step<State>[] = [modelStep, labelStep, queueStep, summaryStep, termsStep, confirmStep].map(
    (step) => (state, place) => step(context, state, place),
  );
  const title = stepMessages.title(fileName, account.name);
  const state = await runSteps<State>(title, steps, initial, initial.model === undefined ? 0 : 1);
  if (state?.model === undefined || state.terms === undefined || state.dataPolicy === undefined)
    return undefined;
  const { model, label, priority, terms, dataPolicy } = state;
  const consents = { model_terms: terms, data_policy: dataPolicy };
  return { model, label: sentLabel(context, label), priority, consents };
}

async function modelStep({ models }: SubmissionContext, state: State, place: Place): Promise<StepEnd<State>> {
  const terms: vscode.QuickInputButton = {
    iconPath: new vscode.ThemeIcon('law'),
    tooltip: stepMessages.openTerms(),
  };
  const sorted = [...models].sort(
    (a, b) => a.provider.localeCompare(b.provider) || a.name.localeCompare(b.name),
  );
  const items = sorted.flatMap((model, index): Choice<Model>[] => [
    ...(model.provider === sorted[index - 1]?.provider ? [] : [separator<Model>(model.provider)]),
    {
      label: model.name,
      description: model.model_id,
      value: model,
      buttons: modelLinks(model).terms === undefined ? [] : [terms],
    },
  ]);
  const answer = await pick(place, {
    placeholder: stepMessages.model(),
    items,
    ...(state.model === undefined ? {} : { active: state.model }),
    onButton: (model) => void openServiceLink(model.terms_url ?? ''),
  });
  return next(answer, (model) => ({ ...state, model }));
}

async function labelStep({ marker }: SubmissionContext, state: State, place: Place): Promise<StepEnd<State>> {
  // A space separates the two.
  const maxLength = MAX_LABEL_LENGTH - (marker === undefined ? 0 : marker.length + 1);
  const answer = await ask(place, {
    prompt: stepMessages.label(marker),
    value: state.label,
    validate: ({ length }) =>
      length <= maxLength
        ? undefined
        : {
            message: stepMessages.labelCut(length, maxLength),
            severity: vscode.InputBoxValidationSeverity.Warning,
          },
  });
  return next(answer, (text) => ({ ...state, label: cutAtWholeCharacters(text.trim(), maxLength) }));
}

async function queueStep(_: SubmissionContext, state: State, place: Place): Promise<StepEnd<State>> {
  const answer = await pick(place, {
    placeholder: stepMessages.queue(),
    items: [
      { label: stepMessages.standard(), description: stepMessages.standardPrice(), value: false },
      { label: stepMessages.priority(), description: stepMessages.priorityPrice(), value: true },
    ],
    active: state.priority,
  });
  return next(answer, (priority) => ({ ...state, priority }));
}

/** What will be sent and what is known of its price; the rows of what was chosen lead back to their steps. */
async function summaryStep(context: SubmissionContext, state: State, place: Place): Promise<StepEnd<State>> {
  const rows = summaryRows(context, { ...state, label: sentLabel(context, state.label) });
  const answer = await pick<'next' | 'stay' | 'model' | 'label' | 'queue'>(place, {
    placeholder: stepMessages.review(),
    items: [
      { icon: 'arrow-right', label: stepMessages.continue(), value: 'next' },
      ...rows.map(({ icon, name, value, step = 'stay' as const }) => ({
        icon,
        label: name,
        description: value,
        value: step,
      })),
    ],
    stays: (value) => value === 'stay',
  });
  if (answer.kind !== 'value') return answer;
  if (answer.value === 'next') return { kind: 'next', state };
  return answer.value === 'stay' ? { kind: 'cancel' } : goTo(answer.value);
}

/**
 * The first consent: the terms of the model's provider, with the time of the acceptance and the addresses that were shown.
 * The row that declines is the first, so that pressing Enter without reading sends nothing.
 */
async function termsStep(_: SubmissionContext, state: State, place: Place): Promise<StepEnd<State>> {
  const { model } = state;
  if (model === undefined) return { kind: 'cancel' };
  const { terms, policy } = modelLinks(model);
  type Row = 'accept' | 'decline' | 'stay' | { url: string };
  const link = (label: string, url: string): Choice<Row> => ({
    icon: 'link-external',
    label,
    description: url,
    value: { url },
  });
  // An address that is not opened can still be read.
  const warning = (label: string, url?: string): Choice<Row> => ({
    icon: 'warning',
    label,
    ...(url !== undefined && { description: stepMessages.notOpened(url) }),
    value: 'stay',
  });
  const policyRows =
    policy !== undefined
      ? [link(stepMessages.openPolicy(), policy)]
      : model.use_policy_url
        ? [warning(stepMessages.policy(), model.use_policy_url)]
        : [];
  const answer = await pick<Row>(place, {
    placeholder: stepMessages.terms(model),
    items: [
      {
        icon: 'circle-slash',
        label: stepMessages.decline(),
        description: stepMessages.declineDetail(),
        value: 'decline',
      },
      { icon: 'check', label: stepMessages.accept(model), value: 'accept' },
      terms !== undefined
        ? link(stepMessages.openTerms(), terms)
        : model.terms_url
          ? warning(stepMessages.licenseTerms(), model.terms_url)
          : warning(stepMessages.noTerms()),
      ...policyRows,
    ],
    stays: (value) => {
      if (typeof value === 'object') void openServiceLink(value.url);
      return value !== 'accept' && value !== 'decline';
    },
  });
  if (answer.kind !== 'value') return answer;
  if (answer.value !== 'accept') return { kind: 'cancel' };
  const urls = [terms, policy].filter((url) => url !== undefined);
  return { kind: 'next', state: { ...state, terms: { accepted_at: now(), urls } } };
}

/** The second consent, which submits. */
async function confirmStep(context: SubmissionContext, state: State): Promise<StepEnd<State>> {
  const { account, fileName, sizeBytes, check, balance } = context;
  const { model, priority } = state;
  if (model === undefined) return { kind: 'cancel' };
  const dataset = { filename: fileName, sizeBytes, rows: rowsOf(check) };
  const answer = await confirmSubmission({ account, dataset, model, priority, balance });
  if (answer === 'back') return goTo('summary');
  if (answer === undefined) return { kind: 'cancel' };
  return { kind: 'next', state: { ...state, dataPolicy: { accepted_at: now() } } };
}

/** The rows of a dataset that was checked. */
export function rowsOf(check: Summary | 'unchecked'): number | undefined {
  return check === 'unchecked' || check.kind !== 'rows' ? undefined : check.rows;
}

function sentLabel({ marker }: SubmissionContext, label: string): string {
  return marker === undefined ? label : withMarker(label, marker);
}

function next<T>(answer: Answer<T>, change: (value: T) => State): StepEnd<State> {
  return answer.kind === 'value' ? { kind: 'next', state: change(answer.value) } : answer;
}

function separator<T>(label: string): Choice<T> {
  return { label, kind: vscode.QuickPickItemKind.Separator } as Choice<T>;
}

function now(): string {
  return new Date().toISOString();
}
