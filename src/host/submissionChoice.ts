import { pickSubmission } from './dialogs/pendingDialogs.ts';
import { submissionIdOf } from './submissionArgument.ts';
import type { SubmissionView } from './wording/pending.ts';
import { tellNothingPending, tellSettled } from './wording/pendingNotices.ts';

/**
 * The submission that a command was called with, by its row or id; without one, that of the active account there is to
 * decide about, or the one that the person picks.
 * @param beActive makes an account the active one, if it is not and the person agrees
 * @param isWanted what the command can do something about
 */
export async function chooseSubmission<T extends SubmissionView & { readonly accountId: string }>(
  argument: unknown,
  pending: readonly T[],
  activeId: string | undefined,
  beActive: (accountId: string) => Promise<boolean>,
  isWanted: (submission: T) => boolean = () => true,
): Promise<T | undefined> {
  const given = submissionIdOf(argument);
  if (given === undefined) {
    const own = pending.filter((one) => one.accountId === activeId && isWanted(one));
    if (own.length > 1) return pickSubmission(own);
    if (own.length === 0) tellNothingPending();
    return own[0];
  }
  const found = pending.find(({ id }) => id === given);
  if (found === undefined) {
    tellSettled();
    return undefined;
  }
  // A notification can be answered after a switch.
  return (await beActive(found.accountId)) ? found : undefined;
}
