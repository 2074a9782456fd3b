import { commands, env, l10n, window } from 'vscode';
import type { RunSummary } from '../../core/api/types.ts';
import { instantOf } from '../../core/base/clock.ts';
import { reminderAt } from '../../core/downloads/runState.ts';
import { userLabel } from '../../core/runs/marker.ts';
import type { Notices } from '../../core/runs/notices.ts';
import type { RunStore } from '../../core/runs/runStore.ts';
import { serviceNowMs, type Session } from '../../core/runs/session.ts';
import type { ChargedReceipt } from '../../core/submission/submission.ts';
import type { FaultOf } from '../../services.ts';
import { compact, formatLeft, formatRuns, inSandbox } from '../shared/format.ts';
import { COMMANDS, VIEWS, type CommandId } from '../shared/ids.ts';
import { notify, showInformation, showWarning } from '../shared/notifications.ts';
import { sanitizeServiceText } from '../shared/serviceText.ts';
import { TERMS } from '../shared/terms.ts';
import { isOnlyCounted } from './runsBadge.ts';
import { runPriceText } from './runTooltip.ts';

/** How long to wait for an unknown label or price. */
const FACTS_MS = 3_000;

/** A change of a run that the user is notified of. */
export interface Notice {
  run: RunSummary;
  /** `failed`: the status reads as an end other than completion. Such a run was charged, so it is always shown. */
  kind: 'finished' | 'failed';
}

export interface NoticeParts {
  notices: Pick<Notices, 'claim'>;
  /** Makes an account active, if necessary and the user agrees. */
  ensureActiveAccount: (accountId: string) => Promise<boolean>;
  /** Whether to offer a download: not if the user wants none or it starts automatically. */
  offersDownload: () => boolean;
  /** Says which fault of the sandbox is on for an account. */
  faultOf: FaultOf;
  /** Returns the receipts of an account's charges. */
  receiptsOf: (accountId: string) => Promise<readonly ChargedReceipt[]>;
}

/**
 * Waits for the facts of a notification: the label or price of a single run, the receipts of failed runs. A
 * notice is claimed only afterwards, so that a window that is killed meanwhile leaves it to another one.
 */
export async function noticeFacts(
  { receiptsOf }: NoticeParts,
  { account, runs }: Session,
  notices: readonly Notice[],
): Promise<readonly ChargedReceipt[]> {
  const [first, ...others] = notices;
  if (first !== undefined && others.length === 0) await waitForFacts(runs, first);
  return notices.some(({ kind }) => kind === 'failed') ? receiptsOf(account.id).catch(() => []) : [];
}

/** Notifies the user of one run, with the facts known so far. */
export function showOne(
  parts: NoticeParts,
  session: Session,
  { run, kind }: Notice,
  receipts: readonly ChargedReceipt[],
): void {
  const { account, runs, models } = session;
  const canDownload = kind === 'finished' && run.artifacts_available && parts.offersDownload();
  const label = userLabel(runs.label(run.run_id)) ?? models.nameOf(run.model_id);
  const name = sanitizeServiceText(label);
  const act = (command: CommandId) => () => void go(parts, account.id, command, run.run_id);
  const show = { [TERMS.showRun]: act(COMMANDS.showRun) };
  const say = (text: string, buttons: Record<string, () => void>) =>
    notify(
      kind === 'failed' ? showWarning : showInformation,
      inSandbox(text, account.kind === 'sandbox'),
      buttons,
    );
  if (kind === 'failed') {
    const receipt = receipts.find(({ charge }) => charge.run.run_id === run.run_id);
    const price = runPriceText(receipt, runs.detail(run.run_id));
    const copyId = () => void env.clipboard.writeText(run.run_id).then(notifyRunIdCopied);
    const fault = parts.faultOf(account, ['failed-run']);
    const text =
      fault === undefined
        ? failedSentence(name, run.status, price, account.kind === 'sandbox')
        : [l10n.t('{0}: the service reports “{1}”.', name, statusWord(run.status)), fault.sentence].join(' ');
    say(text, { [TERMS.copyRunId]: copyId, ...show, ...fault?.button });
  } else {
    const [expiresAtMs, nowMs] = [instantOf(run.artifacts_expires_at), serviceNowMs(session)];
    const leftMs = expiresAtMs - nowMs;
    const text =
      canDownload && leftMs > 0
        ? l10n.t('{0} completed. Its adapter expires in {1}.', name, formatLeft(leftMs))
        : l10n.t('{0} completed.', name);
    say(text, { ...(canDownload && { [TERMS.download]: act(COMMANDS.downloadAdapter) }), ...show });
    const reminder = canDownload ? reminderAt(expiresAtMs, nowMs) : undefined;
    // The reminder would repeat this notification.
    if (reminder !== undefined) void parts.notices.claim(account.id, run.run_id, reminder);
  }
}

/** A run that reads as failed was charged when it was submitted. @param price undefined if unknown */
function failedSentence(name: string, status: string, price: string | undefined, isSandbox: boolean): string {
  const word = statusWord(status);
  if (isSandbox)
    return price === undefined
      ? l10n.t('{0}: the service reports “{1}”.', name, word)
      : l10n.t('{0}: the service reports “{1}”. It cost {2} of sandbox money.', name, word, price);
  return price === undefined
    ? l10n.t(
        '{0}: the service reports “{1}”. The price is unknown; contact the service with its run ID.',
        name,
        word,
      )
    : l10n.t(
        '{0}: the service reports “{1}”. Charged {2}; contact the service with its run ID.',
        name,
        word,
        price,
      );
}

/** Notifies the user of several runs at once, in at most two sentences. */
export function showSeveral(parts: NoticeParts, { account }: Session, notices: readonly Notice[]): void {
  const isSandbox = account.kind === 'sandbox';
  const failed = notices.flatMap(({ kind, run }) => (kind === 'failed' ? [run.status] : []));
  const completed = notices.length - failed.length;
  const fault = failed.length > 0 ? parts.faultOf(account, ['failed-run']) : undefined;
  const [words, count] = [reported(failed), formatRuns(failed.length)];
  // The sandbox’s failed runs cost no real money, so nobody has to be contacted.
  const failures = isSandbox
    ? l10n.t('The service reports {0} for {1}.', words, count)
    : l10n.t('You were charged: the service reports {0} for {1}. Contact it with each run ID.', words, count);
  const text = compact(
    completed > 0 && l10n.t('{0} completed.', formatRuns(completed)),
    failed.length > 0 && failures,
    completed === 0 && fault?.sentence,
  ).join(' ');
  const say = failed.length > 0 && !isSandbox ? showWarning : showInformation;
  const show = () => void go(parts, account.id, `${VIEWS.runs}.focus`);
  notify(say, inSandbox(text, isSandbox), { [l10n.t('Show Runs')]: show, ...fault?.button });
}

function reported(statuses: readonly string[]): string {
  const words = [...new Set(statuses)].map((status) => l10n.t('“{0}”', statusWord(status)));
  return sanitizeServiceText(words.join(', '));
}

function statusWord(status: string): string {
  return sanitizeServiceText(status) || TERMS.unknown;
}

export function notifyRunIdCopied(): void {
  void window.setStatusBarMessage(l10n.t('Run ID copied'), 3_000);
}

async function go(parts: NoticeParts, accountId: string, command: string, ...args: unknown[]): Promise<void> {
  if (await parts.ensureActiveAccount(accountId)) await commands.executeCommand(command, ...args);
}

/** Whether a notice's facts are known: the run's label, or that it has none, and a failed one's price. */
function areFactsKnown(runs: RunStore, { run: { run_id }, kind }: Notice): boolean {
  return runs.detail(run_id) !== undefined || (kind !== 'failed' && runs.label(run_id) !== undefined);
}

/** Reads details for a notice, since the list has none. Only the window that reads the account does; it shares them. */
export function readNoticeFacts({ runs, quota }: Session, notice: Notice): void {
  const isShown = notice.kind === 'failed' || !isOnlyCounted();
  if (!isShown || areFactsKnown(runs, notice) || !quota.takeForExtras()) return;
  runs.loadDetail(notice.run.run_id, { isBackground: true }).catch(() => undefined);
}

/** Waits until the facts of a notice are known, at most `FACTS_MS`. */
async function waitForFacts(runs: RunStore, notice: Notice): Promise<void> {
  if (areFactsKnown(runs, notice)) return;
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const timer = setTimeout(resolve, FACTS_MS);
  const subscription = runs.onDidChange(() => {
    if (areFactsKnown(runs, notice)) resolve(undefined);
  });
  await promise;
  clearTimeout(timer);
  subscription.dispose();
}
