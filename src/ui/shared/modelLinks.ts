import { isOpenableUrl } from '../../core/api/address.ts';
import type { Model } from '../../core/api/types.ts';

/** The links of a model that may be opened; the others are no links to a person. */
export function modelLinks({ terms_url, use_policy_url }: Pick<Model, 'terms_url' | 'use_policy_url'>): {
  terms?: string;
  policy?: string;
} {
  return {
    ...(terms_url !== undefined && isOpenableUrl(terms_url) && { terms: terms_url }),
    ...(use_policy_url !== undefined && isOpenableUrl(use_policy_url) && { policy: use_policy_url }),
  };
}
