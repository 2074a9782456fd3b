import { commands, l10n } from 'vscode';
import { NetworkError, ServiceError, UnexpectedResponseError } from '../../core/api/errors.ts';
import { CancelledError, ExpectedError } from '../../core/base/errors.ts';
import { KeyMissingError, KeyRejectedError, type Session } from '../../core/runs/session.ts';
import { SubmissionError, TooEarlyError } from '../../core/submission/errors.ts';
import { canContinue, type PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import { isCheckedAutomatically } from '../../core/submission/stage.ts';
import type { FaultOf } from '../../services.ts';
import { compact, inSandbox } from '../shared/format.ts';
import { COMMANDS, type CommandId } from '../shared/ids.ts';
import { notify, showInformation, showWarning } from '../shared/notifications.ts';
import { asText, explain } from '../shared/serviceErrors.ts';
import { BUTTONS, submissionTextOf, waitSentence, type Button } from './submissionText.ts';

const COMMAND_OF: Readonly<Partial<Record<Button, CommandId>>> = {
  check: COMMANDS.resolveSubmission,
  continue: COMMANDS.continueSubmission,
  resend: COMMANDS.continueSubmission,
};

/** Errors that mean a lost response. The way it was lost says nothing about the charge. */
const UNINFORMATIVE = [CancelledError, NetworkError, UnexpectedResponseError] as const;

/**
 * Notifies of an open submission in the words of the table, with its buttons; none sends anything.
 * @param failure why it wasn't sent or isn't known, if that was just learned
 */
export function showState(
  row: PendingSubmission,
  session: Session,
  failure?: { error: unknown; faultOf: FaultOf },
): void {
  const { id, submission } = row;
  const nowMs = Date.now();
  const { buttons, kind, named } = submissionTextOf({ ...row, hasLooked: true }, nowMs, session);
  const isOpen = kind === 'sent' || kind === 'unanswered';
  const reason = isOpen ? reasonOf(failure?.error, session) : undefined;
  const fault =
    reason === undefined ? failure?.faultOf(session.account, { error: failure.error }) : undefined;
  const checks =
    kind === 'sent' && isCheckedAutomatically(submission, nowMs) && l10n.t('We’ll keep checking.');
  const presses = buttons.flatMap((button) => {
    const command = COMMAND_OF[button];
    const isPossible = button === 'check' || canContinue(row, nowMs, session);
    if (command === undefined || !isPossible) return [];
    return [[BUTTONS[button], () => commands.executeCommand(command, id)] as const];
  });
  const text = compact(named, reason?.text ?? fault?.sentence ?? checks).join(' ');
  notify(isOpen ? showWarning : showInformation, inSandbox(text, session.account.kind === 'sandbox'), {
    ...Object.fromEntries(presses),
    ...(reason ?? fault)?.button,
  });
}

/** What prevents the user from resending or the extension from checking, and what helps. */
function reasonOf(error: unknown, { state }: Session) {
  if (error instanceof TooEarlyError)
    return { text: waitSentence(Date.now() + error.retryAfterMs), button: {} };
  const isLost = UNINFORMATIVE.some((type) => error instanceof type);
  const isKnown =
    error instanceof ExpectedError && !(error instanceof SubmissionError && error.code === 'not-answered');
  const isReason = error instanceof ServiceError ? error.code === 'invalid_api_key' : isKnown && !isLost;
  const locked = { 'key-rejected': KeyRejectedError, 'key-missing': KeyMissingError }[state as string];
  if (!isReason && locked === undefined) return undefined;
  const explanation = explain(isReason ? error : locked && new locked());
  const { command, title } = explanation.action;
  const press = { [title]: () => commands.executeCommand(command) };
  return { text: asText(explanation), button: command === COMMANDS.replaceKey ? press : {} };
}
