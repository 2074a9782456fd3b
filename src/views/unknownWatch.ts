import * as vscode from 'vscode';
import type { Disposable } from '../base/disposable.ts';
import { COMMANDS, type CommandId } from '../host/ids.ts';
import type { TellFoundRun } from '../host/submissionOutcome.ts';
import { tellNothingCharged } from '../host/wording/pendingNotices.ts';
import type { Journal } from '../runs/submission/journal.ts';
import { canContinue } from '../runs/submission/pendingActions.ts';
import type { PendingSubmission } from '../runs/submission/pendingSubmission.ts';
import type { Session } from '../runs/session.ts';
import type { Sessions } from '../runs/sessions.ts';
import type { Submitter } from '../runs/submission/submitter.ts';
import { followActive } from './activeSession.ts';

/** How often it is asked whether a look is due. */
const ASK_MS = 30_000;

/**
 * Has the active account's submissions looked for whose outcome is not known, when the service answers and while there are
 * some, and tells what came of it. Nothing is sent: the submitter decides whether a look is due.
 */
export class UnknownWatch implements Disposable {
  readonly #submitter: Submitter;
  readonly #journal: Pick<Journal, 'receipts'>;
  readonly #beActive: (accountId: string) => Promise<boolean>;
  readonly #tellFoundRun: TellFoundRun;
  readonly #subscription: Disposable;
  readonly #looking = new Set<string>();

  /** @param beActive makes an account the active one, if it is not and the person agrees */
  constructor(
    sessions: Sessions,
    submitter: Submitter,
    journal: Pick<Journal, 'receipts'>,
    beActive: (accountId: string) => Promise<boolean>,
    tellFoundRun: TellFoundRun,
  ) {
    this.#submitter = submitter;
    this.#journal = journal;
    this.#beActive = beActive;
    this.#tellFoundRun = tellFoundRun;
    this.#subscription = followActive(sessions, (session) => this.#follow(session));
  }

  dispose(): void {
    this.#subscription.dispose();
  }

  #follow(session: Session | undefined): Disposable[] {
    if (session === undefined) return [];
    const look = () => void this.#look(session);
    const asking = setInterval(look, ASK_MS);
    asking.unref();
    look();
    return [
      { dispose: () => clearInterval(asking) },
      session.onDidChangeState(look),
      this.#submitter.onDidChange(({ accountId, state }) => {
        if (state === 'unknown' && accountId === session.account.id) look();
      }),
    ];
  }

  /** Never throws. */
  async #look(session: Session): Promise<void> {
    const { id } = session.account;
    if (session.state !== 'ready' || this.#looking.has(id)) return;
    const unknown = this.#submitter.pending.filter(
      ({ accountId, state }) => accountId === id && state === 'unknown',
    );
    if (unknown.length === 0) return;
    this.#looking.add(id);
    try {
      await this.#submitter.look(session);
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
      tellNothingCharged(
        filename,
        account.kind === 'sandbox',
        canContinue(now, Date.now()) ? goOn : undefined,
      );
    }
    if (now !== undefined) return;
    const receipts = await this.#journal.receipts().catch(() => []);
    const settled = receipts.find((receipt) => receipt.id === id)?.settled;
    // What the person did about it themselves was told there.
    if (settled?.kind === 'charged' && settled.how === 'found')
      await this.#tellFoundRun(settled.run, { filename, account, readBalance: () => balance.refresh() });
  }

  async #run(accountId: string, command: CommandId, id: string): Promise<void> {
    if (await this.#beActive(accountId)) await vscode.commands.executeCommand(command, id);
  }
}
