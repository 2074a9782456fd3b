import * as vscode from 'vscode';
import type { RunDetail } from '../../core/api/types.ts';
import { formatBytes, formatCount, formatMoment, formatMoney, formatTime } from '../shared/format.ts';
import { lookText, type SubmissionView } from './pendingMessages.ts';

/** Why a look at runs and balance cannot tell, as `runs/` says it. */
export type Doubt =
  | 'candidates'
  | 'balance'
  | 'no-marker'
  | 'no-balance'
  | 'key-replaced'
  | 'too-early'
  | 'incomplete'
  | 'no-clock';

/** Everything that is known of a submission that is not settled. */
export interface KnownSubmission {
  view: SubmissionView;
  accountName: string;
  isSandbox: boolean;
  modelName: string;
  /** Why the last look cannot tell; undefined where it can, or there was none. */
  doubt: Doubt | undefined;
  /** When a look may say more; milliseconds since the epoch. */
  againAtMs: number | undefined;
  /** Why the look of just now did not succeed. */
  failure: string | undefined;
}

/** A name and a value, as a row that does nothing. */
interface KnownRow {
  icon: string;
  name: string;
  value: string;
}

/** What is known, from the money to the technical. */
export function knownRows(known: KnownSubmission, nowMs: number): KnownRow[] {
  const { l10n } = vscode;
  const { view } = known;
  const { dataset, label, attempts, priority_processing } = view.intent;
  const row = (icon: string, name: string, value: string): KnownRow => ({ icon, name, value });
  const some = (icon: string, name: string, value: string | undefined) =>
    value === undefined ? [] : [row(icon, name, value)];
  const rows = dataset.rows === undefined ? [] : [l10n.t('{0} rows', formatCount(dataset.rows))];
  return [
    ...some('search', l10n.t('Last check'), known.failure ?? lookValue(view, nowMs)),
    ...some('question', l10n.t('Why'), known.doubt && doubtSentence(known.doubt)),
    ...some(
      'clock',
      l10n.t('Next check'),
      known.againAtMs === undefined
        ? undefined
        : l10n.t('Check again after {0}', formatMoment(known.againAtMs, nowMs)),
    ),
    ...some('credit-card', l10n.t('Balance'), balanceText(view)),
    row('cloud-upload', l10n.t('Fully uploaded'), wholeText(view, nowMs)),
    row('history', l10n.t('Attempts'), attemptsText(view, nowMs)),
    row('file', l10n.t('Dataset'), [dataset.filename, formatBytes(dataset.sizeBytes), ...rows].join(', ')),
    row('symbol-misc', l10n.t('Model'), known.modelName),
    row('tag', l10n.t('Label'), label ?? l10n.t('none')),
    row('rocket', l10n.t('Queue'), priority_processing ? l10n.t('priority') : l10n.t('standard')),
    row(
      'account',
      l10n.t('Account'),
      known.isSandbox
        ? l10n.t('{0}: nothing is trained, nothing is paid', known.accountName)
        : known.accountName,
    ),
    ...(attempts.length === 0 ? [] : [row('key', l10n.t('Idempotency-Key'), view.id)]),
  ];
}

/** Why a look cannot tell. */
export function doubtSentence(doubt: Doubt): string {
  const { l10n } = vscode;
  switch (doubt) {
    case 'candidates':
      return l10n.t('One of your runs looks like this submission. Is it?');
    case 'balance':
      return l10n.t('No such run is listed, but the balance is lower than before: something was charged.');
    case 'no-marker':
      return l10n.t('It was sent without a marker: its run could not be told from others.');
    case 'no-balance':
      return l10n.t('The balance before it is not known.');
    case 'key-replaced':
      return l10n.t('You replaced the API key or signed in again since; it may belong to another account.');
    case 'too-early':
      return l10n.t('Too early to tell: the service may still be validating.');
    case 'incomplete':
      return l10n.t('Not everything could be read.');
    case 'no-clock':
      return l10n.t('The service’s clock is unknown, so it’s too soon to rule out a charge.');
  }
}

/** A run that could be the one, as a row to choose. */
export function candidateText(
  run: RunDetail,
  currency: string | undefined,
): { name: string; detail: string } {
  const { l10n } = vscode;
  const label = run.label === undefined || run.label === '' ? l10n.t('no label') : run.label;
  return {
    name: l10n.t('This is my run: {0}', label),
    detail: [
      run.model_id,
      run.created_at === undefined ? l10n.t('time unknown') : formatTime(run.created_at),
      run.price_cents === undefined ? l10n.t('price not provided') : formatMoney(run.price_cents, currency),
      run.run_id,
    ].join(' · '),
  };
}

/** Undefined where there is nothing to look for. */
function lookValue(view: SubmissionView, nowMs: number): string | undefined {
  const { state } = view;
  if (state !== 'unknown' && state !== 'not-charged') return undefined;
  return lookText(view, nowMs) ?? vscode.l10n.t('none yet');
}

function balanceText({ intent: { balanceBefore, lastLook } }: SubmissionView): string | undefined {
  const { l10n } = vscode;
  const after = lastLook?.balance_cents;
  if (balanceBefore === undefined)
    return after === undefined
      ? undefined
      : l10n.t('{0} at the last check; unknown before', formatMoney(after));
  const before = formatMoney(balanceBefore.balance_cents, balanceBefore.currency);
  return after === undefined
    ? l10n.t('{0} before', before)
    : l10n.t('{0} before, {1} at the last check', before, formatMoney(after, balanceBefore.currency));
}

function wholeText({ intent: { attempts } }: SubmissionView, nowMs: number): string {
  const { l10n } = vscode;
  const closed = attempts.flatMap(({ closed }) =>
    closed === undefined ? [] : [formatMoment(closed.localMs, nowMs)],
  );
  return closed.length === 0 ? l10n.t('never') : [...new Set(closed)].join(', ');
}

function attemptsText({ intent: { attempts } }: SubmissionView, nowMs: number): string {
  const { l10n } = vscode;
  const [first] = attempts;
  if (first === undefined) return l10n.t('none');
  const begun = formatMoment(first.started.localMs, nowMs);
  return attempts.length === 1
    ? l10n.t('1, started at {0}', begun)
    : l10n.t('{0}, the first started at {1}', attempts.length, begun);
}
