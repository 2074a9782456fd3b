import { l10n } from 'vscode';
import type { PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import { submissionName } from '../../core/submission/submission.ts';
import type { Services } from '../../services.ts';
import type { CommandResult } from '../shared/commands.ts';
import { compact } from '../shared/format.ts';
import { showInformation } from '../shared/notifications.ts';
import { timesOfAlike, withTime } from '../shared/rowText.ts';
import { pick } from '../shared/steps.ts';
import { showEnd, type EndParts } from './submissionResult.ts';
import { findSubmission, submissionTextOf } from './submissionText.ts';

/** Returns the ID of the submission that a command was called with, as a row or as an ID. */
export function submissionIdOf(argument: unknown): string | undefined {
  const id = typeof argument === 'object' && argument !== null && 'id' in argument ? argument.id : argument;
  return typeof id === 'string' ? id : undefined;
}

/**
 * Returns the submission of a command's argument. Without one: the only one that can be resolved, or the one
 * that the user picks. If there is none, returns the end of the command after a notification.
 */
export async function chooseSubmission(
  parts: EndParts,
  argument: unknown,
  begin?: 'continue',
): Promise<PendingSubmission | CommandResult> {
  const { sessions, submissions } = parts;
  const { pending } = submissions;
  const given = submissionIdOf(argument);
  if (given !== undefined) {
    const found = findSubmission(submissions, given);
    return found ?? showEnd(given, parts, begin === 'continue');
  }
  const reachable = pending.filter(({ accountId }) => sessions.find(accountId) !== undefined);
  if (reachable.length > 1) return (await pickSubmission(reachable, sessions)) ?? { outcome: 'cancelled' };
  const [only] = reachable;
  if (only !== undefined) return only;
  void showInformation(
    pending.length === 0
      ? l10n.t('No submission needs your attention.')
      : l10n.t('Sign in to your signed-out accounts to resolve their submissions.'),
  );
  return { outcome: 'unavailable' };
}

/** Shows their rows; those that would read alike get a time. */
export async function pickSubmission(
  submissions: readonly PendingSubmission[],
  sessions: Services['sessions'],
): Promise<PendingSubmission | undefined> {
  const otherAccount = (accountId: string) =>
    accountId === sessions.active?.account.id
      ? undefined
      : (sessions.find(accountId)?.account.name ?? l10n.t('a signed-out account'));
  const rows = submissions.map((one) => ({
    label: submissionName(one.submission),
    description: compact(
      submissionTextOf(one, Date.now(), sessions.find(one.accountId)).row,
      otherAccount(one.accountId),
    ).join(' · '),
    atMs: one.submission.created.localMs,
    value: one,
  }));
  const times = timesOfAlike(
    rows.map(({ label, description, atMs, value }) => ({ id: value.id, text: label + description, atMs })),
  );
  const items = rows.map(({ label, description, value }) => ({
    label,
    description: withTime(description, times.get(value.id)),
    detail: value.submission.dataset.filename,
    value,
  }));
  const answer = await pick<PendingSubmission>({ title: l10n.t('Choose a Submission') }, { items });
  return answer.kind === 'value' ? answer.value : undefined;
}
