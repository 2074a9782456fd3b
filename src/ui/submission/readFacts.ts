import { waitSentence } from '../shared/chargeText.ts';
import { setTimeout as delay } from 'node:timers/promises';
import * as vscode from 'vscode';
import { RETRIES } from '../../core/base/retry.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Receipt } from '../../core/submission/intent.ts';
import { stageOf } from '../../core/submission/stage.ts';
import type { Services } from '../../services.ts';
import { inSandbox } from '../shared/format.ts';
import { askModal, showWarning, withProgress } from '../shared/notifications.ts';

type Parts = Pick<Services, 'journal' | 'log'>;

const LOADING = {
  location: vscode.ProgressLocation.Window,
  title: vscode.l10n.t('Loading models and balance…'),
} as const;

/** How long a question waits for the current balance; after that, the previous one is shown. */
const BALANCE_WAIT_MS = 3_000;

/** The data from the service and the journal that the questions of a submission need. */
export type ReviewFacts = NonNullable<Awaited<ReturnType<typeof readReviewFacts>>>;

/**
 * Reads the models, the balance, and the receipts. While the service asks to wait, reads only what is
 * unknown. A possible charge can be resent even if no model is available.
 * @returns undefined, after a warning, if no model is available
 * @throws ApiError, KeyMissingError if the models can't be read and nothing may have been charged
 */
export async function readReviewFacts(session: Session, parts: Parts, mayBeCharged = false) {
  const known = () => (session.submissionsNotBeforeMs === undefined ? undefined : session.models.models);
  const readModels = async () => {
    try {
      return known() ?? (await session.models.refresh()).data;
    } catch (error) {
      const models = known();
      if (models === undefined && !mayBeCharged) throw error;
      parts.log.error('models', error);
      return models ?? [];
    }
  };
  const [models, late, receipts] = await withProgress(LOADING, () =>
    Promise.all([readModels(), readBalance(session), receiptsOf(parts)]),
  );
  const available = models.filter((model) => model.available);
  if (available.length > 0 || mayBeCharged) return { models: available, late, receipts };
  const text = vscode.l10n.t('No base models are available. Nothing was submitted.');
  void showWarning(inSandbox(text, session.account.kind === 'sandbox'));
  return undefined;
}

/**
 * Asks whether to try although the service asked submissions to wait for long. If so, an answered read ends
 * that wait. Unsent submissions get rid of it as well: the user may be about to submit one again.
 * @returns whether to continue
 * @throws ApiError, KeyMissingError
 */
export async function endLongWait(
  session: Session,
  submissions: Pick<Services['submissions'], 'endLongWait' | 'pending'>,
): Promise<boolean> {
  const { account } = session;
  const nowMs = Date.now();
  // Another window may have ended the account's wait, but not that of submissions left unsent here.
  const ownMs = submissions.pending
    .filter(({ accountId, state }) => accountId === account.id && state === 'unsent')
    .map(({ intent }) => stageOf(intent, { nowMs }).busyUntilMs ?? 0)
    .filter((untilMs) => untilMs - nowMs > RETRIES.submission.longestRetryAfterMs);
  const untilMs = Math.max(session.longWaitUntilMs ?? 0, ...ownMs);
  if (untilMs === 0) return true;
  const question = inSandbox(waitSentence(untilMs), account.kind === 'sandbox');
  const buttons = { [vscode.l10n.t('OK')]: false, [vscode.l10n.t('Try Anyway')]: true };
  if ((await askModal(showWarning, question, '', buttons)) !== true) return false;
  await withProgress(LOADING, () => submissions.endLongWait(session));
  return true;
}

/** Refreshes the balance, unless asked to wait. @returns the read if `BALANCE_WAIT_MS` isn't enough */
export async function readBalance({ balance, submissionsNotBeforeMs }: Session): Promise<Promise<unknown>[]> {
  if (submissionsNotBeforeMs !== undefined) return [];
  const reading = balance.refresh().catch(() => undefined);
  const isLate = await Promise.race([
    reading.then(() => false),
    delay(BALANCE_WAIT_MS, true, { ref: false }),
  ]);
  return isLate ? [reading] : [];
}

/** Never rejects: without receipts, a submission only shows less. */
export function receiptsOf({ journal, log }: Parts): Promise<readonly Receipt[]> {
  return journal.receipts().catch((error: unknown) => {
    log.error('receipts', error);
    return [];
  });
}
