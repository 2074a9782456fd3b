import * as vscode from 'vscode';
import { userLabel } from '../../core/runs/marker.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import { submissionName, type Intent } from '../../core/submission/intent.ts';
import type { Journal } from '../../core/submission/journal.ts';
import {
  canContinue,
  isCancellable,
  type PendingSubmission,
  type SubmissionState,
} from '../../core/submission/pendingSubmission.ts';
import { isPastBoundary, stageOf } from '../../core/submission/stage.ts';
import type { Submissions } from '../../core/submission/submissions.ts';
import { moneySentence } from '../shared/chargeText.ts';
import { compact, formatBytes, formatTime } from '../shared/format.ts';
import { COMMANDS } from '../shared/ids.ts';
import { timesOfAlike, withTime, type RowsAboveRuns } from '../shared/rowText.ts';
import { sanitizeServiceText, sanitizeText } from '../shared/serviceText.ts';
import { factLine, TERMS } from '../shared/terms.ts';
import { submissionDescription, unreadableText } from './submissionTexts.ts';

const ICONS: Readonly<Record<SubmissionState, string>> = {
  queued: 'clockface',
  uploading: 'cloud-upload',
  validating: 'sync',
  waiting: 'watch',
  checking: 'search',
  elsewhere: 'multiple-windows',
  stopped: 'stop-circle',
  unsent: 'circle-slash',
  'not-charged': 'circle-slash',
  refused: 'circle-slash',
  unknown: 'warning',
};

/** VS Code gives a row's label all width, and the description, with money first, only the rest. */
const LABEL_UNITS = 16;
const LABEL_UNITS_WITH_TIME = 9;

/**
 * Shortens the label of a row so that the description after it remains readable.
 * @param time in the description, if any
 */
function rowLabel(name: string, time?: string): string {
  return sanitizeServiceText(name, time === undefined ? LABEL_UNITS : LABEL_UNITS_WITH_TIME);
}

/** The rows of open submissions in the Runs view: those of the active account, then those of the others. */
export class SubmissionRows implements RowsAboveRuns {
  readonly #sessions: Pick<Sessions, 'active' | 'find'>;
  readonly #submissions: Pick<Submissions, 'pending' | 'wasTried'>;
  readonly #journal: Pick<Journal, 'unreadable' | 'onDidChangeUnreadable'>;

  constructor(
    sessions: Pick<Sessions, 'active' | 'find'>,
    submissions: Pick<Submissions, 'pending' | 'wasTried'>,
    journal: Pick<Journal, 'unreadable' | 'onDidChangeUnreadable'>,
  ) {
    this.#sessions = sessions;
    this.#submissions = submissions;
    this.#journal = journal;
  }

  get message(): string {
    return unreadableText(this.#journal.unreadable.length);
  }

  get onDidChangeMessage(): Journal['onDidChangeUnreadable'] {
    return this.#journal.onDidChangeUnreadable;
  }

  get rowIds(): readonly string[] {
    const active = this.#sessions.active?.account.id;
    // Submissions of a signed-out account can be neither checked nor sent.
    const shown = this.#submissions.pending.filter(
      ({ accountId }) => accountId === active || this.#sessions.find(accountId) !== undefined,
    );
    const isOwn = ({ accountId }: PendingSubmission) => accountId === active;
    const others = shown.filter((one) => !isOwn(one));
    return [...shown.filter(isOwn), ...others].map(({ id }) => id);
  }

  get tickingIds(): readonly string[] {
    return this.#submissions.pending.filter(({ state }) => state === 'uploading').map(({ id }) => id);
  }

  item(id: string): vscode.TreeItem {
    const submission = this.#submissions.pending.find((pending) => pending.id === id);
    if (submission === undefined) return new vscode.TreeItem('');
    const { accountId, intent, state } = submission;
    const nowMs = Date.now();
    const session = this.#sessions.find(accountId);
    const modelName = session?.models.nameOf(intent.model_id) ?? intent.model_id;
    const accountName = this.#otherAccount(accountId);
    const time = this.#timeOf(id, nowMs);
    const item = new vscode.TreeItem(rowLabel(submissionName(intent), time));
    item.id = `submission:${id}`;
    item.description = withTime(submissionDescription(submission, nowMs, accountName), time);
    const what = this.#whatHappened(submission, nowMs);
    item.tooltip = sanitizeText(submissionTooltip(intent, what, modelName, accountName));
    const label = sanitizeText(submissionAccessibleLabel(submission, nowMs, accountName, time));
    item.accessibilityInformation = { label };
    const color = state === 'unknown' ? new vscode.ThemeColor('list.warningForeground') : undefined;
    item.iconPath = new vscode.ThemeIcon(ICONS[state], color);
    // What may have been charged is stopped in its dialog, not by a click on the row.
    const isStoppable = isCancellable(submission) && !isPastBoundary(stageOf(intent));
    // The dialog says why it can't be resent.
    const isStuck = ['unsent', 'not-charged'].includes(state) && !canContinue(submission, nowMs, session);
    item.contextValue = isStoppable
      ? 'submission.cancellable'
      : isStuck
        ? 'submission'
        : `submission.${state === 'stopped' ? 'unknown' : state}`;
    item.command = { command: COMMANDS.resolveSubmission, title: '', arguments: [id] };
    return item;
  }

  /** Returns the sentence about an upload that stopped, or the short description of any other submission. */
  #whatHappened(submission: PendingSubmission, nowMs: number): string {
    const { id, accountId, intent, state } = submission;
    const isInterrupted = ['checking', 'stopped', 'unsent'].includes(state);
    if (!isInterrupted || isPastBoundary(stageOf(intent))) return submissionDescription(submission, nowMs);
    // The first look begins as soon as the service responds.
    const isConnected = ['connecting', 'ready'].includes(this.#sessions.find(accountId)?.state ?? '');
    const isUntried = state === 'stopped' && !this.#submissions.wasTried(id);
    const shown = isConnected && isUntried ? { ...submission, state: 'checking' as const } : submission;
    return moneySentence(shown, nowMs);
  }

  /** Returns the name of an account that isn't active. */
  #otherAccount(accountId: string | undefined): string | undefined {
    const session = accountId === undefined ? undefined : this.#sessions.find(accountId);
    return session === this.#sessions.active ? undefined : session?.account.name;
  }

  /** Returns the time of a submission whose row would read like another one. */
  #timeOf(id: string, nowMs: number): string | undefined {
    const rows = this.#submissions.pending.map((one) => ({
      id: one.id,
      text:
        rowLabel(submissionName(one.intent)) +
        submissionDescription(one, nowMs, this.#otherAccount(one.accountId)),
      atMs: one.intent.created.localMs,
    }));
    return timesOfAlike(rows).get(id);
  }
}

/** The text of a row for screen readers. @param time given if the row would read like another one */
function submissionAccessibleLabel(
  submission: PendingSubmission,
  nowMs: number,
  accountName?: string,
  time?: string,
): string {
  const names = new Set([submissionName(submission.intent), submission.intent.dataset.filename]);
  const description = withTime(submissionDescription(submission, nowMs, accountName), time);
  return [...names, description.replaceAll(' · ', ', ')].join(', ');
}

function submissionTooltip(
  { created, dataset, label: sent }: Intent,
  what: string,
  modelName: string,
  accountName?: string,
): string {
  const label = userLabel(sent);
  return compact(
    dataset.filename,
    what,
    accountName && factLine(TERMS.account, accountName),
    factLine(TERMS.model, modelName),
    label !== undefined && factLine(TERMS.label, label),
    factLine(TERMS.size, formatBytes(dataset.sizeBytes)),
    factLine(TERMS.started, formatTime(created.localMs)),
  ).join('\n');
}
