import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { link as linkFile, lstat, open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Transport } from '../api/transport.ts';
import type { Clock } from '../base/clock.ts';
import { DiskError, onDisk } from '../base/diskError.ts';
import { CancelledError, ExpectedError, throwIfCancelled } from '../base/errors.ts';
import { Lease } from '../storage/lease.ts';
import type { SignedLink } from './artifacts.ts';
import { DownloadError } from './downloadErrors.ts';
import type { DownloadStore } from './downloadStore.ts';
import { isAdapter } from './downloadTarget.ts';
import { PartFile, syncFolder, type PartOptions } from './partFile.ts';
import { partPlaceOf, type PartPlace } from './sidecar.ts';
import { transfer } from './transfer.ts';
import type { ActiveDownload, DownloadRecord, UnfinishedDownload, Verified } from './types.ts';

const PROGRESS_EVERY_MS = 200;

/** A window that finds what an earlier download left has its lease until that is taken away: about a second. */
const LEASE_TRIES = 80;

export type VerifyArchive = (
  file: string,
  options: { signal: AbortSignal },
) => Promise<'zip' | 'gzip' | 'tar' | 'safetensors' | 'unread' | 'unknown'>;

export interface DownloadTools {
  store: DownloadStore;
  transport: () => Transport;
  clock: Clock;
  random: () => number;
  verify: VerifyArchive;
  part?: PartOptions;
}

/** The same for the same artifact and target of an account, in every window. */
export function downloadId(accountId: string, unfinished: Omit<UnfinishedDownload, 'id'>): string {
  const { runId, artifactType, filename, target } = unfinished;
  return createHash('sha256')
    .update(JSON.stringify([accountId, runId, artifactType, filename ?? null, path.resolve(target)]))
    .digest('hex')
    .slice(0, 32);
}

/**
 * One download in this window, from its lease to the file under its final name. In between it is in the book, so that nothing
 * beside the target is ever forgotten.
 */
export class Download {
  readonly unfinished: UnfinishedDownload;
  readonly accountId: string;
  readonly #place: PartPlace;
  readonly #tools: DownloadTools;
  readonly #onChange: () => void;
  readonly #stop = new AbortController();
  #isKept = false;
  #isBegun = false;
  /** Whether something of it was left before. */
  #isContinued = false;
  #part: PartFile | undefined;
  #state: ActiveDownload['state'] = 'waiting';
  #notifiedAtMs = -Infinity;
  #late: NodeJS.Timeout | undefined;

  constructor(accountId: string, unfinished: UnfinishedDownload, tools: DownloadTools, onChange: () => void) {
    this.accountId = accountId;
    this.unfinished = unfinished;
    this.#place = partPlaceOf(unfinished);
    this.#tools = tools;
    this.#onChange = onChange;
  }

  get active(): ActiveDownload {
    const { id, runId, artifactType, filename, target } = this.unfinished;
    const totalBytes = this.#part?.totalBytes;
    return {
      id,
      accountId: this.accountId,
      runId,
      artifactType,
      filename,
      target,
      receivedBytes: this.#part?.receivedBytes ?? 0,
      ...(totalBytes !== undefined && { totalBytes }),
      state: this.#state,
    };
  }

  /** Stops it. @param keep what was received, to resume it later */
  stop(keep: boolean): void {
    this.#isKept ||= keep;
    this.#stop.abort();
  }

  /** To be called once. @throws as `Downloads.start` */
  async run(link: SignedLink): Promise<DownloadRecord> {
    const lease = await Lease.take(this.#tools.store.lockFileOf(this.unfinished.id), LEASE_TRIES);
    if (lease === undefined) throw new DownloadError('download-busy');
    try {
      const record = await this.#runOwned(link);
      lease.remove();
      return record;
    } catch (error) {
      if (await this.#leave(error)) lease.remove();
      throw error;
    } finally {
      clearTimeout(this.#late);
      lease.release();
    }
  }

  async #runOwned(link: SignedLink): Promise<DownloadRecord> {
    const { target } = this.unfinished;
    const { store, clock, random, transport } = this.#tools;
    const { signal } = this.#stop;
    throwIfCancelled(signal);
    if (await isInTheWay(target, this.#place.part)) throw new DownloadError('file-exists');
    // Before anything is beside the target.
    this.#isContinued = store.unfinished.some(({ id }) => id === this.unfinished.id);
    await onDisk(store.begin(this.unfinished));
    this.#isBegun = true;
    const part = (this.#part = await PartFile.open(this.#place, signal, this.#tools.part));
    const isSure =
      part.isWhole ||
      (await transfer(part, link, {
        transport,
        clock,
        random,
        signal,
        onState: (state) => this.#enter(state),
        onProgress: () => this.#notifyProgress(),
      }));
    this.#enter('verifying');
    await part.sync();
    const sha256 = part.digest();
    const sizeBytes = part.receivedBytes;
    await part.close();
    const verified = await this.#verify(isSure, sizeBytes);
    throwIfCancelled(signal);
    await this.#name();
    return this.#settle({ sizeBytes, sha256, verified });
  }

  /** What is complete by its length is kept, though it cannot be read: that may be our fault. */
  async #verify(isSure: boolean, sizeBytes: number): Promise<Verified> {
    if (sizeBytes === 0 && isAdapter(this.unfinished.artifactType)) throw new DownloadError('download-empty');
    const kind = await this.#checkArchive();
    if (kind !== 'unknown' && kind !== 'unread' && kind !== 'damaged') return kind;
    if (!isSure) throw new DownloadError('length-unknown');
    if (kind !== 'unknown') return kind;
    const isAnAdapter = isAdapter(this.unfinished.artifactType);
    return isAnAdapter && (await onDisk(isWebPage(this.#place.part))) ? 'html' : 'length';
  }

  async #checkArchive(): Promise<Verified | 'unknown'> {
    const { signal } = this.#stop;
    try {
      return await onDisk(this.#tools.verify(this.#place.part, { signal }));
    } catch (error) {
      throwIfCancelled(signal);
      if (error instanceof DiskError || !(error instanceof ExpectedError)) throw error;
      return 'damaged';
    }
  }

  async #name(): Promise<void> {
    const { target } = this.unfinished;
    try {
      await onDisk(nameExclusively(this.#place.part, target));
    } catch (error) {
      // This very file has its name already: a crash came before that was written down.
      if (!isFileExists(error) || (await isInTheWay(target, this.#place.part))) throw error;
    }
    await syncFolder(path.dirname(target));
  }

  /** The file is complete under its name: no failure after this undoes it. */
  async #settle(found: Pick<DownloadRecord, 'sizeBytes' | 'sha256' | 'verified'>): Promise<DownloadRecord> {
    const { store, clock } = this.#tools;
    const { id, runId, artifactType, filename, target } = this.unfinished;
    const record: DownloadRecord = {
      runId,
      artifactType,
      ...(filename !== undefined && { filename }),
      path: target,
      ...found,
      completedAtMs: clock.nowMs(),
    };
    // Otherwise the part is another name of the file: whoever resumes it finds it complete.
    if (!(await store.add(id, record))) return record;
    try {
      // A crash between these two leaves what the next start ends.
      await PartFile.remove(this.#place);
      await store.end(id);
    } catch {
      await PartFile.remove(this.#place).catch(() => undefined);
    }
    return record;
  }

  /** Leaves the part for later or takes it away. Returns whether nothing is left of the download. */
  async #leave(error: unknown): Promise<boolean> {
    // Nothing was begun; what an earlier window left stays.
    if (!this.#isBegun && !(error instanceof CancelledError))
      return !this.#tools.store.unfinished.some(({ id }) => id === this.unfinished.id);
    try {
      if (this.#part !== undefined && this.#isToKeep(error)) await this.#part.sync();
    } catch {
      // Then less of it is kept.
    }
    await this.#part?.close();
    if (this.#isToKeep(error)) return false;
    try {
      await PartFile.remove(this.#place);
      await this.#tools.store.end(this.unfinished.id);
      return true;
    } catch {
      return false; // the book remembers it, so that it can be discarded another time
    }
  }

  /** Whether the error may pass, so that what came is worth keeping. */
  #isToKeep(error: unknown): boolean {
    if (error instanceof CancelledError) return this.#isKept;
    if (isFileExists(error)) return true;
    // A disk that was taken out may come back, with what is on it.
    if (error instanceof DiskError)
      return error.code === 'folder-missing' && (this.#isContinued || this.#part !== undefined);
    if (error instanceof DownloadError) return false;
    const isEmpty = (this.#part?.receivedBytes ?? 0) === 0;
    return error instanceof ExpectedError && this.#state !== 'verifying' && !isEmpty;
  }

  #enter(state: ActiveDownload['state']): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#notify();
  }

  /** Now and then, and always the last: a download that stalls still shows all that was received. */
  #notifyProgress(): void {
    const waitMs = this.#notifiedAtMs + PROGRESS_EVERY_MS - this.#tools.clock.monotonicMs();
    if (waitMs <= 0) this.#notify();
    else this.#late ??= setTimeout(() => this.#notify(), waitMs);
  }

  #notify(): void {
    clearTimeout(this.#late);
    this.#late = undefined;
    this.#notifiedAtMs = this.#tools.clock.monotonicMs();
    this.#onChange();
  }
}

/** By its beginning. */
async function isWebPage(file: string): Promise<boolean> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(512), 0, 512, 0);
    return /^\ufeff?\s*(<!--|<!doctype html|<html)/i.test(buffer.toString('utf8', 0, bytesRead));
  } finally {
    await handle.close();
  }
}

/** Whether something else than the part itself has the name. */
async function isInTheWay(target: string, part: string): Promise<boolean> {
  const [there, ours] = await Promise.all(
    [target, part].map((file) => lstat(file, { bigint: true }).catch(() => undefined)),
  );
  return there !== undefined && !(ours !== undefined && there.ino === ours.ino && there.dev === ours.dev);
}

/**
 * Gives a complete file its final name in the same folder, like a rename, but never over a file: `rename` would replace it
 * silently. Where it fails, the target is as it was.
 * @param link for file systems that are not there in a test
 * @throws DownloadError `file-exists`, and what the file system says
 */
export async function nameExclusively(part: string, target: string, link = linkFile): Promise<void> {
  try {
    await link(part, target);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw new DownloadError('file-exists');
    // File systems without hard links (exFAT, some network shares).
    await renameExclusively(part, target);
  }
}

/** Takes the name with an empty file, which the complete one then replaces in one step. */
async function renameExclusively(part: string, target: string): Promise<void> {
  let place: FileHandle;
  try {
    place = await open(target, 'wx');
  } catch (error) {
    throw codeOf(error) === 'EEXIST' ? new DownloadError('file-exists') : error;
  }
  await place.close();
  try {
    // Somebody may have found the empty file and written into it.
    if ((await stat(target)).size > 0) throw new DownloadError('file-exists');
    await rename(part, target);
  } catch (error) {
    if (!isFileExists(error)) await rm(target, { force: true }).catch(() => undefined);
    throw error;
  }
}

function isFileExists(error: unknown): boolean {
  return error instanceof DownloadError && error.code === 'file-exists';
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
