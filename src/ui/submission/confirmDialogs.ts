import * as vscode from 'vscode';
import type { Balance, Model } from '../../core/api/types.ts';
import { showWarning } from '../shared/notifications.ts';
import { formatBytes, formatCount, formatMoney } from '../shared/format.ts';
import type { SubmissionView } from './pendingMessages.ts';
import { strangerText } from '../shared/strangerText.ts';

/** What the last question before anything is sent names. */
export interface Confirmation {
  account: { name: string; kind: 'service' | 'sandbox'; baseUrl?: string };
  dataset: { filename: string; sizeBytes: number; rows?: number | undefined };
  /** Only its name where the service does not list it now. */
  model: Pick<Model, 'name'> & Partial<Pick<Model, 'provider' | 'use_policy_url'>>;
  priority: boolean;
  balance: Balance | undefined;
}

/** With names of this length the dialog has no more than 20 lines of 48 characters; it does not scroll everywhere. */
const MAX_NAME_UNITS = 28;

const short = (text: string) => strangerText(text, MAX_NAME_UNITS);

/**
 * The last question of a submission, and its second consent. It is a modal dialog, since any extension can press whatever
 * else VS Code shows by a command. The first button takes Enter, so it sends nothing.
 */
export async function confirmSubmit(confirmation: Confirmation): Promise<'submit' | 'back' | undefined> {
  const { l10n } = vscode;
  const isSandbox = confirmation.account.kind === 'sandbox';
  return confirm(confirmation, l10n.t('Back to Summary'), [
    ...facts(confirmation),
    ...(isSandbox
      ? []
      : [
          l10n.t(
            "You're charged when the service accepts the dataset. A run can't be cancelled or refunded.",
          ),
        ]),
  ]);
}

/** The same question where a submission is sent again, with the same Idempotency-Key. */
export async function confirmResend(
  confirmation: Confirmation,
  { state }: Pick<SubmissionView, 'state'>,
): Promise<'submit' | 'back' | undefined> {
  const { l10n } = vscode;
  const money =
    state === 'unsent'
      ? l10n.t("Not charged: the upload wasn't completed.")
      : state === 'not-charged'
        ? l10n.t('Not charged so far. If you resend within 24 hours, you’re charged at most once.')
        : l10n.t('You may have been charged. If you resend within 24 hours, you’re charged at most once.');
  return confirm(confirmation, l10n.t('Show Submission'), [
    money,
    ...facts(confirmation),
    ...(confirmation.account.kind === 'sandbox' ? [] : [l10n.t("A run can't be cancelled or refunded.")]),
  ]);
}

async function confirm(
  confirmation: Confirmation,
  back: string,
  lines: readonly string[],
): Promise<'submit' | 'back' | undefined> {
  const { l10n } = vscode;
  const { account, dataset } = confirmation;
  const isSandbox = account.kind === 'sandbox';
  const submit = isSandbox ? l10n.t('Submit') : l10n.t('Submit and Pay');
  const file = short(dataset.filename);
  const choice = await showWarning(
    isSandbox
      ? l10n.t('Submit {0} to the sandbox?', file)
      : l10n.t('Submit {0} to {1} and pay?', file, short(account.name)),
    {
      modal: true,
      detail: [
        ...(isSandbox ? [l10n.t('Sandbox: no training, no charges.')] : []),
        ...lines,
        ...consents(confirmation),
      ].join('\n'),
    },
    back,
    submit,
  );
  return choice === submit ? 'submit' : choice === back ? 'back' : undefined;
}

function facts({ account, dataset, model, priority, balance }: Confirmation): string[] {
  const { l10n } = vscode;
  const isSandbox = account.kind === 'sandbox';
  const size = formatBytes(dataset.sizeBytes);
  const file = short(dataset.filename);
  const name = model.provider ? `${short(model.name)} (${short(model.provider)})` : short(model.name);
  const host = account.baseUrl === undefined ? undefined : short(new URL(account.baseUrl).host);
  return [
    ...(isSandbox || host === undefined ? [] : [l10n.t('Account: {0} ({1})', short(account.name), host)]),
    priority ? l10n.t('Model: {0} · priority queue', name) : l10n.t('Model: {0} · standard queue', name),
    dataset.rows === undefined
      ? l10n.t('Dataset: {0} · {1}', file, size)
      : l10n.t('Dataset: {0} · {1} · {2} rows', file, size, formatCount(dataset.rows)),
    ...(isSandbox ? [] : [l10n.t('Price: known only after the charge.')]),
    balance === undefined
      ? l10n.t('Balance: unknown')
      : l10n.t('Balance: {0}', formatMoney(balance.balance_cents, balance.currency)),
  ];
}

/** Both, since the first one may have been accepted by another extension: only here it is a person. */
function consents({ model: { provider, use_policy_url } }: Confirmation): string[] {
  const { l10n } = vscode;
  const owner = provider ? short(provider) : l10n.t('its provider');
  return [
    l10n.t('By submitting you:'),
    use_policy_url
      ? l10n.t('• accept the license terms and use policy of {0}', owner)
      : l10n.t('• accept the license terms of {0}', owner),
    l10n.t("• accept the service's data policy"),
    l10n.t('• confirm that you have the rights to this dataset'),
    l10n.t("• understand that results aren't guaranteed"),
  ];
}
