import * as vscode from 'vscode';
import { MAX_LABEL_LENGTH } from '../../core/api/types.ts';
import { formatMoment } from '../shared/format.ts';
import { sandboxNote } from '../shared/sandboxMessages.ts';
import { strangerText } from '../shared/strangerText.ts';

/** Words of the run page that stand alone. */
export const runPageWords = {
  actions: () => vscode.l10n.t('Actions'),
  copy: () => vscode.l10n.t('Copy'),
  copyOf: (name: string) => vscode.l10n.t('Copy {0}', name),
  download: () => vscode.l10n.t('Download Adapter…'),
  inspect: () => vscode.l10n.t('Inspect Adapter'),
  submitAgain: () => vscode.l10n.t('Submit Again…'),
  copyRunId: () => vscode.l10n.t('Copy Run Id'),
  refresh: () => vscode.l10n.t('Refresh'),
  tryAgain: () => vscode.l10n.t('Try Again'),
  openDataset: () => vscode.l10n.t('Open Dataset'),
  replaceKey: () => vscode.l10n.t('Replace API Key…'),
  enterKey: () => vscode.l10n.t('Enter API Key…'),
  switchAccount: () => vscode.l10n.t('Switch Account…'),
  switchTo: (name: string) => vscode.l10n.t('Switch to {0}', strangerText(name)),
  timeline: () => vscode.l10n.t('Timeline'),
  durations: () => vscode.l10n.t('Durations'),
  money: () => vscode.l10n.t('Price and balance'),
  run: () => vscode.l10n.t('Run'),
  dataset: () => vscode.l10n.t('Dataset'),
  consents: () => vscode.l10n.t('Consents'),
  artifacts: () => vscode.l10n.t('Adapter'),
};

/** A text of the service, or of another client, that stands alone, so that it may be as long as a label can be. */
export function wholeText(text: string): string {
  return strangerText(text, MAX_LABEL_LENGTH);
}

/** What the page of a run is called in its tab. */
export function runPageTitle(name: string): string {
  return vscode.l10n.t('Run: {0}', name);
}

interface HeadingView {
  name: string;
  phase: 'waiting' | 'active' | 'finished';
  /** As the service's list and details spell it. */
  status: string;
  modelName: string;
  isSandbox: boolean;
  accountName: string;
}

/** The run's own words first; the rest says whose it is. */
export function runHeading({ name, phase, status, modelName, isSandbox, accountName }: HeadingView) {
  const { l10n } = vscode;
  const word =
    phase === 'waiting'
      ? l10n.t('Queued')
      : phase === 'finished'
        ? l10n.t('Finished')
        : wholeText(status) || l10n.t('Status unknown');
  const account = isSandbox ? sandboxNote() : l10n.t('Account: {0}', strangerText(accountName));
  return {
    title: name,
    phase,
    status: word,
    lines: name === modelName ? [account] : [l10n.t('Model: {0}', wholeText(modelName)), account],
  };
}

/** What stands in place of a run that cannot be shown. */
export function noRunHeading(name: string) {
  return { title: vscode.l10n.t('Run {0}', name), phase: 'none' as const, status: '', lines: [] };
}

/** Sentences about the page as a whole. */
export const runNotices = {
  reading: () => vscode.l10n.t('Reading the run…'),
  notListed: () => vscode.l10n.t('The service’s list does not show this run any more.'),
  notFound: (accountName: string) =>
    vscode.l10n.t('{0} has no such run. It may belong to another account.', strangerText(accountName)),
  accountGone: () => vscode.l10n.t('This run belongs to an account that is not on this machine any more.'),
  keyRejected: () =>
    vscode.l10n.t(
      'The service does not accept the API key of this account any more. Nothing that was read with it is shown.',
    ),
  keyMissing: () =>
    vscode.l10n.t(
      'The API key of this account is not on this machine. Nothing that was read with it is shown.',
    ),
  offline: (sinceMs: number | undefined) =>
    sinceMs === undefined
      ? vscode.l10n.t('Offline: what is shown may be out of date.')
      : vscode.l10n.t(
          'Offline since {0}: what is shown may be out of date.',
          formatMoment(sinceMs, Date.now()),
        ),
  notActive: (accountName: string) =>
    vscode.l10n.t(
      'This run belongs to {0}, which is not the active account: it is not watched.',
      strangerText(accountName),
    ),
  detailsFailed: (text: string) => vscode.l10n.t('Details could not be read. {0}', text),
};

/** `6 d 4 h`, `5 h 12 min`, `12 min 5 s`, `45 s`: two units, as one reads a countdown. */
export function countdownText(leftMs: number): string {
  const { l10n } = vscode;
  const seconds = Math.max(0, Math.floor(leftMs / 1_000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (hours >= 48) return l10n.t('{0} d {1} h', Math.floor(hours / 24), hours % 24);
  if (hours >= 1) return l10n.t('{0} h {1} min', hours, minutes % 60);
  return minutes >= 1 ? l10n.t('{0} min {1} s', minutes, seconds % 60) : l10n.t('{0} s', seconds);
}

/** How far the details of a run are. */
export type DetailsState = 'read' | 'being-read' | 'failed';

/**
 * What stands in place of a fact of the details.
 * @param isOpen whether it may still be told: the run is not known to have finished
 */
export function missingText(details: DetailsState, isOpen = false): string {
  switch (details) {
    case 'read':
      return isOpen
        ? vscode.l10n.t('not told by the service so far')
        : vscode.l10n.t('not told by the service');
    case 'being-read':
      return vscode.l10n.t('being read…');
    case 'failed':
      return vscode.l10n.t('could not be read');
  }
}

/** What the clocks of the page say. */
export const clockTexts = {
  queue: (ms: number) => vscode.l10n.t('{0} so far', countdownText(ms)),
  started: (ms: number) => vscode.l10n.t('{0} ago', countdownText(ms)),
  artifacts: (leftMs: number) => vscode.l10n.t('{0} left', countdownText(leftMs)),
};
