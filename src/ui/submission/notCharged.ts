import { commands, l10n, Uri } from 'vscode';
import { ServiceError, statusOf } from '../../core/api/errors.ts';
import { RETRIES } from '../../core/base/retry.ts';
import { KeyMissingError, KeyRejectedError, type Session } from '../../core/runs/session.ts';
import { TooEarlyError, waitMsOf } from '../../core/submission/errors.ts';
import type { Draft } from '../../core/submission/submission.ts';
import type { Services } from '../../services.ts';
import { inSandbox } from '../shared/format.ts';
import { COMMANDS, type CommandId } from '../shared/ids.ts';
import { notify, showError } from '../shared/notifications.ts';
import { websiteLink } from '../shared/open.ts';
import { asText, explain } from '../shared/serviceErrors.ts';
import { TERMS } from '../shared/terms.ts';
import { busySentence, BUTTONS, submissionNames, refusedSentence } from './submissionText.ts';
import { presetOf } from './submitAgain.ts';

/** A submission that was not charged. */
interface NotCharged {
  id: string;
  draft: Draft;
  error: unknown;
  /** Whether it is still in the Runs view and can be continued. */
  isKept: boolean;
}

type Buttons = Readonly<Record<string, () => unknown>>;

/** Notifies the user that a submission was not charged, and why, and offers what helps. No button sends anything. */
export function showNotCharged(
  { id, draft, error, isKept }: NotCharged,
  { account, models }: Pick<Session, 'account' | 'models'>,
  { ensureActiveAccount, sandboxFault }: Pick<Services, 'ensureActiveAccount' | 'sandboxFault'>,
): void {
  const explanation = explain(error);
  const { action } = explanation;
  const fault = sandboxFault.get()(account, { error });
  const reason = fault?.sentence ?? asText(explanation);
  const file = Uri.file(draft.dataset.path);
  const say = (sentence: string, buttons: Buttons) =>
    notify(showError, inSandbox(sentence, account.kind === 'sandbox'), { ...buttons, ...fault?.button });
  const go = (command: CommandId, ...args: unknown[]) => commands.executeCommand(command, ...args);
  // The account may have been switched since the notification appeared.
  const goInAccount = async (command: CommandId, ...args: unknown[]) => {
    if (await ensureActiveAccount(account.id)) await go(command, ...args);
  };
  const waitMs = waitMsOf(error);
  const again = () => goInAccount(COMMANDS.submitDataset, file, undefined, presetOf(draft));
  // While the service asks to wait, the row shows the reason and the time.
  const further: Buttons = isKept
    ? waitMs > 0
      ? {}
      : { [BUTTONS.continue]: () => go(COMMANDS.continueSubmission, id) }
    : action.command === 'again'
      ? { [TERMS.submitAgain]: again }
      : {};
  const code = codeOf(error);
  const names = submissionNames(draft, { account, models });
  const sentence = refusedSentence(code, names);
  if (code === 'insufficient_balance') {
    const text = [sentence, fault?.sentence ?? l10n.t('Add funds, then continue.')].join(' ');
    // More funds wouldn't end a fault of the sandbox.
    say(text, { ...(fault?.button ?? fundsButton(account, goInAccount)), ...further });
  } else if (code === 'validation_failed')
    say(asText({ ...explanation, sentence }), {
      [TERMS.checkDataset]: () => go(COMMANDS.checkDataset, file),
    });
  else if (code === 'invalid_api_key')
    say(error instanceof KeyMissingError ? keyMissingSentence(names) : sentence, {
      [action.title]: () => go(COMMANDS.replaceKey, account.id),
    });
  else if (code === 'model_not_available') say(sentence, further);
  else if (code === 'consent_required') say([sentence, reason].join(' '), further);
  else if (isKept && isAskedToWait(error)) say(busySentence(Date.now() + waitMs), {});
  else
    say(l10n.t('Not charged: the upload of {0} failed. {1}', names.file, reason), {
      ...further,
      [TERMS.showLog]: () => go(COMMANDS.showLog),
    });
}

function keyMissingSentence({ account, file }: ReturnType<typeof submissionNames>): string {
  return l10n.t(
    'Not charged: the API key for {0} isn’t on this machine. Enter it, then continue {1}.',
    account,
    file,
  );
}

/** Whether the service asked to wait, instead of failing. */
function isAskedToWait(error: unknown): boolean {
  const isReason = error instanceof TooEarlyError || [425, 429].includes(statusOf(error) ?? 0);
  return waitMsOf(error) > (isReason ? 0 : RETRIES.submission.longestRetryAfterMs);
}

/** What helps against a balance that is too low. */
function fundsButton(
  account: Session['account'],
  go: (command: CommandId, name?: string) => unknown,
): Buttons {
  if (account.kind === 'sandbox') return { [TERMS.addSandboxFunds]: () => go(COMMANDS.sandbox, 'addFunds') };
  const website = websiteLink(account);
  return website ? { [website.title]: website.open } : {};
}

/** The service's code. A missing key needs the same as a rejected one. */
function codeOf(error: unknown): string | undefined {
  if (error instanceof KeyMissingError || error instanceof KeyRejectedError) return 'invalid_api_key';
  return error instanceof ServiceError ? error.code : undefined;
}
