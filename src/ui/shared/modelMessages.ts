import * as vscode from 'vscode';
import { isOpenableUrl } from '../../core/api/address.ts';
import type { Model } from '../../core/api/types.ts';
import { showInformation } from './notifications.ts';

/** Opens a link that the service returned, if it is an https address; says whether it did. */
export async function openServiceLink(url: string): Promise<boolean> {
  return isOpenableUrl(url) && vscode.env.openExternal(vscode.Uri.parse(url, true));
}

export function tellNoLink(): void {
  void showInformation(vscode.l10n.t('The service didn’t provide an https link for this.'));
}

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

/** The model that a command was called with: a row of the Models view, or a `model_id`. */
export function modelOf(argument: unknown, models: readonly Model[]): Model | undefined {
  const id = typeof argument === 'string' ? argument : idOfRow(argument);
  return id === undefined ? undefined : models.find((model) => model.model_id === id);
}

function idOfRow(argument: unknown): string | undefined {
  if (typeof argument !== 'object' || argument === null || !('model' in argument)) return undefined;
  const { model } = argument;
  if (typeof model !== 'object' || model === null || !('model_id' in model)) return undefined;
  return typeof model.model_id === 'string' ? model.model_id : undefined;
}
