import { createHash } from 'node:crypto';
import { lstat, open } from 'node:fs/promises';
import path from 'node:path';
import type { VerifiedKind } from '../adapters/archive.ts';
import {
  DownloadLinkError,
  isTransient,
  NetworkError,
  retryAfterOf,
  SignedUrlRefusedError,
  UnexpectedResponseError,
} from '../api/errors.ts';
import { openSignedUrl } from '../api/signedDownload.ts';
import type { Transport } from '../api/transport.ts';
import type { Clock } from '../base/clock.ts';
import { DiskError, onDisk } from '../base/diskError.ts';
import { CancelledError, ExpectedError, throwIfCancelled } from '../base/errors.ts';
import { isSameFile, nameExclusively, NameTakenError, removeClaim } from '../base/exclusiveName.ts';
import { numberedFileName } from '../base/fileNames.ts';
import { markOfTheWeb } from '../base/markOfTheWeb.ts';
import { counted } from '../base/rareCases.ts';
import { RETRIES, retryDelayMs } from '../base/retry.ts';
import type { Session } from '../runs/session.ts';
import { artifactNamed, listArtifacts } from './artifacts.ts';
import type { DownloadStore } from './downloadStore.ts';
import { DownloadError } from './errors.ts';
import { isAdapter } from './localFiles.ts';
import { partPathsOf, PartFile, syncFolder, type PartPaths } from './partFile.ts';
import type { ActiveDownload, DownloadRecord, UnfinishedDownload, Verified } from './types.ts';

const PROGRESS_EVERY_MS = 200;
/** Attempts to take the lease. Another window may hold it for about a second, to remove an earlier part. */
const LEASE_TRIES = 80;
/** A signed URL is replaced this long before it expires. */
const MARGIN_MS = 5 * 60_000;
/** Default lifetime of a signed URL if the service provides none (spec: "Limits"). */
const LIFETIME_MS = 30 * 60_000;
/** How many signed URLs in a row may be refused before the download fails. */
const MAX_REFUSALS = 3;
/** HTTP statuses that storages return for an expired or revoked signed URL. */
const EXPIRED: ReadonlySet<number> = new Set([400, 401, 403, 404, 410]);
/**
 * Less progress than this doesn't reset the retries. A storage that disconnects after every byte must fail.
 */
const PROGRESS_BYTES = 64 * 1024;
/** Network errors that don't pass. */
const NOT_REPEATED = ['tls'] as const;

export type VerifyArchive = (file: string, options: { signal: AbortSignal }) => Promise<VerifiedKind>;

export interface DownloadTools {
  store: DownloadStore;
  /** Called for each request, so that changed proxy settings apply at once. */
  transport: () => Transport;
  clock: Clock;
  /** At least 0, less than 1; for jitter. */
  random: () => number;
  /** `verifyArchive` of `core/adapters`, which throws if the archive is broken. */
  verify: VerifyArchive;
  /** Replaces `open` in tests, to simulate disk errors. */
  openFile?: typeof open | undefined;
  /** Called on every state change, and a few times a second on progress. */
  onChange: () => void;
}

/** Returns the ID of a download: the same in every window for the same account, artifact, and target. */
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
  readonly #place: PartPaths;
  readonly #tools: DownloadTools;
  readonly #stop = new AbortController();
  #isInterrupted = false;
  #wasResumed = false;
  #part: PartFile | undefined;
  #state: ActiveDownload['state'] = 'waiting';
  /** Never stored: requested just in time, and again before it expires. */
  #signedUrl: { url: string; staleAtMs: number } | undefined;
  #late: NodeJS.Timeout | undefined;

  constructor(session: Session, unfinished: UnfinishedDownload, tools: DownloadTools) {
    this.#session = session;
    this.unfinished = unfinished;
    this.#place = partPathsOf(unfinished);
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

  /** Stops the download and removes its files. */
  cancel(): void {
    this.#stop.abort();
  }

  /** Stops the download, which can be resumed later. */
  interrupt(): void {
    this.#isInterrupted = true;
    this.#stop.abort();
  }

  /** Must be called only once. @throws the same errors as `Downloads.start` */
  async run(): Promise<DownloadRecord> {
    const { store } = this.#tools;
    const { id, target } = this.unfinished;
    const { signal } = this.#stop;
    return store.withLease(id, LEASE_TRIES, async () => {
      const isResumed = store.unfinished.some((one) => one.id === id);
      if (!signal.aborted) {
        if (await isTargetTaken(target, this.#place.part)) throw new DownloadError('file-exists');
        // Store it before the part is created: after a kill, nothing else would lead to the part. If this disk is
        // full, go on: the part may be on another one.
        await store.begin(this.unfinished).catch(() => undefined);
      }
      const isBegun = await store.isFoundLater(id);
      let record: DownloadRecord;
      try {
        record = await this.#fetch();
      } catch (error) {
        await this.#leave(this.#isToKeep(error, isResumed) && (await store.isFoundLater(id)));
        throw error;
      } finally {
        clearTimeout(this.#late);
      }
      await store.complete(this.unfinished, record);
      // It could not be stored as unfinished, so nothing else would remove its sidecar.
      if (!isBegun) await store.remove(this.unfinished).catch(() => undefined);
      return this.#wasResumed ? { ...record, wasResumed: true } : record;
    });
  }

  /** Downloads, verifies and names the file. @returns its record, not stored yet */
  async #fetch(): Promise<DownloadRecord> {
    const { clock, openFile } = this.#tools;
    const { runId, artifactType, filename, target } = this.unfinished;
    const { signal } = this.#stop;
    throwIfCancelled(signal);
    const part = (this.#part = await PartFile.open(this.#place, signal, openFile));
    const isEndKnown = part.isComplete || (await this.#transfer(part));
    this.#report('verifying');
    await part.sync();
    const [sha256, sizeBytes] = [part.digest(), part.receivedBytes];
    await part.close();
    const verified = await this.#verify(isEndKnown, sizeBytes);
    throwIfCancelled(signal);
    const file = await this.#name(verified === 'damaged');
    await syncFolder(path.dirname(target));
    const about = { runId, artifactType, filename, path: file };
    return { ...about, sizeBytes, sha256, verified, completedAtMs: clock.nowMs() };
  }

  /**
   * Downloads the rest of a part. Survives expired URLs and network failures as long as it makes progress.
   * @returns whether the response announced its end; otherwise only a closed connection says that it is complete
   * @throws SignedUrlRefusedError, DownloadLinkError, ApiError, KeyMissingError, DownloadError, DiskError,
   * CancelledError; the part then contains what was received so far
   */
  async #transfer(part: PartFile): Promise<boolean> {
    const { clock, random } = this.#tools;
    const { signal } = this.#stop;
    let furthestBytes = part.receivedBytes;
    let refusals = 0;
    let waits = 0;
    for (;;) {
      this.#report('waiting');
      try {
        const url = await this.#freshUrl();
        return await this.#receive(part, url).catch(blameStorage);
      } catch (error) {
        throwIfCancelled(signal);
        // A part that restarted makes progress only once it exceeds its previous maximum.
        if (part.receivedBytes >= furthestBytes + PROGRESS_BYTES) refusals = waits = 0;
        furthestBytes = Math.max(furthestBytes, part.receivedBytes);
        if (error instanceof SignedUrlRefusedError && EXPIRED.has(error.httpStatus)) {
          this.#signedUrl = undefined;
          if (++refusals > MAX_REFUSALS) throw error;
          continue;
        }
        const cause = error instanceof DownloadLinkError ? error.failure : error;
        const waitMs = isTransient(cause, NOT_REPEATED)
          ? retryDelayMs(RETRIES.download, waits++, random(), retryAfterOf(cause))
          : undefined;
        if (waitMs === undefined) throw error;
        // The wait may be long: make the received bytes durable, so that they aren't downloaded again.
        await part.sync();
        await clock.sleep(waitMs, signal);
      }
    }
  }

  /** @throws DownloadError, ApiError, KeyMissingError, CancelledError */
  async #freshUrl(): Promise<string> {
    const nowMs = this.#tools.clock.monotonicMs();
    if (this.#signedUrl !== undefined && nowMs < this.#signedUrl.staleAtMs) return this.#signedUrl.url;
    const { runId, artifactType: type, filename } = this.unfinished;
    const artifacts = await listArtifacts(this.#session, runId, this.#stop.signal);
    const { url, expires_in } = artifactNamed(artifacts, { type, filename });
    const lifetimeMs = expires_in === undefined ? LIFETIME_MS : Math.max(0, expires_in * 1000);
    // Even a short-lived URL is used for half of its lifetime.
    this.#signedUrl = { url, staleAtMs: nowMs + lifetimeMs - Math.min(MARGIN_MS, lifetimeMs / 2) };
    return url;
  }

  /** Receives one response. @returns whether it announced its end */
  async #receive(part: PartFile, url: string): Promise<boolean> {
    const { account } = this.#session;
    const { signal } = this.#stop;
    const serviceUrl = account.kind === 'sandbox' ? 'http://localhost' : account.baseUrl;
    const opened = await openSignedUrl(this.#tools.transport(), url, serviceUrl, { signal, kept: part.kept });
    const { body, startByte, totalBytes, etag, isEndKnown } = opened;
    this.#wasResumed = counted('resumed', startByte > 0);
    if (startByte === 0) await part.begin(etag, totalBytes);
    else part.totalBytes = totalBytes ?? part.totalBytes;
    this.#report('downloading');
    for await (const chunk of body) {
      throwIfCancelled(signal);
      if (part.receivedBytes + chunk.byteLength > (part.totalBytes ?? Infinity)) {
        await part.begin(); // more bytes than announced: trust none of them
        throw new NetworkError('other', 'ERR_TOO_LONG');
      }
      const written = part.add(chunk);
      if (written !== undefined) await written;
      this.#report('downloading');
    }
    part.totalBytes ??= part.receivedBytes;
    if (!part.isComplete) throw new NetworkError('reset', 'ERR_TOO_SHORT');
    return isEndKnown;
  }

  /** Gives the part its final name, or one that shows that it is damaged. @returns the path */
  async #name(isDamaged: boolean): Promise<string> {
    const { target } = this.unfinished;
    const { part } = this.#place;
    await markOfTheWeb(part);
    for (let number = 1; ; number++) {
      const file = isDamaged ? damagedFile(target, number) : target;
      try {
        // An earlier process may have crashed right after linking the name.
        if (!counted('named-part', await isSameFile(file, part))) await onDisk(nameExclusively(part, file));
        return file;
      } catch (error) {
        if (!(error instanceof NameTakenError)) throw error;
        if (!isDamaged) throw new DownloadError('file-exists');
      }
    }
  }

  /**
   * Verifies the complete part. Accepts a file of the right length even if it can't be checked. Accepts a damaged
   * archive, too, which is then kept under another name: the verifier may be wrong.
   * @param isEndKnown whether the response announced its end
   * @throws DownloadError `download-empty`, `length-unknown`; DiskError, CancelledError
   */
  async #verify(isEndKnown: boolean, sizeBytes: number): Promise<Verified> {
    const isAnAdapter = isAdapter(this.unfinished.artifactType);
    if (sizeBytes === 0 && isAnAdapter) throw new DownloadError('download-empty');
    const kind = await this.#checkArchive();
    const isProven = kind !== 'unknown' && kind !== 'unread' && kind !== 'damaged';
    if (!isProven && !isEndKnown) throw new DownloadError('length-unknown');
    if (kind !== 'unknown') return kind;
    return isAnAdapter && (await onDisk(isWebPage(this.#place.part))) ? 'html' : 'length';
  }

  /** Checks the part as an archive. @returns `unknown` if it is none, `damaged` if it is broken */
  async #checkArchive(): Promise<Verified | 'unknown'> {
    const { signal } = this.#stop;
    try {
      return await onDisk(this.#tools.verify(this.#place.part, { signal }));
    } catch (error) {
      throwIfCancelled(signal);
      if (error instanceof DiskError || !(error instanceof ExpectedError)) throw error;
      counted('damaged', true);
      return 'damaged';
    }
  }

  /** Whether to keep the part after an error, because the download may succeed later. */
  #isToKeep(error: unknown, isResumed: boolean): boolean {
    if (error instanceof CancelledError) return this.#isInterrupted;
    // A removed disk may come back with the part still on it.
    if (error instanceof DiskError)
      return error.code === 'folder-missing' && (isResumed || this.#part !== undefined);
    // The user may move the conflicting file.
    if (error instanceof DownloadError) return error.code === 'file-exists';
    const isEmpty = (this.#part?.receivedBytes ?? 0) === 0;
    return error instanceof ExpectedError && this.#state !== 'verifying' && !isEmpty;
  }

  /**
   * Keeps or removes the part. Never rejects. If it can't be removed now, the download stays listed as unfinished.
   */
  async #leave(isKept: boolean): Promise<void> {
    if (isKept) await this.#part?.sync().catch(() => undefined);
    await this.#part?.close();
    if (!isKept) await this.#tools.store.remove(this.unfinished).catch(() => undefined);
  }

  /**
   * Reports a state change at once, and progress a few times a second. The latest progress is reported even if the
   * download stalls.
   */
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

/** Wraps network and response errors of the storage, so that they aren't blamed on the service. @throws always */
function blameStorage(error: unknown): never {
  const isOfStorage = error instanceof NetworkError || error instanceof UnexpectedResponseError;
  throw isOfStorage ? new DownloadLinkError(error) : error;
}

/** Whether the first bytes look like HTML. */
async function isWebPage(file: string): Promise<boolean> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(512), 0, 512, 0);
    return /^\ufeff?\s*(<!--|<!doctype html|<html)/i.test(buffer.toString('utf8', 0, bytesRead));
  } finally {
    await handle.close();
  }
}

/** `adapter.zip` → `adapter.zip.damaged`, `adapter.zip (2).damaged`, … */
function damagedFile(target: string, number: number): string {
  const file = `${target}.damaged`;
  return number === 1 ? file : path.join(path.dirname(file), numberedFileName(path.basename(file), number));
}

/** Whether another file has the target's name. First removes the empty file that a killed process may have left. */
async function isTargetTaken(target: string, part: string): Promise<boolean> {
  const begun = await lstat(part).catch(() => undefined);
  if (begun !== undefined) await removeClaim(target, begun.mtimeMs);
  const stats = await lstat(target).catch(() => undefined);
  return stats !== undefined && !(await isSameFile(target, part));
}
