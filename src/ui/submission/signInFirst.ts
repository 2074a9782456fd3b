import { l10n } from 'vscode';
import { askModal, showInformation } from '../shared/notifications.ts';
import { TERMS } from '../shared/terms.ts';

/** Asks, before the first use, whether to sign in or to use the sandbox. */
export function askWhereToWork(): Promise<'signIn' | 'sandbox' | undefined> {
  return askModal(
    showInformation,
    l10n.t('Sign in first, or try it in the sandbox.'),
    l10n.t('The sandbox needs no account: no training, no charges.'),
    { [TERMS.signIn]: 'signIn', [TERMS.useSandbox]: 'sandbox' },
  );
}
