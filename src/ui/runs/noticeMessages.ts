import * as vscode from 'vscode';
import { formatCount, formatTime } from '../shared/format.ts';
import { withSandboxNote } from '../shared/sandboxMessages.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { showInformation } from '../shared/notifications.ts';

/** What a run is called in a notification. */
export interface RunName {
  /** As the person gave it. */
  label: string | undefined;
  modelName: string;
}

/** Tells that a run has finished. @param actions what its buttons do; without `download` there is nothing to download */
export function tellFinished(
  run: RunName & { artifactsExpireAt: string | undefined },
  isSandbox: boolean,
  actions: { download: (() => void) | undefined; show: () => void },
): void {
  const { l10n } = vscode;
  const download = l10n.t('Download');
  const show = l10n.t('Show');
  const text =
    run.label === undefined
      ? l10n.t('A run of {0} has finished.', sanitizeServiceText(run.modelName))
      : l10n.t('“{0}” has finished.', sanitizeServiceText(run.label));
  const kept =
    actions.download === undefined || run.artifactsExpireAt === undefined
      ? ''
      : ` ${l10n.t('Its adapter is kept until {0}.', sanitizeServiceText(formatTime(run.artifactsExpireAt)))}`;
  void showInformation(
    withSandboxNote(text + kept, isSandbox),
    ...(actions.download === undefined ? [] : [download]),
    show,
  ).then((choice) => {
    if (choice === download) actions.download?.();
    if (choice === show) actions.show();
  });
}

/** Tells a status that the contract does not name, in the service's own words. */
export function tellStatus(run: RunName, status: string, isSandbox: boolean, onShow: () => void): void {
  const { l10n } = vscode;
  const show = l10n.t('Show');
  const word = sanitizeServiceText(status) || l10n.t('unknown');
  const text =
    run.label === undefined
      ? l10n.t('A run of {0} is now: {1}', sanitizeServiceText(run.modelName), word)
      : l10n.t('“{0}” is now: {1}', sanitizeServiceText(run.label), word);
  // Without a full stop: the word stands as it came.
  void showInformation(isSandbox ? withSandboxNote(`${text}.`, true) : text, show).then((choice) => {
    if (choice === show) onShow();
  });
}

/** Tells at once what became of several runs. @param isAway whether it became known after an absence */
export function tellDigest(
  { finished, changed }: { finished: number; changed: number },
  isAway: boolean,
  isSandbox: boolean,
  onShow: () => void,
): void {
  const { l10n } = vscode;
  const show = l10n.t('Show');
  const parts = [
    ...(finished === 0 ? [] : [finishedText(finished)]),
    ...(changed === 0 ? [] : [changedText(changed)]),
  ].join(', ');
  const text = isAway ? l10n.t('{0} while you were away.', parts) : l10n.t('{0}.', parts);
  void showInformation(withSandboxNote(text, isSandbox), show).then((choice) => {
    if (choice === show) onShow();
  });
}

function finishedText(count: number): string {
  return count === 1
    ? vscode.l10n.t('1 run finished')
    : vscode.l10n.t('{0} runs finished', formatCount(count));
}

function changedText(count: number): string {
  return count === 1
    ? vscode.l10n.t('1 run has a new status')
    : vscode.l10n.t('{0} runs have a new status', formatCount(count));
}
