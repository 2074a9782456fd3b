import * as vscode from 'vscode';
import { checkRows, sizePhrase } from '../shared/datasetMessages.ts';
import { formatBytes, formatMoney } from '../shared/format.ts';
import { priorRows } from './priorMessages.ts';
import {
  LABEL_STEP,
  MODEL_STEP,
  PRIORITY_STEP,
  sentLabel,
  type SubmissionContext,
  type SubmissionState,
} from './submissionState.ts';
import { pick, type Choice, type Place, type StepEnd } from '../shared/steps.ts';

/** Shows what will be sent and what is known of its price; a chosen thing leads back to its step. */
export async function summaryStep(
  context: SubmissionContext,
  state: SubmissionState,
  place: Place,
): Promise<StepEnd<SubmissionState>> {
  const { l10n } = vscode;
  const stay = 'stay' as const;
  const row = (
    icon: string,
    name: string,
    value: string,
    to: number | typeof stay = stay,
  ): Choice<number | typeof stay | 'next'> => ({
    icon,
    label: name,
    description: value,
    value: to,
  });
  const rows = (list: readonly { icon: string; name: string; value: string }[]) =>
    list.map(({ icon, name, value }) => row(icon, name, value));
  const { balance } = context;
  const size = sizePhrase(context.sizeBytes);
  const label = sentLabel(context, state.label);
  const chosen = { modelId: state.model?.model_id, priority: state.priority };
  const answer = await pick<number | typeof stay | 'next'>(place, {
    placeholder: l10n.t('Review before submitting. Nothing has been sent yet.'),
    items: [
      { icon: 'arrow-right', label: l10n.t('Continue'), value: 'next' },
      ...rows(priorRows(context.priors, chosen, Date.now())),
      row(
        'account',
        l10n.t('Account'),
        context.account.kind === 'sandbox'
          ? l10n.t('{0}: nothing is trained, nothing is paid', context.account.name)
          : context.account.name,
      ),
      row('file', l10n.t('Dataset'), l10n.t('{0}, {1}', context.fileName, formatBytes(context.sizeBytes))),
      ...(size === undefined ? [] : [row('warning', l10n.t('Size'), size)]),
      ...rows(checkRows(context.check)),
      row(
        'symbol-misc',
        l10n.t('Model'),
        [state.model?.name, state.model?.provider].filter(Boolean).join(', '),
        MODEL_STEP,
      ),
      row('tag', l10n.t('Label'), label === '' ? l10n.t('none') : label, LABEL_STEP),
      row(
        'rocket',
        l10n.t('Queue'),
        state.priority ? l10n.t('priority: costs extra unless the plan includes it') : l10n.t('standard'),
        PRIORITY_STEP,
      ),
      row(
        'credit-card',
        l10n.t('Balance'),
        balance === undefined
          ? l10n.t('not known at the moment')
          : formatMoney(balance.balance_cents, balance.currency),
      ),
      row(
        'question',
        l10n.t('Price'),
        l10n.t('known only after submission; it is charged to the balance at once'),
      ),
      row('warning', l10n.t('Final'), l10n.t("a run can't be cancelled or refunded")),
    ],
    stays: (value) => value === stay,
  });
  if (answer.kind !== 'value') return answer;
  if (answer.value === 'next') return { kind: 'next', state };
  return answer.value === stay ? { kind: 'cancel' } : { kind: 'go', to: answer.value };
}
