import { commands, l10n } from 'vscode';
import { NetworkError, ServiceError, UnexpectedResponseError } from '../../core/api/errors.ts';
import { asDiskError } from '../../core/base/diskError.ts';
import { CancelledError } from '../../core/base/errors.ts';
import type { Session } from '../../core/runs/session.ts';
import { SubmissionError, TooEarlyError } from '../../core/submission/errors.ts';
import type { Draft } from '../../core/submission/intent.ts';
import type { FaultOf } from '../../services.ts';
import { unansweredSentence, waitSentence } from '../shared/chargeText.ts';
import { compact, inSandbox } from '../shared/format.ts';
import { COMMANDS } from '../shared/ids.ts';
import { notify, showWarning } from '../shared/notifications.ts';
import { act, asText, explain } from '../shared/serviceErrors.ts';
import { BUTTONS } from './submissionTexts.ts';

/**
 * Notifies the user that nothing was sent, since no look for its run was answered. Says nothing about money.
 * @param error why; undefined if not everything could be read
 */
export function showUnanswered(
  { id, draft, error }: { id: string; draft: Draft; error: unknown },
  { account }: Pick<Session, 'account'>,
  faultOf: FaultOf,
): void {
  if (error instanceof CancelledError) return;
  const check = () => void commands.executeCommand(COMMANDS.resolveSubmission, id);
  const say = (text: string, title: string, press: () => void) =>
    notify(showWarning, inSandbox(text, account.kind === 'sandbox'), { [title]: press, ...fault?.button });
  const fault = faultOf(account, { error });
  if (isOfService(error)) {
    const text = unansweredSentence(draft.dataset.filename);
    say(compact(text, fault?.sentence).join(' '), BUTTONS.checkNow, check);
    return;
  }
  const explanation = explain(asDiskError(error, 'submissions'));
  const { action } = explanation;
  const reason =
    error instanceof TooEarlyError
      ? waitSentence(Date.now() + error.retryAfterMs)
      : (fault?.sentence ?? asText(explanation));
  const title = action.command === 'again' ? BUTTONS.checkNow : action.title;
  say(l10n.t('Nothing was sent. {0}', reason), title, () => act(action, check));
}

/** Whether the cause is the service, not the API key, the disk, or a wait. */
function isOfService(error: unknown): boolean {
  if (error instanceof ServiceError) return error.code !== 'invalid_api_key';
  if (error instanceof SubmissionError) return error.code === 'not-answered';
  return error === undefined || error instanceof NetworkError || error instanceof UnexpectedResponseError;
}
