import * as vscode from 'vscode';
import type { Sessions } from '../../core/runs/sessions.ts';
import { mayBeCharged } from '../../core/submission/intent.ts';
import {
  isCancellable,
  type PendingSubmission,
  type SubmissionState,
} from '../../core/submission/pendingSubmission.ts';
import type { Submitter } from '../../core/submission/submitter.ts';
import { COMMANDS } from '../shared/ids.ts';
import { rowLabel } from '../shared/runMessages.ts';
import { sanitizeText } from '../shared/serviceText.ts';
import {
  submissionAccessibleLabel,
  submissionDescription,
  submissionName,
  submissionTooltip,
} from './rowMessages.ts';

const ICONS: Readonly<Record<SubmissionState, string>> = {
  queued: 'clockface',
  uploading: 'cloud-upload',
  validating: 'sync',
  waiting: 'watch',
  checking: 'search',
  elsewhere: 'multiple-windows',
  unsent: 'circle-slash',
  'not-charged': 'circle-slash',
  refused: 'circle-slash',
  unknown: 'warning',
};

/** The rows of open submissions in the Runs view, those of the active account first. */
export class SubmissionRows {
  readonly #sessions: Pick<Sessions, 'active' | 'find'>;
  readonly #submitter: Pick<Submitter, 'pending'>;

  constructor(sessions: Pick<Sessions, 'active' | 'find'>, submitter: Pick<Submitter, 'pending'>) {
    this.#sessions = sessions;
    this.#submitter = submitter;
  }

  /** The IDs in the order of the rows. */
  get rowIds(): readonly string[] {
    const active = this.#sessions.active?.account.id;
    // Submissions of a signed-out account can be neither checked nor sent.
    const shown = this.#submitter.pending.filter(
      ({ accountId }) => accountId === active || this.#sessions.find(accountId) !== undefined,
    );
    const isOwn = ({ accountId }: PendingSubmission) => accountId === active;
    return [...shown.filter(isOwn), ...shown.filter((one) => !isOwn(one))].map(({ id }) => id);
  }

  /** The rows whose text changes every second, without an event. */
  get tickingIds(): readonly string[] {
    const isTicking = ({ state }: PendingSubmission) => state === 'waiting' || state === 'uploading';
    return this.#submitter.pending.filter(isTicking).map(({ id }) => id);
  }

  item(id: string): vscode.TreeItem {
    const submission = this.#submitter.pending.find((pending) => pending.id === id);
    if (submission === undefined) return new vscode.TreeItem('');
    const { accountId, intent, state } = submission;
    const nowMs = Date.now();
    const session = this.#sessions.find(accountId);
    const modelName = session?.models.nameOf(intent.model_id) ?? intent.model_id;
    const accountName = session === this.#sessions.active ? undefined : session?.account.name;
    const item = new vscode.TreeItem(rowLabel(submissionName(intent)));
    item.id = `submission:${id}`;
    item.description = submissionDescription(submission, nowMs, accountName);
    item.tooltip = sanitizeText(submissionTooltip(submission, modelName, nowMs, accountName));
    const label = sanitizeText(submissionAccessibleLabel(submission, nowMs, accountName));
    item.accessibilityInformation = { label };
    const color = state === 'unknown' ? new vscode.ThemeColor('list.warningForeground') : undefined;
    item.iconPath = new vscode.ThemeIcon(ICONS[state], color);
    // Once it may have been charged, stopping it takes more than a click on the row.
    const isStoppable = isCancellable(submission) && !mayBeCharged(intent);
    item.contextValue = isStoppable ? 'submission.cancellable' : `submission.${state}`;
    item.command = { command: COMMANDS.resolveSubmission, title: '', arguments: [id] };
    return item;
  }
}
