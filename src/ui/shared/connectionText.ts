import { l10n } from 'vscode';
import type { SessionState } from '../../core/runs/session.ts';
import { formatMoment } from './format.ts';
import { TERMS } from './terms.ts';

/** Describes the problem with an account's API key; undefined if none is known. */
export function keyProblem(state: SessionState): string | undefined {
  if (state === 'key-rejected') return l10n.t('The service rejected this account’s API key.');
  return state === 'key-missing' ? l10n.t('This window doesn’t have this account’s API key.') : undefined;
}

/** Returns the title of the button that asks for another API key; undefined unless the current one is missing or was rejected. */
export function keyAction(state: SessionState): string | undefined {
  if (state === 'key-rejected') return TERMS.replaceApiKey;
  return state === 'key-missing' ? TERMS.enterApiKey : undefined;
}

/** For an account whose service can't be reached. */
export function offlineText(sinceMs: number | undefined): string {
  return sinceMs === undefined
    ? l10n.t('Offline. Data may be out of date.')
    : l10n.t('Offline since {0}. Data may be out of date.', formatMoment(sinceMs, Date.now()));
}
