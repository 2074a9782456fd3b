import { createHash } from 'node:crypto';
import { link as linkFile, lstat, open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Transport } from '../api/transport.ts';
import type { Clock } from '../base/clock.ts';
import { DiskError, onDisk } from '../base/diskError.ts';
import { CancelledError, ExpectedError, throwIfCancelled } from '../base/errors.ts';
import type { Session } from '../runs/session.ts';
import { signedLink } from './artifacts.ts';
import type { DownloadStore } from './downloadStore.ts';
import { isAdapter } from './localFiles.ts';
import { isSameFile, partPlaceOf, PartFile, syncFolder, type PartPlace } from './partFile.ts';
import { transfer } from './transfer.ts';
import {
  DownloadError,
  type ActiveDownload,
  type DownloadRecord,
  type UnfinishedDownload,
  type Verified,
} from './types.ts';

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
  /** From 0 up to 1; for the jitter. */
  random: () => number;
  verify: VerifyArchive;
  openFile?: typeof open | undefined;
  /** Called when it progressed, a few times a second, and when its state changed. */
  onChange: () => void;
}

/** The same for the same artifact and target of an account, in every window. */
export function downloadId(accountId: string, wanted: Omit<UnfinishedDownload, 'id'>): string {
  const { runId, artifactType, filename, target } = wanted;
  return createHash('sha256')
    .update(JSON.stringify([accountId, runId, artifactType, filename ?? null, path.resolve(target)]))
    .digest('hex')
    .slice(0, 32);
}

/** One download in this window, from its lease to the file under its final name. */
export class Download {
  readonly unfinished: UnfinishedDownload;
  readonly #session: Session;
  readonly #place: PartPlace;
  readonly #tools: DownloadTools;
  readonly #stop = new AbortController();
  #isInterrupted = false;
  #part: PartFile | undefined;
  #state: ActiveDownload['state'] = 'waiting';
  #late: NodeJS.Timeout | undefined;

  constructor(session: Session, unfinished: UnfinishedDownload, tools: DownloadTools) {
    this.#session = session;
    this.unfinished = unfinished;
    this.#place = partPlaceOf(unfinished);
    this.#tools = tools;
  }

  get active(): ActiveDownload {
    const totalBytes = this.#part?.totalBytes;
    return {
      ...this.unfinished,
      accountId: this.#session.account.id,
      receivedBytes: this.#part?.receivedBytes ?? 0,
      ...(totalBytes !== undefined && { totalBytes }),
      state: this.#state,
    };
  }

  /** Nothing of it is left then. */
  cancel(): void {
    this.#stop.abort();
  }

  /** Stops it; what was received can be resumed. */
  interrupt(): void {
    this.#isInterrupted = true;
    this.#stop.abort();
  }

  /** To be called once. @throws as `Downloads.start` */
  async run(): Promise<DownloadRecord> {
    const { store } = this.#tools;
    const { id, target } = this.unfinished;
    const { signal } = this.#stop;
    return store.owned(id, LEASE_TRIES, async () => {
      const isResumed = store.unfinished.some((one) => one.id === id);
      if (!signal.aborted) {
        if (await isInTheWay(target, this.#place.part)) throw new DownloadError('file-exists');
        // Before anything is beside the target, so that it is never forgotten.
        await onDisk(store.begin(this.unfinished));
      }
      let record: DownloadRecord;
      try {
        record = await this.#fetch();
      } catch (error) {
        await this.#leave(this.#isToKeep(error, isResumed));
        throw error;
      } finally {
        clearTimeout(this.#late);
      }
      await store.complete(this.unfinished, record);
      return record;
    });
  }

  async #fetch(): Promise<DownloadRecord> {
    const { clock, openFile } = this.#tools;
    const { runId, artifactType, filename, target } = this.unfinished;
    const { signal } = this.#stop;
    throwIfCancelled(signal);
    const part = (this.#part = await PartFile.open(this.#place, signal, openFile));
    const link = signedLink(this.#session, runId, { type: artifactType, filename }, clock);
    const report = (state: ActiveDownload['state']) => this.#report(state);
    const isSure = part.isComplete || (await transfer(part, link, this.#tools, signal, report));
    report('verifying');
    await part.sync();
    const [sha256, sizeBytes] = [part.digest(), part.receivedBytes];
    await part.close();
    const verified = await this.#verify(isSure, sizeBytes);
    throwIfCancelled(signal);
    // A crash may have come after it got its name.
    if (!(await isSameFile(target, this.#place.part)))
      await onDisk(nameExclusively(this.#place.part, target));
    await syncFolder(path.dirname(target));
    const about = { runId, artifactType, filename, path: target };
    return { ...about, sizeBytes, sha256, verified, completedAtMs: clock.nowMs() };
  }

  /** What is complete by its length is kept, though it cannot be read: that may be our fault. */
  async #verify(isSure: boolean, sizeBytes: number): Promise<Verified> {
    const isAnAdapter = isAdapter(this.unfinished.artifactType);
    if (sizeBytes === 0 && isAnAdapter) throw new DownloadError('download-empty');
    const kind = await this.#checkArchive();
    const isProven = kind !== 'unknown' && kind !== 'unread' && kind !== 'damaged';
    if (!isProven && !isSure) throw new DownloadError('length-unknown');
    if (kind !== 'unknown') return kind;
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

  /** Whether the error may pass, so that what came is worth keeping. */
  #isToKeep(error: unknown, isResumed: boolean): boolean {
    if (error instanceof CancelledError) return this.#isInterrupted;
    // A disk that was taken out may come back, with what is on it.
    if (error instanceof DiskError)
      return error.code === 'folder-missing' && (isResumed || this.#part !== undefined);
    // The user may move the file that is in the way.
    if (error instanceof DownloadError) return error.code === 'file-exists';
    const isEmpty = (this.#part?.receivedBytes ?? 0) === 0;
    return error instanceof ExpectedError && this.#state !== 'verifying' && !isEmpty;
  }

  /** Never rejects: what cannot be removed now is still listed as unfinished, and can be discarded another time. */
  async #leave(isKept: boolean): Promise<void> {
    if (isKept) await this.#part?.sync().catch(() => undefined);
    await this.#part?.close();
    if (!isKept) await this.#tools.store.remove(this.unfinished).catch(() => undefined);
  }

  /** At once where its state changed; of progress now and then, and always the last, also of a download that stalls. */
  #report(state: ActiveDownload['state']): void {
    const isNew = state !== this.#state;
    this.#state = state;
    if (isNew) this.#notify();
    else this.#late ??= setTimeout(() => this.#notify(), PROGRESS_EVERY_MS);
  }

  #notify(): void {
    clearTimeout(this.#late);
    this.#late = undefined;
    this.#tools.onChange();
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
  const stats = await lstat(target).catch(() => undefined);
  return stats !== undefined && !(await isSameFile(target, part));
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
    throwIfTaken(error);
    // File systems without hard links (exFAT, some network shares).
    await renameExclusively(part, target);
  }
}

/** Takes the name with an empty file, which the complete one then replaces in one step. */
async function renameExclusively(part: string, target: string): Promise<void> {
  try {
    await (await open(target, 'wx')).close();
  } catch (error) {
    throwIfTaken(error);
    throw error;
  }
  try {
    // Somebody may have found the empty file and written into it.
    if ((await stat(target)).size > 0) throw new DownloadError('file-exists');
    await rename(part, target);
  } catch (error) {
    if (!(error instanceof DownloadError)) await rm(target, { force: true }).catch(() => undefined);
    throw error;
  }
}

function throwIfTaken(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw new DownloadError('file-exists');
}
