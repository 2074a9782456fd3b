import * as vscode from 'vscode';
import { MAX_LABEL_LENGTH } from '../../core/api/types.ts';
import type { Disposable } from '../../core/base/disposable.ts';
import { Emitter } from '../../core/base/event.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import {
  isCancellable,
  type PendingSubmission,
  type SubmissionState,
} from '../../core/submission/pendingSubmission.ts';
import type { Submitter } from '../../core/submission/submitter.ts';
import { COMMANDS } from '../shared/ids.ts';
import type { RunsSection } from '../shared/runsSection.ts';
import { sanitizeText, sanitizeServiceText } from '../shared/serviceText.ts';
import {
  submissionMessages,
  submissionAccessibleLabel,
  submissionDescription,
  submissionName,
  submissionTooltip,
} from './messages.ts';

/** The open submissions in the Runs view: those of the active account first, then those of the other accounts. */
export class SubmissionRows implements RunsSection, Disposable {
  readonly #sessions: Pick<Sessions, 'active' | 'find'>;
  readonly #submitter: Pick<Submitter, 'pending'>;
  readonly #subscription: Disposable;
  readonly #onDidChange = new Emitter<string | undefined>();
  readonly #states = new Map<string, SubmissionState>();

  readonly onDidChange = this.#onDidChange.event;

  constructor(
    sessions: Pick<Sessions, 'active' | 'find'>,
    submitter: Pick<Submitter, 'pending' | 'onDidChange'>,
  ) {
    this.#sessions = sessions;
    this.#submitter = submitter;
    this.#subscription = submitter.onDidChange((submission) => this.#changed(submission));
  }

  get rowIds(): readonly string[] {
    const active = this.#sessions.active?.account.id;
    // Those of a signed-out account can be neither checked nor sent.
    const shown = this.#submitter.pending.filter(
      ({ accountId }) => accountId === active || this.#sessions.find(accountId) !== undefined,
    );
    const isOwn = ({ accountId }: PendingSubmission) => accountId === active;
    return [...shown.filter(isOwn), ...shown.filter((one) => !isOwn(one))].map(({ id }) => id);
  }

  get tickingIds(): readonly string[] {
    const isTicking = ({ state }: PendingSubmission) => state === 'waiting' || state === 'uploading';
    return this.#submitter.pending.filter(isTicking).map(({ id }) => id);
  }

  item(id: string): vscode.TreeItem {
    const submission = this.#submitter.pending.find((pending) => pending.id === id);
    if (submission === undefined) return new vscode.TreeItem('');
    const modelId = submission.intent.model_id;
    const session = this.#sessions.find(submission.accountId);
    const modelName = session?.models.nameOf(modelId) ?? modelId;
    const accountName = session === this.#sessions.active ? undefined : session?.account.name;
    return submissionItem(submission, modelName, Date.now(), accountName);
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#onDidChange.dispose();
  }

  #changed({ id, state }: PendingSubmission): void {
    const before = this.#states.get(id);
    const isOpen = this.#submitter.pending.some((pending) => pending.id === id);
    if (isOpen) this.#states.set(id, state);
    else this.#states.delete(id);
    if (before === undefined || !isOpen) this.#onDidChange.fire(undefined);
    // A row that is redrawn between the press and the release of its button loses the click: progress waits for the tick.
    else if (state !== 'uploading' || state !== before) this.#onDidChange.fire(id);
  }
}

/** @param accountName of another account than the active one */
function submissionItem(
  submission: PendingSubmission,
  modelName: string,
  nowMs: number,
  accountName?: string,
): vscode.TreeItem {
  const { id, intent, state } = submission;
  const item = new vscode.TreeItem(sanitizeServiceText(submissionName(intent), MAX_LABEL_LENGTH));
  item.id = `submission:${id}`;
  item.description = submissionDescription(submission, nowMs, accountName);
  item.tooltip = sanitizeText(submissionTooltip(submission, modelName, nowMs, accountName));
  item.accessibilityInformation = {
    label: sanitizeText(submissionAccessibleLabel(submission, nowMs, accountName)),
  };
  item.iconPath = iconOf(state);
  item.contextValue = isCancellable(submission) ? 'submission.cancellable' : `submission.${state}`;
  item.command = {
    command: COMMANDS.resolveSubmission,
    title: submissionMessages.resolve(),
    arguments: [id],
  };
  return item;
}

function iconOf(state: SubmissionState): vscode.ThemeIcon {
  switch (state) {
    case 'queued':
      return new vscode.ThemeIcon('clockface');
    case 'uploading':
      return new vscode.ThemeIcon('cloud-upload');
    case 'validating':
      return new vscode.ThemeIcon('sync');
    case 'waiting':
      return new vscode.ThemeIcon('watch');
    case 'checking':
      return new vscode.ThemeIcon('search');
    case 'elsewhere':
      return new vscode.ThemeIcon('multiple-windows');
    case 'unsent':
    case 'not-charged':
    case 'refused':
      return new vscode.ThemeIcon('circle-slash');
    case 'unknown':
      return new vscode.ThemeIcon('warning', new vscode.ThemeColor('list.warningForeground'));
  }
}
