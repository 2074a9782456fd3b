import type * as vscode from 'vscode';
import type { RunDetail, RunSummary } from '../../core/api/types.ts';
import type { Disposable } from '../../core/base/disposable.ts';
import type { Log } from '../shared/log.ts';
import type { DetailsState } from './pageMessages.ts';
import type { Account } from '../../core/accounts/account.ts';
import type { AccountStore } from '../../core/accounts/accountStore.ts';
import type { Downloads } from '../../core/downloads/downloads.ts';
import type { Receipt } from '../../core/submission/intent.ts';
import type { ChargedReceipt } from '../../core/submission/runFacts.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Sessions } from '../../core/runs/sessions.ts';

/** What the pages of runs need of the rest. */
export interface RunPageParts {
  extensionUri: vscode.Uri;
  accounts: Pick<AccountStore, 'accounts' | 'activate' | 'onDidChange'>;
  sessions: Pick<Sessions, 'active' | 'of' | 'onDidChangeActive'>;
  /** What was submitted from this machine. */
  receipts: () => Promise<readonly Receipt[]>;
  /** Fires when there may be another receipt. */
  onDidChangeReceipts: (listener: () => unknown) => Disposable;
  downloads: Pick<Downloads, 'active' | 'records' | 'onDidChange'>;
  /** Whether an account is the active one, or the person agrees to switch to it. */
  beActive: (accountId: string) => Promise<boolean>;
  /** The link to a run's page. */
  linkTo: (runId: string) => string;
  log: Pick<Log, 'error' | 'warn'>;
}

/** A file as it is on the disk now. */
export interface FileNow {
  sizeBytes: number;
  changedAtMs: number;
}

/** What is known of the run of a page. */
export interface RunPageView {
  accountId: string;
  runId: string;
  /** Undefined where the account is not on this machine any more. */
  account: Account | undefined;
  session: Session | undefined;
  isActive: boolean;
  /** As last read; it may be read anew at the moment. */
  detail: RunDetail | undefined;
  receipt: ChargedReceipt | undefined;
  /** Whether it is known that there is a receipt, or none. */
  receiptState: DetailsState;
  /** Whether the details are on their way. */
  isReading: boolean;
  downloads: Pick<Downloads, 'active' | 'records'>;
  /** `null`: there is no such file; undefined: not looked at yet. */
  fileNow: (path: string) => FileNow | null | undefined;
  link: string;
  /** By the service's clock, which tells its times. */
  nowMs: number;
}

/** The same with the account, its session and the run at hand. */
export interface KnownRunView extends RunPageView {
  account: Account;
  session: Session;
  run: RunSummary;
}
