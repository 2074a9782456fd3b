import type { RunDetail, RunSummary } from '../api/types.ts';
import type { Disposable } from '../base/disposable.ts';
import { makeDirectoryDurably } from '../storage/durableFile.ts';
import { instantOf } from '../base/instant.ts';
import type { DetailFile, KeptDetail } from './detailFile.ts';
import { FolderWatch } from '../storage/folderWatch.ts';
import { phaseOf } from './phase.ts';
import type { RunChange, RunStore } from './runStore.ts';

/** How far the list and the detail may tell the time of creation apart: one of them may tell whole seconds. */
const SAME_TIME_MS = 1_000;

/**
 * Keeps an account's details beyond this window once they are final, and gives the store those that are kept, as far as they
 * are still what the list says.
 */
export class KeptDetails implements Disposable {
  readonly #runs: RunStore;
  readonly #file: DetailFile;
  readonly #onError: (error: unknown) => void;
  readonly #subscription: Disposable;
  #watch: FolderWatch | undefined;
  #disposed = false;

  /** @param onError told what the disk did not take: it is read from the service again another time */
  constructor(runs: RunStore, file: DetailFile, onError: (error: unknown) => void) {
    this.#runs = runs;
    this.#file = file;
    this.#onError = onError;
    this.#subscription = runs.onDidChange((change) => this.#follow(change));
  }

  /** Reads what is kept, and goes on with what other windows keep. Never rejects. */
  async open(): Promise<void> {
    // There may be no folder yet to be followed.
    await makeDirectoryDurably(this.#file.folder).catch(() => undefined);
    await this.#read();
    if (!this.#disposed) this.#watch = new FolderWatch(this.#file.folder, '.jsonl', () => this.#read());
  }

  dispose(): void {
    this.#disposed = true;
    this.#subscription.dispose();
    this.#watch?.dispose();
  }

  async #read(): Promise<void> {
    const runIds = await this.#file.refresh();
    if (!this.#disposed) this.#offer(runIds);
  }

  #follow({ added, changed, moved }: RunChange): void {
    // What this window has not heard of yet, another one may have kept: only a run that left its state takes its detail along.
    const left = new Map(moved.map(({ runId, before }) => [runId, before.status]));
    const news = new Set(added);
    const lost: string[] = [];
    for (const runId of [...added, ...changed]) {
      const run = this.#runs.get(runId);
      const detail = this.#runs.detail(runId);
      const kept = this.#file.get(runId);
      if (run === undefined) continue;
      const isKept = kept !== undefined && fits(run, kept);
      if (kept !== undefined && !isKept && (news.has(runId) || left.get(runId) === kept.listed))
        this.#log(this.#file.drop(runId));
      if (detail === undefined) lost.push(runId);
      else if (!isKept && isFinal(run, detail)) this.#log(this.#file.keep({ listed: run.status, detail }));
    }
    this.#offer(lost);
  }

  /** A row says what its run is now: a detail that was kept of another state of it is none. */
  #offer(runIds: readonly string[]): void {
    const known = runIds.flatMap((runId) => {
      const run = this.#runs.get(runId);
      const kept = this.#file.get(runId);
      return run === undefined || kept === undefined || !fits(run, kept) ? [] : [kept.detail];
    });
    if (known.length > 0) this.#runs.knowDetails(known);
  }

  #log(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.#onError(error));
  }
}

/** List and details may not say at the same moment that a run has ended: kept is what says it of both. */
function isFinal(run: RunSummary, detail: RunDetail): boolean {
  if (phaseOf(run) !== 'finished') return false;
  const told: RunSummary = { ...run, status: detail.status, artifacts_available: false };
  return detail.status === run.status || phaseOf(told, detail) === 'finished';
}

function fits(run: RunSummary, { listed, detail }: KeptDetail): boolean {
  if (run.status !== listed) return false;
  const apartMs = Math.abs(instantOf(run.created_at) - instantOf(detail.created_at));
  // Runs of the sandbox come again under their ids after it was reset.
  return Number.isNaN(apartMs) || apartMs < SAME_TIME_MS;
}
