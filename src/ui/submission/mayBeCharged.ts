import { commands, l10n } from 'vscode';
import { NetworkError, ServiceError, UnexpectedResponseError } from '../../core/api/errors.ts';
import { CancelledError, ExpectedError } from '../../core/base/errors.ts';
import { KeyMissingError, KeyRejectedError, type Session } from '../../core/runs/session.ts';
import { SubmissionError, TooEarlyError } from '../../core/submission/errors.ts';
import type { Draft, Intent } from '../../core/submission/intent.ts';
import { isCheckedAutomatically } from '../../core/submission/stage.ts';
import type { FaultOf } from '../../services.ts';
import { unconfirmedSentence, waitSentence } from '../shared/chargeText.ts';
import { compact, inSandbox } from '../shared/format.ts';
import { COMMANDS, VIEWS } from '../shared/ids.ts';
import { notify, showWarning, type SandboxFault } from '../shared/notifications.ts';
import { asText, explain } from '../shared/serviceErrors.ts';
import { TERMS } from '../shared/terms.ts';
import { BUTTONS } from './submissionTexts.ts';

/** Errors that mean a lost response. The way it was lost says nothing about the charge. */
const UNINFORMATIVE = [CancelledError, NetworkError, UnexpectedResponseError] as const;

/**
 * Warns of a submission. Gives the reason only if it prevents the user from resending or the extension from
 * checking. Also if it is a fault of the sandbox.
 * @param intent undefined if it has been resolved meanwhile
 */
export function warnMayBeCharged(
  { id, draft, intent, error }: { id: string; draft: Draft; intent: Intent | undefined; error: unknown },
  session: Pick<Session, 'account' | 'state'>,
  faultOf: FaultOf,
): void {
  const isReason =
    error instanceof ServiceError
      ? error.code === 'invalid_api_key'
      : error instanceof ExpectedError &&
        !UNINFORMATIVE.some((type) => error instanceof type) &&
        !(error instanceof SubmissionError && error.code === 'not-answered');
  const known = intent && checkingText(session, [intent]);
  const reason =
    error instanceof TooEarlyError
      ? waitSentence(Date.now() + error.retryAfterMs)
      : isReason && asText(explain(error));
  const fault = reason ? undefined : faultOf(session.account, { error });
  warn([draft], session.account, id, reason || known, fault);
}

/** Warns of the submissions that an earlier window left open. */
export function warnLeftUnknown(
  intents: readonly [Intent, ...Intent[]],
  session: Pick<Session, 'account' | 'state'>,
): void {
  // If there are several, the user chooses.
  const id = intents.length === 1 ? intents[0].id : undefined;
  warn(intents, session.account, id, checkingText(session, intents));
}

function warn(
  [first, ...others]: readonly [Draft, ...Draft[]],
  { kind }: Session['account'],
  id: string | undefined,
  rest: string | undefined,
  fault?: SandboxFault,
): void {
  const text = unconfirmedSentence(first, others.length + 1);
  notify(showWarning, inSandbox(compact(text, fault?.sentence ?? rest).join(' '), kind === 'sandbox'), {
    [BUTTONS.checkNow]: () => commands.executeCommand(COMMANDS.resolveSubmission, id),
    [TERMS.show]: () => commands.executeCommand(`${VIEWS.runs}.focus`),
    ...fault?.button,
  });
}

/** Whether automatic checks follow, or what prevents them; undefined after the last one. */
function checkingText({ state }: Pick<Session, 'state'>, intents: readonly Intent[]): string | undefined {
  if (state === 'key-rejected') return asText(explain(new KeyRejectedError()));
  if (state === 'key-missing') return asText(explain(new KeyMissingError()));
  const nowMs = Date.now();
  const isChecked = intents.every((intent) => isCheckedAutomatically(intent, nowMs));
  return isChecked ? l10n.t('We’ll keep checking.') : undefined;
}
