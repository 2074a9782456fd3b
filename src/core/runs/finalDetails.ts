import { appendFile, mkdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import * as v from 'valibot';
import { currency, runDetail, type RunSummary } from '../api/types.ts';
import { sequencer } from '../base/async.ts';
import type { Disposable } from '../base/disposable.ts';
import { removeTemporaries, writeFileDurably } from '../storage/durableFile.ts';
import type { Moved } from './loadedRuns.ts';
import { type KnownDetail, phaseOf } from './run.ts';
import type { RunStore } from './runStore.ts';

/** How many of the newest details stay when the file is shortened, which happens at twice as many lines. */
const MAX_STORED = 2_000;
/** Far more than a detail with the longest label needs, however it is escaped. */
const MAX_BYTES = 3_500;
/** A longer file isn't one of ours. */
const MAX_FILE_BYTES = 16_000_000;

/** `listed`: the run's status in the list. Without a currency if the balance wasn't known. */
const storedLine = v.object({
  listed: v.string(),
  detail: v.object({ ...runDetail.entries, assumedCurrency: currency }),
});

/**
 * Owns the file with an account's final details, a line for each run. Every window appends the details that it read, and
 * gives its run store those that match the list. The last line of a run counts; if it is invalid, there is no detail.
 */
export class FinalDetails implements Disposable {
  readonly #runs: RunStore;
  readonly #file: string;
  readonly #onError: (error: unknown) => void;
  readonly #subscription: Disposable;
  /** The last line of each run, in the order of the file. */
  readonly #lines = new Map<string, string>();
  /** The details that are in the file, with the status that the list had then. */
  readonly #stored = new WeakMap<KnownDetail, string>();
  readonly #inTurn = sequencer();
  /** The IDs of runs whose details must be read from the file or written to it. */
  readonly #due = new Set<string>();
  /** The failure that was reported last, until a write succeeds. */
  #problem = '';
  /** Identifies the content that was read last. */
  #stamp = '';

  /** @param onError called once if details can't be stored; other windows then read them from the service */
  constructor(runs: RunStore, file: string, onError: (error: unknown) => void) {
    this.#runs = runs;
    this.#file = file;
    this.#onError = onError;
    this.#subscription = runs.onDidChange(({ added, changed, moved }) =>
      this.#exchange([...added, ...changed], moved),
    );
    void this.#inTurn(() => removeTemporaries(path.dirname(file)));
    this.#exchange((runs.rows ?? []).map(({ run_id }) => run_id));
  }

  /** Reads the lines of other windows. Resolves once the run store has their details; never rejects. */
  readShared(): Promise<void> {
    return this.#inTurn(async () => this.#give(await this.#read())).catch(() => undefined);
  }

  dispose(): void {
    this.#subscription.dispose();
  }

  /**
   * Gives the run store the details that it lacks, and appends new ones. After a failure, the next change repeats
   * it.
   */
  #exchange(runIds: readonly string[], moved: readonly Moved[] = []): void {
    for (const runId of runIds) this.#due.add(runId);
    void this.#inTurn(async () => {
      const due = [...this.#due].filter((runId) => {
        const [run, detail] = [this.#runs.get(runId), this.#runs.detail(runId)];
        const listed = detail && this.#stored.get(detail);
        return run !== undefined && phaseOf(run) === 'finished' && listed !== run.status;
      });
      this.#due.clear();
      if (due.length + moved.length === 0) return;
      try {
        const read = await this.#read();
        // A run that continues after its end may end differently. An invalid line replaces its detail.
        const stale = moved.filter(
          ({ runId, before: { status }, after }) =>
            status !== after.status && storedOf(this.#lines.get(runId))?.listed === status,
        );
        await this.#append(stale.map(({ runId }) => JSON.stringify({ detail: { run_id: runId } })));
        this.#give([...read, ...due]);
        const news = due.flatMap((runId) => this.#newsOf(runId) ?? []);
        await this.#append(news.map(({ line }) => line));
        for (const { detail, listed } of news) this.#stored.set(detail, listed);
      } catch (error) {
        for (const runId of due) this.#due.add(runId);
        if (String(error) !== this.#problem) this.#onError(error);
        this.#problem = String(error);
      }
    });
  }

  async #append(lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return;
    await mkdir(path.dirname(this.#file), { recursive: true, mode: 0o700 });
    // Begin with a new line, in case a killed window tore the last one.
    await appendFile(this.#file, `\n${lines.join('\n')}\n`, { mode: 0o600 });
    this.#problem = '';
  }

  /** Gives the run store the details that it lacks. For those that it has, gives only the stored currency. */
  #give(runIds: readonly string[]): void {
    const known = runIds.flatMap((runId) => {
      const [run, stored] = [this.#runs.get(runId), storedOf(this.#lines.get(runId))];
      if (!run || !stored) return [];
      if (run.status !== stored.listed && this.#runs.detail(runId) === undefined) return [];
      this.#stored.set(stored.detail, stored.listed);
      return stored.detail;
    });
    this.#runs.addDetails(known);
  }

  /** Returns a run's detail and the line to append, if it is final and new. */
  #newsOf(runId: string): { line: string; listed: string; detail: KnownDetail } | undefined {
    const [run, detail] = [this.#runs.get(runId), this.#runs.detail(runId)];
    if (!run || !detail || !isFinal(run, detail)) return undefined;
    const listed = run.status;
    const line = JSON.stringify({ listed, detail });
    const isNew = line !== this.#lines.get(runId) && Buffer.byteLength(line) <= MAX_BYTES;
    return isNew ? { line, listed, detail } : undefined;
  }

  /** Reads the file if it changed. @returns the IDs of the runs whose line is new */
  async #read(): Promise<string[]> {
    const { ino, size, mtimeMs } = (await stat(this.#file).catch(() => undefined)) ?? {};
    const stamp = [ino, size, mtimeMs].join();
    if (size === undefined || stamp === this.#stamp) return [];
    // Text after the last line end is still being written, or was torn.
    const text = size > MAX_FILE_BYTES ? '' : await readFile(this.#file, 'utf8');
    const lines = text.split('\n').slice(0, -1);
    this.#stamp = stamp;
    const news = this.#learn(lines);
    if (size <= MAX_FILE_BYTES && lines.length <= 2 * MAX_STORED) return news;
    // Lines that another window appends meanwhile are lost, and read from the service again.
    for (const runId of [...this.#lines.keys()].slice(0, -MAX_STORED)) this.#lines.delete(runId);
    await writeFileDurably(this.#file, `${[...this.#lines.values()].join('\n')}\n`);
    return news;
  }

  /** Keeps the last line of each run. @returns the IDs of the runs whose line is new */
  #learn(lines: readonly string[]): string[] {
    return lines.flatMap((line) => {
      const runId = /"run_id":"([^"\\]+)"/.exec(line)?.[1];
      if (runId === undefined || this.#lines.get(runId) === line) return [];
      this.#lines.delete(runId);
      this.#lines.set(runId, line);
      return runId;
    });
  }
}

/** Parses a line; undefined if it is invalid. */
function storedOf(line: string | undefined): v.InferOutput<typeof storedLine> | undefined {
  try {
    return line === undefined ? undefined : v.parse(storedLine, JSON.parse(line));
  } catch {
    return undefined;
  }
}

/** Whether both list and detail say that the run has ended; one of them may lag behind. */
function isFinal(run: RunSummary, detail: KnownDetail): boolean {
  const ofDetail: RunSummary = { ...run, status: detail.status, artifacts_available: false };
  const hasEnded = detail.status === run.status || phaseOf(ofDetail, detail) === 'finished';
  return hasEnded && phaseOf(run) === 'finished';
}
