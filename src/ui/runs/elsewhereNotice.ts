import * as vscode from 'vscode';
import { serviceOf } from '../../core/accounts/account.ts';
import type { RunSummary } from '../../core/api/types.ts';
import { shared } from '../../core/base/async.ts';
import { instantOf } from '../../core/base/clock.ts';
import { DisposableStore, type Disposable } from '../../core/base/disposable.ts';
import { isAnswer } from '../../core/runs/detailStore.ts';
import { markerOf } from '../../core/runs/marker.ts';
import { serviceNowMs, type Session } from '../../core/runs/session.ts';
import type { Intent } from '../../core/submission/intent.ts';
import { mayBeRunOf } from '../../core/submission/ownRuns.ts';
import type { Services } from '../../services.ts';
import { formatCount } from '../shared/format.ts';
import { VIEWS } from '../shared/ids.ts';
import { notify, showInformation } from '../shared/notifications.ts';

type ElsewhereNoticeParts = Pick<Services, 'ensureActiveAccount' | 'ledger' | 'readSubmissions'>;

const RECENT_MS = 24 * 60 * 60_000;
/** How often to try again while labels are missing. */
const AGAIN_MS = 60_000;

/**
 * Notifies the user, once per account, of recent runs that were submitted from a place with its own journal (another machine,
 * profile or container), if the journal here has nothing of the account: nothing here prevents a duplicate of them.
 */
export class ElsewhereNotice implements Disposable {
  readonly #session: Session;
  readonly #parts: ElsewhereNoticeParts;
  readonly #disposables = new DisposableStore();
  readonly #startedAtMs = Date.now();
  readonly #look = shared(() => this.#lookOnce());
  /** Whether the journal had nothing of the account when it was first read. */
  #wasEmpty = false;

  constructor(session: Session, parts: ElsewhereNoticeParts) {
    this.#session = session;
    this.#parts = parts;
    const look = () => void this.#look();
    const timer = setInterval(look, AGAIN_MS).unref();
    for (const one of [
      { dispose: () => clearInterval(timer) },
      session.runs.onDidChange(look),
      session.onDidChangeState(look),
      vscode.window.onDidChangeWindowState(look),
    ])
      this.#disposables.add(one);
    look();
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  /** Ends when there is nothing to say, or it was said. Never rejects. */
  async #lookOnce(): Promise<void> {
    const { account, runs, state } = this.#session;
    // The stored list may be from yesterday.
    if (state !== 'ready' || runs.rows === undefined || runs.readAtMs < this.#startedAtMs) return;
    if (!this.#wasEmpty && (await this.#submissionsOfOthers()) === undefined) return;
    this.#wasEmpty = true;
    const sinceMs = serviceNowMs(this.#session) - RECENT_MS;
    const recent = runs.rows.filter(({ created_at }) => instantOf(created_at) >= sinceMs);
    for (const run of recent) if (!(await this.#knowsLabel(run))) return;
    const marked = recent.filter(({ run_id }) => markerOf(runs.label(run_id) ?? '') !== undefined);
    // The window that the user looks at says it.
    if (marked.length > 0 && !vscode.window.state.focused) return;
    // Something may have been submitted here while labels were read.
    const others = await this.#submissionsOfOthers();
    if (others === undefined || this.#disposables.disposed) return;
    this.dispose();
    const count = marked.filter((run) => !this.#isOneOf(others, run)).length;
    const { ensureActiveAccount, ledger } = this.#parts;
    if (count === 0 || !(await ledger.claim(account.id, '', 'submitted-elsewhere'))) return;
    const show = async () => {
      if (await ensureActiveAccount(account.id)) await vscode.commands.executeCommand(`${VIEWS.runs}.focus`);
    };
    const text =
      count === 1
        ? vscode.l10n.t('1 run was submitted from another machine, profile or container.')
        : vscode.l10n.t(
            '{0} runs were submitted from another machine, profile or container.',
            formatCount(count),
          );
    notify(showInformation, text, { [vscode.l10n.t('Show Runs')]: show });
  }

  /** Returns the submissions of other accounts to this service. Undefined, for good, if there are any of the account itself. */
  async #submissionsOfOthers(): Promise<readonly Intent[] | undefined> {
    const { account } = this.#session;
    // If they can't be read, it is unknown where the runs were submitted.
    const submissions = await this.#parts.readSubmissions().catch(() => undefined);
    if (submissions?.some(({ accountId }) => accountId === account.id) === false)
      return submissions.filter(({ origin }) => origin === serviceOf(account));
    this.dispose();
    return undefined;
  }

  /** Whether a run's label, or that it has none, is known, after reading its details if the quota allows it. */
  async #knowsLabel({ run_id: id }: RunSummary): Promise<boolean> {
    const { runs, quota } = this.#session;
    const isKnown = () =>
      (runs.label(id) ?? runs.detail(id)) !== undefined || isAnswer(runs.detailFailure(id));
    if (isKnown()) return true;
    // As for the labels of rows: the rest is for polls.
    if (this.#disposables.disposed || !quota.hasPlenty(1) || !quota.takeSpare()) return false;
    await runs.loadDetail(id, { isBackground: true }).catch(() => undefined);
    return isKnown();
  }

  /** Whether one of these submissions made a run; the user may have signed in to its account twice. */
  #isOneOf(submissions: readonly Intent[], { run_id: id }: RunSummary): boolean {
    return submissions.some(
      (one) =>
        mayBeRunOf(one, id, this.#session.runs) ||
        (one.settled?.kind === 'charged' && one.settled.run.run_id === id),
    );
  }
}
