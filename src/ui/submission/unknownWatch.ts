import * as vscode from 'vscode';
import type { Disposable } from '../../core/base/disposable.ts';
import { COMMANDS, type CommandId } from '../shared/ids.ts';
import type { TellFoundRun } from './submissionOutcome.ts';
import { tellNothingCharged } from './noticeMessages.ts';
import type { Journal } from '../../core/submission/journal.ts';
import { canCheck, canContinue } from '../../core/submission/pendingSubmission.ts';
import type { PendingSubmission } from '../../core/submission/pendingSubmission.ts';
import type { Session } from '../../core/runs/session.ts';
import type { Sessions } from '../../core/runs/sessions.ts';
import type { Submitter } from '../../core/submission/submitter.ts';
import { followActive } from '../shared/activeSession.ts';

/** How often it is asked whether a look is due. */
const ASK_MS = 30_000;
/** For so long a charge may be about to be told by the window that learned of it. */
const TELLING_MS = 10_000;

/**
 * Has the submissions of all accounts looked for whose outcome is not known, each with the session of its own, when the service
 * answers and while there are some, and tells what came of it, and of charges that an earlier window could not tell any more.
 * Nothing is sent: the submitter decides whether a look is due.
 */
export class UnknownWatch implements Disposable {
  readonly #submitter: Submitter;
  readonly #sessions: Sessions;
  readonly #journal: Pick<Journal, 'receipts' | 'untold' | 'claimNotice'>;
  readonly #beActive: (accountId: string) => Promise<boolean>;
  readonly #tellFoundRun: TellFoundRun;
  readonly #subscriptions: Disposable[];
  readonly #looking = new Set<string>();
  #later: NodeJS.Timeout | undefined;

  /** @param beActive makes an account the active one, if it is not and the person agrees */
  constructor(
    sessions: Sessions,
    submitter: Submitter,
    journal: Pick<Journal, 'receipts' | 'untold' | 'claimNotice'>,
    beActive: (accountId: string) => Promise<boolean>,
    tellFoundRun: TellFoundRun,
  ) {
    this.#submitter = submitter;
    this.#journal = journal;
    this.#beActive = beActive;
    this.#tellFoundRun = tellFoundRun;
    this.#sessions = sessions;
    const asking = setInterval(() => this.#lookAll(), ASK_MS);
    asking.unref();
    this.#subscriptions = [
      { dispose: () => clearInterval(asking) },
      followActive(sessions, (session) => this.#follow(session)),
      sessions.onDidChangeState(({ session }) => void this.#look(session)),
      submitter.onDidChange(({ accountId, state }) => {
        const session = state === 'unknown' ? sessions.find(accountId) : undefined;
        if (session !== undefined) void this.#look(session);
      }),
    ];
    void this.#tellUntold();
  }

  dispose(): void {
    clearTimeout(this.#later);
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #follow(session: Session | undefined): Disposable[] {
    this.#lookAll();
    return session === undefined ? [] : [session.runs.onDidChange(() => void this.#settleMarked(session))];
  }

  #lookAll(): void {
    for (const accountId of new Set(this.#submitter.pending.map(({ accountId: id }) => id))) {
      const session = this.#sessions.find(accountId);
      if (session !== undefined) void this.#look(session);
    }
  }

  /** Once the label of its run was read no look is needed. Never throws. */
  async #settleMarked(session: Session): Promise<void> {
    const { id } = session.account;
    const open = this.#submitter.pending.filter((one) => one.accountId === id && canCheck(one));
    if (open.length === 0) return;
    await this.#submitter.settleMarked(session);
    const { pending } = this.#submitter;
    for (const submission of open)
      if (!pending.some((one) => one.id === submission.id)) await this.#tell(session, submission);
  }

  /** Never throws. */
  async #look(session: Session): Promise<void> {
    const { id } = session.account;
    // Whether the service answers is found out for the active account; of the others nothing else asks.
    const mayAsk = session === this.#sessions.active ? session.state === 'ready' : !session.isLocked;
    if (!mayAsk || this.#looking.has(id)) return;
    const unknown = this.#submitter.pending.filter(
      ({ accountId, state }) => accountId === id && state === 'unknown',
    );
    if (unknown.length === 0) return;
    this.#looking.add(id);
    try {
      await this.#submitter.checkDue(session);
    } finally {
      this.#looking.delete(id);
    }
    for (const submission of unknown) await this.#tell(session, submission);
  }

  async #tell(session: Session, { id, intent }: PendingSubmission): Promise<void> {
    const { filename } = intent.dataset;
    const { account, balance } = session;
    const now = this.#submitter.pending.find((pending) => pending.id === id);
    if (now?.state === 'not-charged') {
      const goOn = () => void this.#run(account.id, COMMANDS.continueSubmission, id);
      tellNothingCharged(filename, account, canContinue(now, Date.now()) ? goOn : undefined);
    }
    if (now !== undefined) return;
    const receipts = await this.#journal.receipts().catch(() => []);
    const settled = receipts.find((receipt) => receipt.id === id)?.settled;
    // What the person did about it themselves was told there.
    if (settled?.kind !== 'charged' || settled.how !== 'found') return;
    if (!(await this.#journal.claimNotice(settled.run.run_id))) return;
    await this.#tellFoundRun(settled.run, { filename, account, readBalance: () => balance.refresh() });
  }

  /** Never throws. */
  async #tellUntold(): Promise<void> {
    for (const { accountId, dataset, settled } of await this.#journal.untold().catch(() => [])) {
      const session = this.#sessions.find(accountId);
      if (session === undefined || settled.kind !== 'charged') continue;
      // The window that has the answer may be reading the balance, to tell it.
      if (Math.abs(Date.now() - settled.at.localMs) < TELLING_MS) {
        this.#later ??= setTimeout(() => {
          this.#later = undefined;
          void this.#tellUntold();
        }, TELLING_MS);
        continue;
      }
      if (!(await this.#journal.claimNotice(settled.run.run_id))) continue;
      const { account, balance } = session;
      const { filename } = dataset;
      await this.#tellFoundRun(settled.run, { filename, account, readBalance: () => balance.refresh() });
    }
  }

  async #run(accountId: string, command: CommandId, id: string): Promise<void> {
    if (await this.#beActive(accountId)) await vscode.commands.executeCommand(command, id);
  }
}
