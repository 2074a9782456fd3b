import { randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { sequencer } from '../base/async.ts';
import { isMissing } from '../base/diskError.ts';
import { Emitter } from '../base/event.ts';
import { nameExclusively, NameTakenError } from '../base/exclusiveName.ts';
import { isSameStamp, stampOf } from '../base/fileStamp.ts';
import { syncDirectory } from '../base/folders.ts';
import { renameOver } from '../base/renameOver.ts';
import type { DatasetChecker } from './checker.ts';
import {
  KEPT_START,
  MAX_KEPT_ROWS,
  type RowDifference,
  type FoundRows,
  type KeptRef,
} from './comparisonTypes.ts';
import type { DatasetFile } from './fileKind.ts';
import { CheckError } from './report.ts';

export type { RowDifference, FoundRows };

/** Data that may have been trained on: a version of a file, or the fingerprints of a submission, by its ID. */
export type TrainedData = { file: DatasetFile } | { fingerprints: string };

/** What fingerprints need of a charged submission. */
export interface SubmittedDataset {
  id: string;
  dataset: DatasetFile & { rows?: number | undefined };
  /** Milliseconds since the epoch. */
  submittedAtMs: number;
}

/** The limit of all files; a file has at most 16 MB. */
const MAX_BYTES = 64 * 1024 * 1024;
const KEY_BYTES = 16;
/** Parts that a killed process left are removed after an hour. */
const ABANDONED_MS = 60 * 60_000;
/** How many counts are remembered. */
const MAX_COUNTS = 100;

/**
 * Owns the fingerprints of rows that were submitted from this machine, 16 bytes a row. Its folder has a file for each receipt,
 * named by its ID, and `key`. Fingerprints have no text and say nothing without the key. Without them, only "what changed
 * since" is unknown.
 */
export class Fingerprints {
  readonly #folder: string;
  readonly #checker: () => Promise<Pick<DatasetChecker, 'compareRows'>>;
  readonly #inTurn = sequencer();
  readonly #changed = new Emitter<void>();
  /** Fires when the fingerprints of another submission were stored. */
  readonly onDidKeep = this.#changed.event;
  /** How many rows are also in another file, by both files. */
  readonly #counts = new Map<string, number>();

  /** @param checker whose thread reads the rows */
  constructor(folder: string, checker: () => Promise<Pick<DatasetChecker, 'compareRows'>>) {
    this.#folder = folder;
    this.#checker = checker;
  }

  /**
   * Stores the fingerprints of a submission, if its file is unchanged and has at most 1,000,000 rows. Removes the oldest ones above
   * 64 MB. Does nothing if they exist. @param submitted all charged submissions @throws if they can't be written
   */
  keep(one: SubmittedDataset, submitted: readonly SubmittedDataset[]): Promise<void> {
    return this.#inTurn(async () => {
      const { path: source, rows = 0 } = one.dataset;
      if (rows > MAX_KEPT_ROWS || (await this.has(one.id))) return;
      const file = await inspected(source);
      if (!isSameStamp(one.dataset, file)) return;
      const key = (await this.#key()) ?? (await this.#newKey());
      const part = this.#partName();
      try {
        const checker = await this.#checker();
        const { isKept } = await checker.compareRows({ of: 'keep', file, kept: { path: part, key } });
        if (isKept !== true) return;
        await renameOver(part, this.#fileOf(one.id));
        this.#changed.fire();
      } finally {
        await rm(part, { force: true });
      }
      await this.#removeOldest(submitted);
    });
  }

  /** Returns how a file differs from a submission; undefined if that is unknown. @throws CheckError; CancelledError */
  async since(id: string, file: DatasetFile, signal?: AbortSignal): Promise<RowDifference | undefined> {
    return this.#difference(id, file, signal);
  }

  /** Returns how a submission differs from an earlier one; undefined if that is unknown. */
  async between(earlierId: string, id: string): Promise<RowDifference | undefined> {
    return (await this.has(id)) ? this.#difference(earlierId, this.#fileOf(id)) : undefined;
  }

  /** Whether a submission has fingerprints of this version. Never rejects. */
  async has(id: string): Promise<boolean> {
    const handle = await open(this.#fileOf(id)).catch(() => undefined);
    try {
      const start = Uint32Array.of(0, 0);
      await handle?.read(start);
      return String(start) === String(KEPT_START);
    } catch {
      return false;
    } finally {
      await handle?.close();
    }
  }

  /**
   * Finds the rows whose prompts are in other data.
   * @param rows a chat dataset in memory, at most some thousand rows
   * @throws CheckError `changing` if the file has changed, `missing` if there are no fingerprints; CancelledError
   */
  async find(rows: Uint8Array, data: TrainedData, signal?: AbortSignal): Promise<FoundRows> {
    const source = 'file' in data ? data.file : await this.#kept(data.fingerprints);
    if (source === undefined) throw new CheckError('missing');
    const { found } = await (await this.#checker()).compareRows({ of: 'find', rows, data: source }, signal);
    if (found === undefined) throw new CheckError('missing');
    return found;
  }

  /**
   * Counts the rows of a dataset whose prompts are also in another file. Remembers the count while both are unchanged.
   * @param other a path for the present version, or a certain version
   * @throws CheckError; CancelledError; errors of the file system
   */
  async alsoIn(other: string | DatasetFile, file: DatasetFile, signal?: AbortSignal): Promise<number> {
    const otherFile = typeof other === 'string' ? await inspected(other) : other;
    const both = JSON.stringify([file.path, stampAlone(file), otherFile]);
    const known = this.#counts.get(both);
    if (known !== undefined) return known;
    const checker = await this.#checker();
    const { shared = 0 } = await checker.compareRows({ of: 'count', file, other: otherFile }, signal);
    if (this.#counts.size >= MAX_COUNTS) this.#counts.clear();
    this.#counts.set(both, shared);
    return shared;
  }

  /** Removes all fingerprints and the key. */
  removeAll(): Promise<void> {
    return this.#inTurn(() => rm(this.#folder, { recursive: true, force: true }));
  }

  async #difference(
    id: string,
    now: DatasetFile | string,
    signal?: AbortSignal,
  ): Promise<RowDifference | undefined> {
    const then = await this.#kept(id);
    if (then === undefined) return undefined;
    return (await (await this.#checker()).compareRows({ of: 'difference', now, then }, signal)).difference;
  }

  async #kept(id: string): Promise<KeptRef | undefined> {
    const key = await this.#key();
    return key !== undefined && (await this.has(id)) ? { path: this.#fileOf(id), key } : undefined;
  }

  #fileOf(name: string): string {
    return path.join(this.#folder, name);
  }

  #partName(): string {
    return this.#fileOf(`${randomBytes(8).toString('hex')}.part`);
  }

  async #key(): Promise<Uint8Array | undefined> {
    try {
      const key = await readFile(this.#fileOf('key'));
      return key.length === KEY_BYTES ? new Uint8Array(key) : undefined;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /** Makes the key, or returns the one that another window just made. Removes files of a lost key: nothing can read them. */
  async #newKey(): Promise<Uint8Array> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const left = await readdir(this.#folder);
    const part = this.#partName();
    const key = new Uint8Array(randomBytes(KEY_BYTES));
    try {
      await writeFile(part, key, { flag: 'wx', mode: 0o600, flush: true });
      await nameExclusively(part, this.#fileOf('key'));
      await syncDirectory(this.#folder);
      for (const name of left)
        if (name !== 'key' && !name.endsWith('.part')) await rm(this.#fileOf(name), { recursive: true });
      return key;
    } catch (error) {
      const key = error instanceof NameTakenError ? await this.#key() : undefined;
      if (key === undefined) throw error;
      return key;
    } finally {
      await rm(part, { force: true });
    }
  }

  /** Removes what killed processes left, and the oldest files above the limit. The newest file of each dataset stays longest. */
  async #removeOldest(submitted: readonly SubmittedDataset[]): Promise<void> {
    const newestFirst = submitted.toSorted((one, other) => other.submittedAtMs - one.submittedAtMs);
    const isNewest = (one: SubmittedDataset) =>
      newestFirst.find(({ dataset }) => dataset.path === one.dataset.path) === one;
    const keptFirst = Map.groupBy(newestFirst, (one) => isNewest(one));
    const order = [...(keptFirst.get(true) ?? []), ...(keptFirst.get(false) ?? [])].map(({ id }) => id);
    let bytes = 0;
    const names = (await readdir(this.#folder)).filter((name) => name !== 'key');
    // Files without a receipt come last, so they are removed first.
    for (const name of names.toSorted(
      (one, other) => (order.indexOf(one) >>> 0) - (order.indexOf(other) >>> 0),
    )) {
      // The file may be gone: another window renames its parts.
      const { size = 0, mtimeMs = NaN } = (await stat(this.#fileOf(name)).catch(() => undefined)) ?? {};
      const isPart = name.endsWith('.part');
      if (!isPart) bytes += size;
      if (isPart ? Date.now() - mtimeMs > ABANDONED_MS : bytes > MAX_BYTES)
        await rm(this.#fileOf(name), { force: true, recursive: true });
    }
  }
}

async function inspected(file: string): Promise<DatasetFile> {
  return { path: file, ...stampOf(await stat(file, { bigint: true })) };
}

function stampAlone({ sizeBytes, mtimeMs, ctimeMs }: DatasetFile): readonly number[] {
  return [sizeBytes, mtimeMs, ctimeMs];
}
