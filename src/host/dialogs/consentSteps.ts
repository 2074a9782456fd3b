import * as vscode from 'vscode';
import { openServiceLink } from '../links.ts';
import { modelLinks } from '../modelLinks.ts';
import type { SubmissionState } from './submissionState.ts';
import { pick, type Choice, type Place, type StepEnd } from './steps.ts';

type ConsentChoice = 'accept' | 'decline' | 'terms' | 'policy' | 'inform';

/** The first consent: the terms of the model's provider. What was shown is kept with the moment of the acceptance. */
export async function termsStep(state: SubmissionState, place: Place): Promise<StepEnd<SubmissionState>> {
  const { l10n } = vscode;
  const { model } = state;
  const provider = model?.provider || l10n.t('its provider');
  const links: Choice<ConsentChoice>[] = [];
  const link = (label: string, url: string | undefined, value: ConsentChoice) => {
    if (url !== undefined) links.push({ label: `$(link-external) ${label}`, description: url, value });
  };
  const { terms, policy } = modelLinks(model ?? {});
  link(l10n.t('Read the license terms'), terms, 'terms');
  link(l10n.t('Read the use policy'), policy, 'policy');
  const answer = await consent(place, {
    placeholder: l10n.t('First consent: the terms of {0}', provider),
    accept:
      model?.use_policy_url === undefined
        ? l10n.t('I accept the license terms of {0} for {1}', provider, model?.name ?? '')
        : l10n.t('I accept the license terms and the use policy of {0} for {1}', provider, model.name),
    facts: [],
    links,
    onLink: (value) => void openServiceLink((value === 'terms' ? terms : policy) ?? ''),
  });
  const urls = [terms, policy].filter((url) => url !== undefined);
  return afterConsent(answer, () => ({ ...state, terms: { accepted_at: now(), urls } }));
}

/** The second consent, which submits. */
export async function dataPolicyStep(
  state: SubmissionState,
  place: Place,
): Promise<StepEnd<SubmissionState>> {
  const { l10n } = vscode;
  const fact = (icon: string, name: string, description: string): Choice<ConsentChoice> => ({
    label: `$(${icon}) ${name}`,
    description,
    value: 'inform',
  });
  const answer = await consent(place, {
    placeholder: l10n.t('Second consent: your data. Accepting submits the run and charges the account.'),
    // A row each: the box cuts a longer text at its width, and the keyboard reaches no hover.
    facts: [
      fact('law', l10n.t('Data policy'), l10n.t('I accept the data policy of the service')),
      fact('file', l10n.t('Dataset'), l10n.t('I have the rights to this dataset')),
      fact('question', l10n.t('Results'), l10n.t('I know that results are not guaranteed')),
    ],
    accept: l10n.t('I accept all three, and submit'),
    // For who comes to this row without the ones before it, such as with a screen reader: short enough not to be cut.
    detail: l10n.t('The data policy, my rights to this dataset, and results without a guarantee'),
    links: [],
    onLink: () => undefined,
  });
  return afterConsent(answer, () => ({ ...state, dataPolicy: { accepted_at: now() } }));
}

/** The row that declines stands first, so that pressing Enter without reading sends nothing. */
async function consent(
  place: Place,
  options: {
    placeholder: string;
    /** Rows that only inform, of what is accepted: on the way from the row that declines to the one that accepts. */
    facts: Choice<ConsentChoice>[];
    accept: string;
    detail?: string;
    links: Choice<ConsentChoice>[];
    onLink: (value: ConsentChoice) => void;
  },
): ReturnType<typeof pick<ConsentChoice>> {
  const { l10n } = vscode;
  return pick<ConsentChoice>(place, {
    placeholder: options.placeholder,
    items: [
      {
        label: l10n.t('$(circle-slash) I do not accept'),
        description: l10n.t('nothing is sent'),
        value: 'decline',
      },
      ...options.facts,
      {
        label: `$(check) ${options.accept}`,
        value: 'accept',
        ...(options.detail === undefined ? {} : { detail: options.detail }),
      },
      ...options.links,
    ],
    stays: (value) => {
      if (value === 'terms' || value === 'policy') options.onLink(value);
      return value !== 'accept' && value !== 'decline';
    },
  });
}

function afterConsent(
  answer: Awaited<ReturnType<typeof consent>>,
  accepted: () => SubmissionState,
): StepEnd<SubmissionState> {
  if (answer.kind !== 'value') return answer;
  return answer.value === 'accept' ? { kind: 'next', state: accepted() } : { kind: 'cancel' };
}

function now(): string {
  return new Date().toISOString();
}
