import * as vscode from 'vscode';
import { pickSubmission } from './pendingDialogs.ts';
import { submissionIdOf } from './submissionArgument.ts';
import type { SubmissionView } from './pendingMessages.ts';
import { tellNothingPending, tellSettled, type OpenSubmission } from './noticeMessages.ts';

/** The sessions of the accounts, as far as it matters whose a submission is. */
export interface SubmissionAccounts {
  readonly active: { readonly account: { readonly id: string } } | undefined;
  find(accountId: string): { readonly account: { readonly name: string } } | undefined;
}

type Pending = SubmissionView & { readonly accountId: string };

/**
 * The submission that a command was called with, by its row or id; without one, the one there is to decide about, or that the
 * person picks: of the active account, or of all where none has to be active.
 * @param beActive makes an account the active one, if it is not and the person agrees; undefined where it need not be
 * @param isWanted what the command can do something about
 */
export async function chooseSubmission<T extends Pending>(
  argument: unknown,
  pending: readonly T[],
  sessions: SubmissionAccounts,
  beActive: ((accountId: string) => Promise<boolean>) | undefined,
  isWanted: (submission: T) => boolean = () => true,
): Promise<T | undefined> {
  const given = submissionIdOf(argument);
  if (given === undefined) {
    const isReachable = ({ accountId }: T) =>
      accountId === sessions.active?.account.id ||
      (beActive === undefined && sessions.find(accountId) !== undefined);
    const wanted = pending.filter((one) => isReachable(one) && isWanted(one));
    if (wanted.length > 1) return pickSubmission(wanted, (one) => otherAccount(one, sessions));
    if (wanted.length === 0) tellNothingPending(openOnes(pending, sessions));
    return wanted[0];
  }
  const found = pending.find(({ id }) => id === given);
  if (found === undefined) {
    tellSettled();
    return undefined;
  }
  // A notification can be answered after a switch.
  return beActive === undefined || (await beActive(found.accountId)) ? found : undefined;
}

/** What is open on this machine, and of which account where that is not the active one. */
export function openOnes(pending: readonly Pending[], sessions: SubmissionAccounts): OpenSubmission[] {
  return pending.map((view) => ({ view, accountName: otherAccount(view, sessions) }));
}

/** Whose a submission is, where not the active account's. */
export function otherAccount({ accountId }: Pending, sessions: SubmissionAccounts): string | undefined {
  if (accountId === sessions.active?.account.id) return undefined;
  return sessions.find(accountId)?.account.name ?? vscode.l10n.t('a signed-out account');
}
