import path from 'node:path';
import * as vscode from 'vscode';
import { COMMANDS } from '../shared/ids.ts';
import { isInterrupted, lookText, stateText, type SubmissionView } from './pendingMessages.ts';
import { doubtSentence, type Doubt } from './resolveMessages.ts';
import { withSandboxNote } from '../shared/sandboxMessages.ts';
import { showInformation, showWarning } from '../shared/notifications.ts';
import { formatCount } from '../shared/format.ts';

/** As many open submissions are listed; a notification has room for no more. */
const MOST_LISTED = 3;

/** A submission that is open. */
export interface OpenSubmission {
  view: SubmissionView;
  /** The name of its account, where that is not the active one. */
  accountName: string | undefined;
}

/** Tells that there is no submission for what was asked, and which ones are open all the same. */
export function tellNothingPending(open: readonly OpenSubmission[]): void {
  const { l10n } = vscode;
  void showInformation(
    open.length === 0
      ? l10n.t('No submission needs your attention.')
      : `${l10n.t('There is nothing to do here right now.')} ${stillOpen(open)}`,
  );
}

/** Tells that there is nothing to cancel, and which submissions are open all the same. */
export function tellNoUpload(open: readonly OpenSubmission[]): void {
  const text = vscode.l10n.t('There is no upload to cancel.');
  void showInformation(open.length === 0 ? text : `${text} ${stillOpen(open)}`);
}

function stillOpen(open: readonly OpenSubmission[]): string {
  const { l10n } = vscode;
  const nowMs = Date.now();
  const listed = open
    .slice(0, MOST_LISTED)
    .map(({ view, accountName }) =>
      accountName === undefined
        ? l10n.t('{0} ({1})', view.intent.dataset.filename, stateText(view, nowMs))
        : l10n.t('{0} in {1} ({2})', view.intent.dataset.filename, accountName, stateText(view, nowMs)),
    )
    .join('; ');
  return open.length <= MOST_LISTED
    ? l10n.t('Still open: {0}.', listed)
    : l10n.t('Still open: {0}; and {1} more.', listed, formatCount(open.length - MOST_LISTED));
}

/** Tells that a submission that something was asked for is not open any more. */
export function tellSettled(): void {
  void showInformation(vscode.l10n.t('This submission is already resolved. See Runs.'));
}

/** Tells that a submission cannot be treated like this in the state that it is in. */
export function tellNotNow(view: SubmissionView): void {
  void showInformation(
    vscode.l10n.t(
      'Not possible right now – {0}: {1}.',
      view.intent.dataset.filename,
      stateText(view, Date.now()),
    ),
  );
}

/** Tells that nothing of a submission was charged. @param goOn where it can be continued */
export function tellNothingCharged(
  fileName: string,
  account: { name: string; kind: 'service' | 'sandbox' },
  goOn?: () => void,
): void {
  const { l10n } = vscode;
  const title = l10n.t('Continue…');
  const text = l10n.t(
    '{0} was not charged. Its submission to {1} can be continued or discarded.',
    fileName,
    account.name,
  );
  void showInformation(
    withSandboxNote(text, account.kind === 'sandbox'),
    ...(goOn === undefined ? [] : [title]),
  ).then((choice) => {
    if (choice === title) goOn?.();
  });
}

/** Tells that a look could not tell, what it saw and why that is not enough. */
export function tellCannotTell(
  view: SubmissionView,
  doubt: Doubt,
  isSandbox: boolean,
  onShow: () => void,
): void {
  const { l10n } = vscode;
  const { filename } = view.intent.dataset;
  const show = l10n.t('Show');
  const seen = lookText(view, Date.now());
  const text = [
    l10n.t('Whether {0} was charged is not known yet.', filename),
    ...(seen === undefined ? [] : [`${seen}.`]),
    doubtSentence(doubt),
  ].join(' ');
  void showWarning(withSandboxNote(text, isSandbox), show).then((choice) => {
    if (choice === show) onShow();
  });
}

/**
 * Tells, once after a start, which submissions an earlier window left open; interrupted is only what got no answer.
 * @param views those of the active account that are `unsent`, or may have been charged
 * @param run runs a command for their account
 */
export function tellInterrupted(
  views: readonly SubmissionView[],
  isSandbox: boolean,
  run: (command: string, id?: string) => void,
): void {
  const { l10n } = vscode;
  const unknown = views.filter(({ state }) => state !== 'unsent');
  const [first] = unknown.length > 0 ? unknown : views;
  if (first === undefined) return;
  const count = Math.max(unknown.length, unknown.length === 0 ? views.length : 0);
  const name = first.intent.dataset.filename;
  // What is one is acted on; of several the person chooses.
  const id = count === 1 ? first.id : undefined;
  const show = l10n.t('Show');
  const check = l10n.t('Check Now');
  const areInterrupted = (unknown.length > 0 ? unknown : views).every(isInterrupted);
  const said = withSandboxNote(leftOpenText(unknown.length > 0, areInterrupted, count, name), isSandbox);
  const told = unknown.length === 0 ? showInformation(said, show) : showWarning(said, check, show);
  void told.then((choice) => {
    if (choice === check) run(COMMANDS.checkSubmission, id);
    if (choice === show) run(COMMANDS.resolveSubmission, id);
  });
}

function leftOpenText(mayBeCharged: boolean, areInterrupted: boolean, count: number, name: string): string {
  const { l10n } = vscode;
  const some = formatCount(count);
  if (mayBeCharged && areInterrupted)
    return count === 1
      ? l10n.t('A submission of {0} was interrupted; it may have been charged.', name)
      : l10n.t('{0} submissions were interrupted; they may have been charged.', some);
  if (mayBeCharged)
    return count === 1
      ? l10n.t('{0} may have been charged: the service didn’t confirm it.', name)
      : l10n.t('{0} submissions may have been charged: the service didn’t confirm them.', some);
  if (areInterrupted)
    return count === 1
      ? l10n.t('A submission of {0} was interrupted; nothing was charged. It can be continued.', name)
      : l10n.t('{0} submissions were interrupted; nothing was charged. They can be continued.', some);
  return count === 1
    ? l10n.t('{0} was not charged. Its submission can be continued.', name)
    : l10n.t('{0} submissions were not charged. They can be continued.', some);
}

/** Tells that a file of the journal could not be read: nothing of it was deleted. */
export function tellJournalSetAside(file: string): void {
  const { l10n } = vscode;
  const name = path.basename(file);
  const isLeft = name.endsWith('.json');
  void showWarning(
    isLeft
      ? l10n.t(
          'The file {0} of the journal of submissions cannot be read, at least not by this version of the extension; it was left as it is. A submission in it may have been charged: compare the balance and the runs. Its folder: {1}',
          name,
          path.dirname(file),
        )
      : l10n.t(
          'A file of the journal of submissions could not be read and was set aside as {0}. A submission in it may have been charged: compare the balance and the runs. Its folder: {1}',
          name,
          path.dirname(file),
        ),
  );
}
