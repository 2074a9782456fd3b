import { setTimeout as delay } from 'node:timers/promises';
import * as vscode from 'vscode';
import type { Balance, RunCreation } from '../../core/api/types.ts';
import { CancelledError } from '../../core/base/errors.ts';
import type { SubmissionResult } from '../../core/submission/pendingSubmission.ts';
import { COMMANDS, type CommandId } from '../shared/ids.ts';
import type { Log } from '../shared/log.ts';
import { asStorageError } from '../shared/storageError.ts';
import {
  isTooLow,
  tellCancelled,
  tellCharged,
  tellElsewhere,
  tellFound,
  tellNotCharged,
  tellUnknown,
} from './messages.ts';

/** How long a refusal waits for the balance that it is told with. */
const BALANCE_WAIT_MS = 5_000;

/** What of a submission its outcome is told with. */
export interface Submitted {
  /** Its Idempotency-Key. */
  id: string;
  /** The dataset. */
  path: string;
  filename: string;
  /** What "Submit Again…" starts with. */
  preset: { modelId: string; label: string; priority: boolean };
  account: { id: string; name: string; kind: 'service' | 'sandbox' };
  /** Reads the balance of its account. */
  readBalance: () => Promise<Balance>;
}

/**
 * Tells what a submission came to, whether it was charged in the first words, and offers what can be done about it.
 * @param beActive makes an account the active one, if it is not and the person agrees: a notification can be answered after
 * a switch
 */
export async function tellOutcome(
  outcome: SubmissionResult,
  submitted: Submitted,
  beActive: (accountId: string) => Promise<boolean>,
  log: Pick<Log, 'error'>,
): Promise<void> {
  const { filename, id, account } = submitted;
  const isSandbox = account.kind === 'sandbox';
  const act = async (command: CommandId, ...args: unknown[]) => {
    if (await beActive(account.id)) await vscode.commands.executeCommand(command, ...args);
  };
  switch (outcome.kind) {
    case 'charged': {
      const { run, found, onTold } = outcome;
      const show = () => void act(COMMANDS.showRun, run.run_id);
      const isBalanceTold = !found && run.balance_after_cents !== undefined;
      const balance = isBalanceTold ? undefined : await soon(submitted.readBalance());
      (found ? tellFound : tellCharged)(run, filename, account, balance, show);
      onTold?.();
      return;
    }
    case 'not-charged': {
      const { error, kept } = outcome;
      if (error instanceof CancelledError) {
        tellCancelled(filename);
        return;
      }
      log.error('not-submitted', error);
      const balance = isTooLow(error) ? await soon(submitted.readBalance()) : undefined;
      tellNotCharged(filename, asStorageError(error), kept, balance, isSandbox, {
        goOn: () => void act(COMMANDS.continueSubmission, id),
        again: () =>
          void act(COMMANDS.submitDataset, vscode.Uri.file(submitted.path), undefined, submitted.preset),
        run: (command) => {
          // The dataset and the log are those of all accounts.
          if (command === COMMANDS.checkDataset)
            void vscode.commands.executeCommand(command, vscode.Uri.file(submitted.path));
          else if (command === COMMANDS.showLog) void vscode.commands.executeCommand(command);
          else void act(command);
        },
      });
      return;
    }
    case 'unknown':
      log.error('outcome-unknown', outcome.error);
      tellUnknown(filename, asStorageError(outcome.error), isSandbox, {
        // Of any account: these switch to none.
        check: () => void vscode.commands.executeCommand(COMMANDS.checkSubmission, id),
        show: () => void vscode.commands.executeCommand(COMMANDS.resolveSubmission, id),
      });
      return;
    case 'open':
      await vscode.commands.executeCommand(COMMANDS.resolveSubmission, outcome.id);
      return;
    case 'elsewhere':
      tellElsewhere(filename);
  }
}

/** Tells that a submission whose answer got lost was charged, with what its account has now. */
export type TellFoundRun = (
  run: Pick<RunCreation, 'run_id' | 'price_cents'>,
  submitted: Pick<Submitted, 'filename' | 'account' | 'readBalance'>,
) => Promise<void>;

/**
 * Makes what tells of runs that were found, each one once: a look by itself and one that the person asked for can be the
 * same.
 * @param beActive makes an account the active one, if it is not and the person agrees
 * @param onTold called with the run's id when it was told
 */
export function tellFoundRunsOnce(
  beActive: (accountId: string) => Promise<boolean>,
  onTold: (runId: string) => void = () => undefined,
): TellFoundRun {
  const told = new Set<string>();
  return async (run, { filename, account, readBalance }) => {
    if (told.has(run.run_id)) return;
    told.add(run.run_id);
    const show = async () => {
      if (await beActive(account.id)) await vscode.commands.executeCommand(COMMANDS.showRun, run.run_id);
    };
    tellFound(run, filename, account, await soon(readBalance()), () => void show());
    onTold(run.run_id);
  };
}

/** A balance as it is now and not as it was; undefined where it does not come soon. */
async function soon(balance: Promise<Balance>): Promise<Balance | undefined> {
  return Promise.race([balance.catch(() => undefined), delay(BALANCE_WAIT_MS, undefined, { ref: false })]);
}
