import type { RunSummary } from '../api/types.ts';
import type { Disposable } from '../base/disposable.ts';
import { makeDirectoryDurably } from '../base/durableFile.ts';
import type { DetailFile, KeptDetail } from './detailFile.ts';
import { FolderWatch } from './folderWatch.ts';
import { phaseOf } from './phase.ts';
import type { RunStore } from './runStore.ts';

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
    this.#subscription = runs.onDidChange(({ added, changed }) => {
      this.#follow([...added, ...changed]);
    });
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

  #follow(runIds: readonly string[]): void {
    const lost: string[] = [];
    for (const runId of runIds) {
      const run = this.#runs.get(runId);
      const detail = this.#runs.detail(runId);
      const kept = this.#file.get(runId);
      if (run === undefined) continue;
      if (kept !== undefined && !fits(run, kept)) this.#log(this.#file.drop(runId));
      if (detail === undefined) lost.push(runId);
      else if (this.#file.get(runId) === undefined && phaseOf(run, detail) === 'finished')
        this.#log(this.#file.keep({ listed: run.status, detail }));
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

function fits(run: RunSummary, { listed, detail }: KeptDetail): boolean {
  if (run.status !== listed) return false;
  const apartMs = Math.abs(Date.parse(run.created_at ?? '') - Date.parse(detail.created_at ?? ''));
  // Runs of the sandbox come again under their ids after it was reset.
  return Number.isNaN(apartMs) || apartMs < SAME_TIME_MS;
}
