import { stat } from 'node:fs/promises';
import * as vscode from 'vscode';
import { answersBeside } from '../../core/answers/filesBeside.ts';
import { sequencer } from '../../core/base/async.ts';
import { isMissing } from '../../core/base/diskError.ts';
import { CancelledError } from '../../core/base/errors.ts';
import { estimateBefore, rangeAccuracy } from '../../core/money/estimate.ts';
import type { KnownDetail } from '../../core/runs/run.ts';
import type { Session } from '../../core/runs/session.ts';
import {
  chargedReceiptsOf,
  isRunOf,
  isOver,
  type ChargedReceipt,
  type Receipt,
  mayBeRunOf,
} from '../../core/submission/submission.ts';
import type { Services } from '../../services.ts';
import { AccountPage, type AccountPageParts } from '../shared/accountPage.ts';
import { COMMANDS, PANELS } from '../shared/ids.ts';
import { notify, showInformation } from '../shared/notifications.ts';
import { revealOf } from '../shared/open.ts';
import { TERMS } from '../shared/terms.ts';
import { isRecord, isText, WebviewPanels } from '../shared/webview.ts';
import type {
  RunPageAction,
  RunPageButton,
  RunPageMemory,
  RunPageRequest,
  RunPageState,
} from './protocol.ts';
import { runLinkPath } from './runCommands.ts';
import { rowsBefore, rowsNow } from './runDifferences.ts';
import type { FileNow, RowsSince, RunPageView } from './runPageFacts.ts';
import { runPageState, runPageTitle } from './runPageView.ts';

/** How often a visible page is redrawn: times change and adapters expire. */
const REDRAW_MS = 2_000;
/** The minimum time between reads of a run that left the list: it may never be listed again. */
const READ_AGAIN_MS = 10 * 60_000;
/** A limit for IDs from a page's stored state, which may contain anything; real IDs are shorter. */
const MAX_ID_LENGTH = 400;

export type RunPageParts = AccountPageParts &
  Pick<Services, 'answersVerdict' | 'downloads' | 'fingerprints' | 'submissions'>;

/** Creates the owner of the open run page, which each run replaces. */
export function runPanels(parts: RunPageParts): WebviewPanels<RunPageMemory, RunPanel> {
  return new WebviewPanels({
    viewType: PANELS.run,
    memoryOf,
    keyOf: ({ accountId, runId }) => JSON.stringify([accountId, runId]),
    slotOf: () => '',
    create: (panel, memory) => new RunPanel(memory, panel, parts),
  });
}

function memoryOf(state: unknown): RunPageMemory | undefined {
  if (!isRecord(state)) return undefined;
  const { accountId, runId } = state;
  return isId(accountId) && isId(runId) ? { accountId, runId } : undefined;
}

function isId(value: unknown): value is string {
  return isText(value) && value !== '' && value.length <= MAX_ID_LENGTH;
}

/** Owns the page of one run. */
export class RunPanel extends AccountPage<RunPageState, RunPageRequest, RunPageButton> {
  readonly #memory: RunPageMemory;
  readonly #parts: RunPageParts;
  readonly #inTurn = sequencer();
  readonly #stop = new AbortController();
  #detail: KnownDetail | undefined;
  #receipt: ChargedReceipt | undefined;
  /** The first run of the submission, if this is a further one. */
  #several: ChargedReceipt | undefined;
  #estimate: RunPageView['estimate'];
  /** The dataset, and a version of the file of answers beside it. */
  #files: Pick<RunPageView, 'dataset' | 'answers' | 'verdict'> & { version?: string | undefined } = {};
  #rows: RowsSince = {};
  /** The session that the details are being read with. */
  #reading: Session | undefined;
  #readAtMs = -Infinity;

  constructor(memory: RunPageMemory, panel: vscode.WebviewPanel, parts: RunPageParts) {
    super(memory.accountId, panel, parts);
    this.#memory = memory;
    this.#parts = parts;
    const { downloads, sessions } = parts;
    const redraw = setInterval(() => panel.visible && this.draw(), REDRAW_MS);
    for (const one of [
      { dispose: () => clearInterval(redraw) },
      { dispose: () => this.#stop.abort() },
      sessions.onDidChangeActive(() => this.planDraw()),
      parts.fingerprints.onDidKeep(() => this.#readFiles()),
      downloads.onDidChange(({ accountId, runId }) => {
        if (accountId === memory.accountId && runId === memory.runId) this.planDraw();
      }),
      vscode.window.onDidChangeWindowState(({ focused }) => {
        if (focused && panel.visible) this.#readFiles();
      }),
    ])
      this.store.add(one);
    this.begin({
      page: 'run',
      requests: { act: { action: isText, target: isText } },
      onReady: () => this.#readFiles(),
      onRequest: (request) => this.act(request),
    });
  }

  protected sessionChanged(isOther: boolean): void {
    if (isOther) this.#detail = undefined;
    this.#readDetails();
    this.planDraw();
  }

  /** Reads unknown details, and at times those of an unlisted run. After a failure, only the user retries. */
  #readDetails(): void {
    const { session } = this;
    const { runId } = this.#memory;
    if (session === undefined || session.isLocked || session === this.#reading) return;
    const { runs } = session;
    if (runs.detailFailure(runId) !== undefined) return;
    if (runs.detail(runId) !== undefined) {
      // The list left it out, or the service no longer has it: only a read can find out.
      const isUnlisted = runs.get(runId) === undefined;
      if (!isUnlisted || performance.now() - this.#readAtMs < READ_AGAIN_MS) return;
      this.#readAtMs = performance.now();
    }
    this.#reading = session;
    runs
      .loadDetail(runId)
      .catch((error: unknown) => this.#parts.log.warn(String(error)))
      .finally(() => {
        if (session === this.#reading) this.#reading = undefined;
        this.planDraw();
      });
  }

  protected acceptReceipts(all: readonly Receipt[]): void {
    const receipts = chargedReceiptsOf(all, this.accountId);
    const receipt = receipts.find((one) => isRunOf(one, this.#memory.runId));
    this.#several = receipt?.charge.furtherRuns && receipt;
    if (receipt?.charge.run.run_id !== this.#memory.runId || this.#receipt !== undefined) return;
    this.#receipt = receipt;
    this.#estimate = { before: estimateBefore(receipts, receipt), accuracy: rangeAccuracy(receipts) };
    this.#readFiles();
  }

  /** Checks whether the dataset, the answers beside it and the downloaded files exist. */
  #readFiles(): void {
    void this.#parts.downloads.check(this.accountId);
    if (this.#receipt === undefined) return;
    const { path } = this.#receipt.dataset;
    void Promise.all([fileNow(path), answersBeside(path)]).then(([dataset, answers]) => {
      this.#files = { ...this.#files, dataset, answers };
      this.planDraw();
      void this.#readVerdict(answers);
    });
    void this.#inTurn(() => this.#readRows());
  }

  /** Compares the answers once for each version of the file. */
  async #readVerdict(answers: string | undefined): Promise<void> {
    const version = answers && JSON.stringify([answers, await fileNow(answers)]);
    if (version === this.#files.version) return;
    this.#files = { ...this.#files, version, verdict: undefined };
    if (answers === undefined) return;
    const { answersVerdict, log } = this.#parts;
    const fails = (error: unknown) => {
      log.error('run-verdict', error);
      return undefined;
    };
    const verdict = await answersVerdict.get()(this.#memory.runId, answers, this.#stop.signal).catch(fails);
    if (version === this.#files.version) this.#files = { ...this.#files, verdict };
    this.planDraw();
  }

  /** Reads what isn't known yet, or not of this version of the file. */
  async #readRows(): Promise<void> {
    const { fingerprints, journal, log } = this.#parts;
    const [receipt, known] = [this.#receipt, this.#rows];
    if (receipt === undefined) return;
    const fails = (error: unknown) => {
      if (!isMissing(error) && !(error instanceof CancelledError)) log.error('run-rows', error);
      return undefined;
    };
    const [now, before] = await Promise.all([
      rowsNow(receipt, known, [fingerprints, this.#stop.signal]).catch(fails),
      known.before ?? rowsBefore(receipt, journal.latest.filter(isOver), fingerprints).catch(fails),
    ]);
    this.#rows = { now, before };
    this.planDraw();
  }

  protected do({ action, target }: RunPageButton): unknown {
    const { accountId } = this;
    const run = { accountId, id: this.#memory.runId };
    const { executeCommand } = vscode.commands;
    const actions: Readonly<Record<RunPageAction, () => unknown>> = {
      download: () => executeCommand(COMMANDS.downloadAdapter, run),
      submitAgain: () => executeCommand(COMMANDS.submitAgain, run),
      inspect: () => executeCommand(COMMANDS.inspectAdapter, vscode.Uri.file(target)),
      openDataset: () => executeCommand(COMMANDS.previewDataset, vscode.Uri.file(target)),
      howToCompare: () => {
        const block = vscode.Uri.file(target).with({ fragment: 'compare' });
        if (target !== '') return executeCommand(COMMANDS.inspectAdapter, block);
        if (this.session?.runs.get(run.id)?.artifacts_available !== true)
          return executeCommand(COMMANDS.inspectAdapter, run);
        const how = vscode.l10n.t(
          'Download the adapter first. Its page has a script that compares it with the base model.',
        );
        const download = () => executeCommand(COMMANDS.downloadAdapter, run);
        notify(showInformation, how, { [TERMS.downloadAdapter]: download });
        return undefined;
      },
      compareAnswers: () => executeCommand(COMMANDS.compareAnswers, vscode.Uri.file(target)),
      cancelDownload: () => executeCommand(COMMANDS.cancelDownload, target),
      reveal: () => revealOf(vscode.Uri.file(target)).show(),
      useAccount: () => this.#parts.accounts.activate(accountId),
      switchAccount: () => executeCommand(COMMANDS.switchAccount),
      replaceKey: () => executeCommand(COMMANDS.replaceKey, accountId),
      // Instead of details that couldn't be read, the page says so.
      refresh: () => Promise.allSettled([this.session?.runs.loadDetail(run.id), this.refresh()]),
      // Handled by `WebviewHost`.
      copy: () => undefined,
    };
    return actions[action]();
  }

  protected title(): string {
    return runPageTitle(this.#view());
  }

  protected state(): RunPageState {
    return runPageState(this.#view());
  }

  #view(): RunPageView {
    const { accountId, session } = this;
    const { runId } = this.#memory;
    const { context, sessions, downloads, submissions } = this.#parts;
    // Show the previous details while they are read again, unless the key was rejected or the run is gone.
    if (session === undefined || session.isLocked || session.runs.get(runId) === undefined)
      this.#detail = undefined;
    else this.#detail = session.runs.detail(runId) ?? this.#detail;
    return {
      ...this.#memory,
      session,
      isActive: sessions.active?.account.id === accountId,
      detail: this.#detail,
      isReading: session !== undefined && session === this.#reading,
      receipt: this.#receipt,
      receiptLoading: this.receiptsLoading,
      several: this.#several,
      mayBeOpen: submissions.pending.some(
        (one) => one.accountId === accountId && session && mayBeRunOf(one.submission, runId, session.runs),
      ),
      estimate: this.#estimate,
      downloads: downloads.active.filter((one) => one.accountId === accountId && one.runId === runId),
      records: downloads.records(accountId).filter((one) => one.runId === runId),
      ...this.#files,
      rows: this.#rows,
      link: `${vscode.env.uriScheme}://${context.extension.id}${runLinkPath(runId)}`,
      nowMs: this.nowMs(),
    };
  }
}

async function fileNow(path: string): Promise<FileNow | null> {
  try {
    const { size, mtimeMs } = await stat(path);
    return { sizeBytes: size, changedAtMs: mtimeMs };
  } catch {
    return null;
  }
}
