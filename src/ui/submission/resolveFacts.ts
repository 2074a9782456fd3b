import { l10n } from 'vscode';
import type { Balance } from '../../core/api/types.ts';
import { CancelledError } from '../../core/base/errors.ts';
import { userLabel } from '../../core/runs/marker.ts';
import type { Session } from '../../core/runs/session.ts';
import type { PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import { whyUncertain, obstacleOf, type UncertaintyReason } from '../../core/submission/stage.ts';
import { isSent, type Submission } from '../../core/submission/submission.ts';
import { formatAmount, formatCount, formatMoment, formatMoney } from '../shared/format.ts';
import { asText, explain } from '../shared/serviceErrors.ts';
import { TERMS } from '../shared/terms.ts';
import { sizeFacts } from './checkedDataset.ts';
import { situationOf, type Checked } from './continueSubmission.ts';

/** Why a check can't determine whether there was a charge. */
const UNCERTAINTIES: Readonly<Record<UncertaintyReason, string>> = {
  candidates: l10n.t('One of your runs looks like this submission.'),
  balance: l10n.t('Your balance is lower, but no matching run was found.'),
  currency: l10n.t('Your balance is in a different currency than before.'),
  'no-marker': l10n.t('The label has no marker. Look for the run in Runs.'),
  'no-balance': l10n.t('The balance before submitting is unknown.'),
  'key-replaced': l10n.t('The API key has changed; it may belong to another account.'),
  'too-early': l10n.t(
    'It’s too early to tell because the service may still be validating. Resend… may resolve it.',
  ),
  known: l10n.t('The service recognizes this submission, but its run isn’t listed.'),
  incomplete: l10n.t('Not everything could be read.'),
  'no-clock': l10n.t('It’s too early to tell because the service’s clock is unknown.'),
};

/** An older balance isn't shown as the current one. */
const NOW_MS = 5 * 60_000;

/** The balance before the attempt, if known, and the last one read since: `35.00 · now 22.50 USD`. */
function balanceText(
  { balanceBefore, lastCheck }: Submission,
  { current, readAtMs = 0 }: Session['balance'],
  nowMs: number,
): string | undefined {
  const checked = lastCheck?.balance_cents === undefined ? undefined : lastCheck;
  const isChecked = checked !== undefined && (current === undefined || checked.at.localMs >= readAtMs);
  const last = isChecked ? { currency: balanceBefore?.currency, ...checked } : current;
  const money = ({ balance_cents, currency }: Partial<Balance>) => formatMoney(balance_cents, currency);
  if (last === undefined) return balanceBefore && money(balanceBefore);
  const before =
    balanceBefore?.currency === last.currency
      ? formatAmount(balanceBefore?.balance_cents, last.currency)
      : money(balanceBefore ?? {});
  const atMs = isChecked ? checked.at.localMs : readAtMs;
  return nowMs - atMs < NOW_MS
    ? l10n.t('{0} · now {1}', before, money(last))
    : l10n.t('{0} · {1} at {2}', before, money(last), formatMoment(atMs, nowMs));
}

/** The facts of the dialog, from the money to technical details. @param checked the latest check */
export function factRows(
  { id, submission }: PendingSubmission,
  session: Pick<Session, 'account' | 'balance' | 'clockSkewMs' | 'keyId' | 'models'>,
  { error, finding }: Checked,
  nowMs: number,
) {
  const { account, balance, models } = session;
  const { attempts, dataset, end, label, lastCheck } = submission;
  const time = (ms: number) => formatMoment(ms, nowMs);
  const uncertain = lastCheck && whyUncertain(submission);
  const isTooEarly =
    uncertain?.why === 'too-early' &&
    obstacleOf(submission, { ...situationOf(session), nowMs }) !== undefined;
  const tooEarly = l10n.t('It’s too early to tell because the service may still be validating.');
  const why = isTooEarly ? tooEarly : uncertain && UNCERTAINTIES[uncertain.why];
  // Used if the record has no reason.
  const found =
    finding?.verdict === 'cannot-tell' && uncertain === undefined && UNCERTAINTIES[finding.reason];
  const isFailed = error !== undefined && !(error instanceof CancelledError);
  const last = lastCheck ? time(lastCheck.at.localMs) : l10n.t('none yet');
  const check = isFailed ? asText(explain(error)) : found || (isSent(submission) && last);
  const againAtMs = uncertain?.decidedAtMs ?? 0;
  const uploaded = attempts.flatMap(({ closed }) => (closed === undefined ? [] : time(closed.localMs)));
  const [first] = attempts;
  const facts = [dataset.filename, ...sizeFacts({ bytes: dataset.sizeBytes, rows: dataset.rows })];
  const rows: [icon: string, name: string, value: string | undefined | false][] = [
    ['credit-card', l10n.t('Balance before'), balanceText(submission, balance, nowMs)],
    ['search', l10n.t('Last check'), check],
    ['question', l10n.t('Why'), why],
    ['clock', l10n.t('Next check'), againAtMs > nowMs && l10n.t('after {0}', time(againAtMs))],
    ['cloud-upload', l10n.t('Fully uploaded'), [...new Set(uploaded)].join(', ') || l10n.t('never')],
    [
      'history',
      l10n.t('Attempts'),
      first === undefined
        ? TERMS.none
        : l10n.t('{0}, first at {1}', formatCount(attempts.length), time(first.started.localMs)),
    ],
    ['file', TERMS.dataset, facts.join(', ')],
    ['symbol-misc', TERMS.model, models.nameOf(submission.model_id)],
    ['tag', TERMS.label, userLabel(label) ?? TERMS.none],
    ['rocket', TERMS.queue, submission.priority_processing ? l10n.t('priority') : l10n.t('standard')],
    ['account', TERMS.account, account.kind === 'sandbox' ? TERMS.sandboxMoney : account.name],
    ['error', l10n.t('Error code'), end?.code],
    ['key', l10n.t('Idempotency-Key'), attempts.length > 0 && id],
  ];
  return rows.flatMap(([icon, label, description]) => (description ? { icon, label, description } : []));
}
