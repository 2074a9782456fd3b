import path from 'node:path';
import * as vscode from 'vscode';
import { COMMANDS } from '../ids.ts';
import { formatCount } from './dataset.ts';
import { lookText, stateText, type SubmissionView } from './pending.ts';
import { doubtSentence, type Doubt } from './resolve.ts';
import { withSandboxNote } from './sandbox.ts';
import { showInformation, showWarning } from '../notifications.ts';

/** Tells that there is no submission for what was asked. */
export function tellNothingPending(): void {
  void showInformation(vscode.l10n.t('No submission is waiting for a decision: all are settled.'));
}

/** Tells that there is nothing to cancel. */
export function tellNoUpload(): void {
  void showInformation(vscode.l10n.t('No upload is under way that could still be cancelled.'));
}

/** Tells that a submission that something was asked for is not open any more. */
export function tellSettled(): void {
  void showInformation(vscode.l10n.t('This submission is settled: the Runs view shows what became of it.'));
}

/** Tells that a submission cannot be treated like this in the state that it is in. */
export function tellNotNow(view: SubmissionView): void {
  void showInformation(
    vscode.l10n.t(
      'This cannot be done with the submission of {0} now: {1}.',
      view.intent.dataset.filename,
      stateText(view, Date.now()),
    ),
  );
}

/** Tells that nothing of a submission was charged. @param goOn where it can be continued */
export function tellNothingCharged(fileName: string, isSandbox: boolean, goOn?: () => void): void {
  const { l10n } = vscode;
  const title = l10n.t('Continue…');
  const text = l10n.t('{0} was not charged. Its submission can be continued or discarded.', fileName);
  void showInformation(withSandboxNote(text, isSandbox), ...(goOn === undefined ? [] : [title])).then(
    (choice) => {
      if (choice === title) goOn?.();
    },
  );
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
 * Tells, once after a start, which submissions the end of a window or of the machine left open.
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
  const text =
    unknown.length === 0
      ? count === 1
        ? l10n.t('A submission of {0} was interrupted; nothing was charged. It can be continued.', name)
        : l10n.t(
            '{0} submissions were interrupted; nothing was charged. They can be continued.',
            formatCount(count),
          )
      : count === 1
        ? l10n.t('A submission of {0} was interrupted; it may have been charged.', name)
        : l10n.t('{0} submissions were interrupted; they may have been charged.', formatCount(count));
  const said = withSandboxNote(text, isSandbox);
  const told = unknown.length === 0 ? showInformation(said, show) : showWarning(said, check, show);
  void told.then((choice) => {
    if (choice === check) run(COMMANDS.checkSubmission, id);
    if (choice === show) run(COMMANDS.resolveSubmission, id);
  });
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
