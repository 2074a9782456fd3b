import { commands, l10n, Uri } from 'vscode';
import { ServiceError, statusOf } from '../../core/api/errors.ts';
import { RETRIES } from '../../core/base/retry.ts';
import { KeyMissingError, KeyRejectedError, type Session } from '../../core/runs/session.ts';
import { SubmissionError, TooEarlyError, waitMsOf } from '../../core/submission/errors.ts';
import { submissionName, type Draft } from '../../core/submission/intent.ts';
import type { Services } from '../../services.ts';
import { busySentence } from '../shared/chargeText.ts';
import { inSandbox } from '../shared/format.ts';
import { COMMANDS, type CommandId } from '../shared/ids.ts';
import { notify, showError } from '../shared/notifications.ts';
import { revealOf, websiteLink } from '../shared/open.ts';
import { asText, explain } from '../shared/serviceErrors.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { TERMS } from '../shared/terms.ts';
import { presetOf } from './preset.ts';
import { BUTTONS } from './submissionTexts.ts';

/** A submission that was not charged. */
export interface NotCharged {
  id: string;
  draft: Draft;
  error: unknown;
  /** Whether it is still in the Runs view and can be continued. */
  isKept: boolean;
  /** Says what became of it, if it has gone on since. @returns whether it has */
  showIfGoneOn: () => Promise<boolean>;
}

type Buttons = Readonly<Record<string, () => unknown>>;

/** Notifies the user that a submission was not charged, and why, and offers what helps. No button sends anything. */
export function showNotCharged(
  { id, draft, error, isKept, showIfGoneOn }: NotCharged,
  { account, models }: Pick<Session, 'account' | 'models'>,
  { ensureActiveAccount, sandboxFault }: Pick<Services, 'ensureActiveAccount' | 'sandboxFault'>,
): void {
  const filename = sanitizeServiceText(draft.dataset.filename);
  const accountName = sanitizeServiceText(account.name);
  const isSandbox = account.kind === 'sandbox';
  const explanation = explain(error);
  const { action } = explanation;
  const fault = sandboxFault.get()(account, { error });
  const reason = fault?.sentence ?? asText(explanation);
  const file = Uri.file(draft.dataset.path);
  const say = (sentence: string, buttons: Buttons, others: Buttons = {}) => {
    // The notification may be older than what became of the submission.
    const presses = Object.entries(buttons).map(([title, press]) => [
      title,
      async () => (await showIfGoneOn().catch(() => false)) || press(),
    ]);
    const guarded = Object.fromEntries(presses) as Buttons;
    notify(showError, inSandbox(sentence, isSandbox), { ...guarded, ...others, ...fault?.button });
  };
  const go = (command: CommandId, ...args: unknown[]) => commands.executeCommand(command, ...args);
  // The account may have been switched since the notification appeared.
  const goInAccount = async (command: CommandId, ...args: unknown[]) => {
    if (await ensureActiveAccount(account.id)) await go(command, ...args);
  };
  const submitAgain = () => goInAccount(COMMANDS.submitDataset, file, undefined, presetOf(draft));
  const waitMs = waitMsOf(error);
  // While the service asks to wait, the row shows the reason and the time.
  const further: Buttons = isKept
    ? waitMs > 0
      ? {}
      : { [BUTTONS.continue]: () => go(COMMANDS.continueSubmission, id) }
    : action.command === 'again'
      ? { [TERMS.submitAgain]: submitAgain }
      : {};
  switch (codeOf(error)) {
    case 'insufficient_balance': {
      const name = sanitizeServiceText(submissionName(draft));
      const low = l10n.t('Not charged: the balance of {0} is too low for {1}.', accountName, name);
      const sentence = [low, fault?.sentence ?? l10n.t('Add funds, then continue.')].join(' ');
      // More funds wouldn't end a fault of the sandbox.
      const helps = fault?.button ?? fundsButton(account, goInAccount);
      say(sentence, { ...helps, ...further });
      return;
    }
    case 'validation_failed': {
      const sentence = l10n.t('Not charged: the service rejected {0} as invalid.', filename);
      const check = () => go(COMMANDS.checkDataset, file);
      say(asText({ ...explanation, sentence }), { [TERMS.checkDataset]: check });
      return;
    }
    case 'model_not_available': {
      const modelName = sanitizeServiceText(models.nameOf(draft.model_id));
      say(l10n.t('Not charged: {0} isn’t available.', modelName), further);
      return;
    }
    case 'invalid_api_key':
      say(keySentence(error, accountName, filename), {
        [action.title]: () => go(COMMANDS.replaceKey, account.id),
      });
      return;
    case 'consent_required':
      say(l10n.t('Not charged: the service rejected the submission of {0}. {1}', filename, reason), further);
      return;
    default:
      if (isKept && isAskedToWait(error)) {
        say(busySentence(Date.now() + waitMs), {});
        return;
      }
      say(l10n.t('Not charged: the upload of {0} failed. {1}', filename, reason), further, {
        ...folderButton(error),
        [TERMS.showLog]: () => go(COMMANDS.showLog),
      });
  }
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

function keySentence(error: unknown, accountName: string, filename: string): string {
  return error instanceof KeyMissingError
    ? l10n.t(
        'Not charged: the API key of {0} is not on this machine. Enter it, then continue {1}.',
        accountName,
        filename,
      )
    : l10n.t(
        'Not charged: the service rejected the API key of {0}. Replace it, then continue {1}.',
        accountName,
        filename,
      );
}

/** Opens the folder of a record that prevented the submission. */
function folderButton(error: unknown): Buttons {
  if (!(error instanceof SubmissionError) || error.file === undefined) return {};
  const { title, show } = revealOf(Uri.file(error.file));
  return { [title]: show };
}
