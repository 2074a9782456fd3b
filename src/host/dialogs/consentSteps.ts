import * as vscode from 'vscode';
import { openServiceLink } from '../links.ts';
import { modelLinks } from '../modelLinks.ts';
import type { SubmissionState } from './submissionState.ts';
import { pick, type Choice, type Place, type StepEnd } from './steps.ts';

type ConsentChoice = 'accept' | 'decline' | 'terms' | 'policy';

/** The first consent: the terms of the model's provider. What was shown is kept with the moment of the acceptance. */
export async function termsStep(state: SubmissionState, place: Place): Promise<StepEnd<SubmissionState>> {
  const { l10n } = vscode;
  const { model } = state;
  const provider = model?.provider ?? '';
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
    detail: '',
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
  const answer = await consent(place, {
    placeholder: l10n.t('Second consent: your data. Accepting submits the run and charges the account.'),
    accept: l10n.t('I accept the data policy, and submit'),
    detail: l10n.t(
      'I accept the data policy of the service, I have the rights to this dataset, and I know that results are not guaranteed.',
    ),
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
    accept: string;
    detail: string;
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
      {
        label: `$(check) ${options.accept}`,
        value: 'accept',
        ...(options.detail === '' ? {} : { detail: options.detail }),
      },
      ...options.links,
    ],
    stays: (value) => {
      const isLink = value === 'terms' || value === 'policy';
      if (isLink) options.onLink(value);
      return isLink;
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
