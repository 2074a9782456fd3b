import * as vscode from 'vscode';
import { MAX_LABEL_LENGTH } from '../../core/api/types.ts';
import { COMMANDS } from '../shared/ids.ts';
import {
  submissionAccessibleLabel,
  submissionDescription,
  submissionName,
  submissionTooltip,
} from '../submission/pendingMessages.ts';
import { harmlessText, strangerText } from '../shared/strangerText.ts';
import { treeWords } from './messages.ts';
import { canCheck, canContinue } from '../../core/submission/pendingActions.ts';
import {
  isCancellable,
  type PendingSubmission,
  type SubmissionState,
} from '../../core/submission/pendingSubmission.ts';

/**
 * The row of a submission that is not settled: selecting it shows what is known and what can be done.
 * @param accountName of another account than the active one
 */
export function submissionItem(
  submission: PendingSubmission,
  modelName: string,
  nowMs: number,
  accountName?: string,
): vscode.TreeItem {
  const { id, state } = submission;
  const item = new vscode.TreeItem(strangerText(submissionName(submission), MAX_LABEL_LENGTH));
  item.id = `submission:${id}`;
  item.description = submissionDescription(submission, nowMs, accountName);
  item.tooltip = harmlessText(submissionTooltip(submission, modelName, nowMs, accountName));
  item.accessibilityInformation = {
    label: harmlessText(submissionAccessibleLabel(submission, nowMs, accountName)),
  };
  item.iconPath = iconOf(state);
  item.contextValue = contextOf(submission, nowMs);
  item.command = { command: COMMANDS.resolveSubmission, title: treeWords.resolve(), arguments: [id] };
  return item;
}

/** What its menus go by; `late`: it can be looked for, and not be sent again. */
function contextOf(submission: PendingSubmission, nowMs: number): string {
  const { state } = submission;
  if (isCancellable(submission)) return 'submission.cancellable';
  const isLate = canCheck(submission) && !canContinue(submission, nowMs);
  return isLate ? `submission.${state}.late` : `submission.${state}`;
}

function iconOf(state: SubmissionState): vscode.ThemeIcon {
  switch (state) {
    case 'queued':
    case 'waiting':
      return new vscode.ThemeIcon('clockface');
    case 'uploading':
    case 'validating':
      return new vscode.ThemeIcon('cloud-upload');
    case 'checking':
      return new vscode.ThemeIcon('search');
    case 'elsewhere':
      return new vscode.ThemeIcon('multiple-windows');
    case 'unsent':
      return new vscode.ThemeIcon('debug-pause');
    case 'not-charged':
    case 'refused':
      return new vscode.ThemeIcon('circle-slash');
    case 'unknown':
      return new vscode.ThemeIcon('warning', new vscode.ThemeColor('list.warningForeground'));
  }
}
