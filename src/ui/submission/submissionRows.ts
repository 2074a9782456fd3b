import * as vscode from 'vscode';
import { userLabel } from '../../core/runs/marker.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import type { Journal } from '../../core/submission/journal.ts';
import { canContinue, type PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import { submissionName, type Submission } from '../../core/submission/submission.ts';
import type { Submissions } from '../../core/submission/submissions.ts';
import { compact, formatBytes, formatTime } from '../shared/format.ts';
import { COMMANDS } from '../shared/ids.ts';
import { timesOfAlike, withTime, type RowsAboveRuns } from '../shared/rowText.ts';
import { sanitizeServiceText, sanitizeText } from '../shared/serviceText.ts';
import { factLine, TERMS } from '../shared/terms.ts';
import { submissionTextOf, unreadableText } from './submissionText.ts';

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
  readonly #submissions: Pick<Submissions, 'pending'>;
  readonly #journal: Pick<Journal, 'unreadable' | 'onDidChangeUnreadable'>;

  constructor(
    sessions: Pick<Sessions, 'active' | 'find'>,
    submissions: Pick<Submissions, 'pending'>,
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
    const pending = this.#submissions.pending.find((pending) => pending.id === id);
    if (pending === undefined) return new vscode.TreeItem('');
    const { accountId, submission } = pending;
    const nowMs = Date.now();
    const session = this.#sessions.find(accountId);
    const modelName = session?.models.nameOf(submission.model_id) ?? submission.model_id;
    const accountName = this.#otherAccount(accountId);
    const time = this.#timeOf(id, nowMs);
    const { buttons, icon, kind, row, sentence } = submissionTextOf(pending, nowMs, session);
    const description = withTime(this.#description(pending, nowMs), time);
    const item = new vscode.TreeItem(rowLabel(submissionName(submission), time));
    item.id = `submission:${id}`;
    item.description = description;
    // The row has more, and may be cut.
    const what = kind === 'here' || kind === 'sent' ? row : sentence;
    item.tooltip = sanitizeText(submissionTooltip(submission, what, modelName, accountName));
    const names = [...new Set([submissionName(submission), submission.dataset.filename])];
    const label = sanitizeText([...names, description.replaceAll(' · ', ', ')].join(', '));
    item.accessibilityInformation = { label };
    const color = kind === 'sent' ? new vscode.ThemeColor('list.warningForeground') : undefined;
    item.iconPath = new vscode.ThemeIcon(icon, color);
    const [button] = buttons;
    // What may have been charged is stopped in its dialog, which also says why one can't be sent again.
    const isStuck =
      button === 'cancel'
        ? submission.stage === 'sent'
        : button !== 'check' && !canContinue(pending, nowMs, session);
    item.contextValue = button === undefined || isStuck ? 'submission' : `submission.${button}`;
    item.command = { command: COMMANDS.resolveSubmission, title: '', arguments: [id] };
    return item;
  }

  /** Returns the name of an account that isn't active. */
  #otherAccount(accountId: string | undefined): string | undefined {
    const session = accountId === undefined ? undefined : this.#sessions.find(accountId);
    return session === this.#sessions.active ? undefined : session?.account.name;
  }

  #description(one: PendingSubmission, nowMs: number): string {
    const { row } = submissionTextOf(one, nowMs, this.#sessions.find(one.accountId));
    return compact(row, this.#otherAccount(one.accountId)).join(' · ');
  }

  /** Returns the time of a submission whose row would read like another one. */
  #timeOf(id: string, nowMs: number): string | undefined {
    const rows = this.#submissions.pending.map((one) => ({
      id: one.id,
      text: rowLabel(submissionName(one.submission)) + this.#description(one, nowMs),
      atMs: one.submission.created.localMs,
    }));
    return timesOfAlike(rows).get(id);
  }
}

function submissionTooltip(
  { created, dataset, label: sent }: Submission,
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
