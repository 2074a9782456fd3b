import * as vscode from 'vscode';
import type { Model } from '../../core/api/types.ts';
import { openServiceLink } from '../shared/links.ts';
import { modelLinks } from '../shared/models.ts';
import { strangerText } from '../shared/strangerText.ts';
import { confirmSubmit } from './confirmDialogs.ts';
import { SUMMARY_STEP, type SubmissionContext, type SubmissionState } from './submissionState.ts';
import { pick, type Choice, type Place, type StepEnd } from '../shared/steps.ts';

type ConsentChoice = 'accept' | 'decline' | 'terms' | 'policy' | 'inform';

/**
 * The first consent: the terms of the model's provider. What was shown is kept with the moment of the acceptance. The row
 * that declines is the first, so that pressing Enter without reading sends nothing.
 */
export async function termsStep(state: SubmissionState, place: Place): Promise<StepEnd<SubmissionState>> {
  const { l10n } = vscode;
  const { model } = state;
  if (model === undefined) return { kind: 'cancel' };
  const { terms, policy } = modelLinks(model);
  const provider = strangerText(model.provider) || l10n.t('its provider');
  const name = strangerText(model.name);
  const answer = await pick<ConsentChoice>(place, {
    placeholder: l10n.t('First consent: the terms of {0}', provider),
    items: [
      {
        icon: 'circle-slash',
        label: l10n.t('I do not accept'),
        description: l10n.t('nothing is sent'),
        value: 'decline',
      },
      {
        icon: 'check',
        label: model.use_policy_url
          ? l10n.t('I accept the license terms and the use policy of {0} for {1}', provider, name)
          : l10n.t('I accept the license terms of {0} for {1}', provider, name),
        value: 'accept',
      },
      ...linkRows(model),
    ],
    stays: (value) => {
      if (value === 'terms' || value === 'policy')
        void openServiceLink((value === 'terms' ? terms : policy) ?? '');
      return value !== 'accept' && value !== 'decline';
    },
  });
  if (answer.kind !== 'value') return answer;
  if (answer.value !== 'accept') return { kind: 'cancel' };
  const urls = [terms, policy].filter((url) => url !== undefined);
  return { kind: 'next', state: { ...state, terms: { accepted_at: now(), urls } } };
}

/** What there is to read, or that there is nothing: an address that is not opened can still be read. */
function linkRows(model: Model): Choice<ConsentChoice>[] {
  const { l10n } = vscode;
  const { terms, policy } = modelLinks(model);
  const link = (label: string, url: string, value: ConsentChoice): Choice<ConsentChoice> => ({
    icon: 'link-external',
    label,
    description: url,
    value,
  });
  const notOpened = (label: string, url: string): Choice<ConsentChoice> => ({
    icon: 'warning',
    label,
    description: l10n.t('{0} (not opened: not https)', strangerText(url, 200)),
    value: 'inform',
  });
  return [
    terms !== undefined
      ? link(l10n.t('Open license terms'), terms, 'terms')
      : model.terms_url
        ? notOpened(l10n.t('License terms'), model.terms_url)
        : {
            icon: 'warning',
            label: l10n.t('The service gives no license link for this model'),
            value: 'inform',
          },
    ...(policy !== undefined
      ? [link(l10n.t('Open use policy'), policy, 'policy')]
      : model.use_policy_url
        ? [notOpened(l10n.t('Use policy'), model.use_policy_url)]
        : []),
  ];
}

/** The second consent, which submits. */
export async function confirmStep(
  context: SubmissionContext,
  state: SubmissionState,
): Promise<StepEnd<SubmissionState>> {
  const { account, fileName, sizeBytes, check, balance } = context;
  const { model, priority } = state;
  if (model === undefined) return { kind: 'cancel' };
  const rows = check === 'unchecked' || check.kind !== 'rows' ? {} : { rows: check.rows };
  const dataset = { filename: fileName, sizeBytes, ...rows };
  const answer = await confirmSubmit({ account, dataset, model, priority, balance });
  if (answer === 'back') return { kind: 'go', to: SUMMARY_STEP };
  if (answer === undefined) return { kind: 'cancel' };
  return { kind: 'next', state: { ...state, dataPolicy: { accepted_at: now() } } };
}

function now(): string {
  return new Date().toISOString();
}
