import { l10n } from 'vscode';
import { modelLinks } from '../../core/api/address.ts';
import type { Model } from '../../core/api/types.ts';
import type { Draft } from '../../core/submission/intent.ts';
import { compact } from '../shared/format.ts';
import { openServiceLink } from '../shared/open.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { pick, type PickRow } from '../shared/steps.ts';
import { factLine, TERMS } from '../shared/terms.ts';
import type { Review } from './review.ts';

/**
 * Asks to accept the terms of the model's provider. Enter accepts only links that this account accepted
 * before; with other links no row is active.
 * @param signal closes the box
 * @returns the time of acceptance and the links that could be opened
 */
export async function acceptTerms(
  model: Model,
  review: Pick<Review, 'context' | 'nowMs' | 'ready'>,
  signal?: AbortSignal,
): Promise<Draft['consents']['model_terms'] | 'back' | undefined> {
  const { terms, policy } = modelLinks(model);
  const urls = compact(terms, policy);
  const isSame = ({ consents: { model_terms } }: Pick<Draft, 'consents'>) =>
    urls.length > 0 && model_terms.urls.join(' ') === urls.join(' ');
  // A link that can't be opened goes into no receipt.
  const isOpenable = urls.length === compact(model.terms_url, model.use_policy_url).length;
  const wasAccepted = isOpenable && review.context().money.receipts.some(isSame);
  type Row = 'accept' | 'stay' | { url: string };
  // In the labels: a description's hover would cover the row that accepts, and take its click.
  const link = (label: string, url: string): PickRow<Row> => ({
    icon: 'link-external',
    label: factLine(label, url),
    value: { url },
  });
  // The user can still read an address that isn't opened.
  const unopened = (label: string, url: string): PickRow<Row> => ({
    icon: 'warning',
    label: factLine(label, l10n.t('{0} (not opened: not https)', sanitizeServiceText(url, 200))),
    value: 'stay',
  });
  const noTerms = l10n.t('The service gives no license link for this model');
  const [name, provider] = [sanitizeServiceText(model.name), sanitizeServiceText(model.provider)];
  let accepted_at = '';
  const answer = await pick<Row>(
    {
      title: provider === '' ? l10n.t('Terms for {0}', name) : l10n.t('Terms of {0} for {1}', provider, name),
      hasBack: true,
      signal,
    },
    {
      placeholder: l10n.t('Read the terms, then accept. Nothing has been sent yet.'),
      active: wasAccepted ? 'accept' : null,
      items: compact<PickRow<Row>>(
        { icon: 'check', label: l10n.t('Accept and Continue'), value: 'accept' },
        terms !== undefined
          ? link(l10n.t('Open license terms'), terms)
          : model.terms_url
            ? unopened(TERMS.licenseTerms, model.terms_url)
            : { icon: 'warning', label: noTerms, value: 'stay' },
        { icon: 'info', label: l10n.t('The service gives no link to its data policy'), value: 'stay' },
        policy !== undefined
          ? link(l10n.t('Open use policy'), policy)
          : model.use_policy_url && unopened(TERMS.usePolicy, model.use_policy_url),
      ),
      stays: (row) => {
        if (typeof row === 'object') void openServiceLink(row.url);
        return row !== 'accept';
      },
      settle: () => {
        accepted_at = new Date(review.nowMs()).toISOString();
        return review.ready();
      },
    },
  );
  if (answer.kind !== 'value') return answer.kind === 'back' ? 'back' : undefined;
  return { accepted_at, urls };
}
