import { setTimeout as delay } from 'node:timers/promises';
import * as vscode from 'vscode';
import { accountMoneyOf, type AccountMoney } from '../../core/money/accountMoney.ts';
import { serviceNowMs, type Session } from '../../core/runs/session.ts';
import type { Receipt } from '../../core/submission/intent.ts';
import type { PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import type { Services } from '../../services.ts';
import { inSandbox } from '../shared/format.ts';
import { showWarning, withProgress } from '../shared/notifications.ts';
import { stepMessages } from './stepMessages.ts';

type Parts = Pick<Services, 'journal' | 'log'>;

/** How long a question waits for the balance of this moment: without it the one before is shown. */
const BALANCE_WAIT_MS = 3_000;

/** What the questions of a submission are made of that the service and the journal know. */
export type Facts = NonNullable<Awaited<ReturnType<typeof readFacts>>>;

/**
 * Undefined, and the user knows it, if no model is available. What may have been charged is resent whatever the service lists.
 * @throws ApiError, KeyMissingError if the models can't be read and nothing may have been charged
 */
export async function readFacts(session: Session, parts: Parts, mayBeCharged = false) {
  const readModels = async () => {
    try {
      return (await session.models.refresh()).data;
    } catch (error) {
      if (!mayBeCharged) throw error;
      parts.log.error('models', error);
      return [];
    }
  };
  const [models, late, receipts] = await withProgress(
    { location: vscode.ProgressLocation.Window, title: stepMessages.preparing() },
    () => Promise.all([readModels(), readBalance(session), receiptsOf(parts)]),
  );
  const available = models.filter((model) => model.available);
  if (available.length > 0 || mayBeCharged) return { models: available, late, receipts };
  void showWarning(inSandbox(stepMessages.noModels(), session.account.kind === 'sandbox'));
  return undefined;
}

/** Reads the balance of this moment. @returns a reading that nobody waits for any longer: it resolves once it has come */
export async function readBalance({ balance }: Session): Promise<Promise<unknown>[]> {
  const reading = balance.refresh().catch(() => undefined);
  const isLate = await Promise.race([
    reading.then(() => false),
    delay(BALANCE_WAIT_MS, true, { ref: false }),
  ]);
  return isLate ? [reading] : [];
}

/** They inform, and never stop a submission. */
export function receiptsOf({ journal, log }: Parts): Promise<readonly Receipt[]> {
  return journal.receipts().catch((error: unknown) => {
    log.error('receipts', error);
    return [];
  });
}

/** What is known of an account's money now. @param pending without the one that it is asked for */
export function moneyOf(
  session: Session,
  receipts: readonly Receipt[],
  pending: readonly PendingSubmission[],
): AccountMoney {
  const { account, balance, runs } = session;
  return accountMoneyOf({
    account,
    receipts,
    runs,
    pending,
    balance: balance.current,
    nowMs: serviceNowMs(session),
  });
}
