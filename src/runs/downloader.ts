import { randomUUID } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import path from 'node:path';
import { openSignedUrl } from '../api/signedDownload.ts';
import type { Transport } from '../api/transport.ts';
import type { Artifact } from '../api/types.ts';
import { syncDirectory } from '../base/durableFile.ts';
import { ExpectedError, throwIfCancelled } from '../base/errors.ts';
import { nameExclusively } from './exclusiveName.ts';
import type { Session } from './session.ts';

/** The disk did not take the file. */
export class DiskError extends ExpectedError {
  readonly code: 'disk-full' | 'no-permission' | 'disk';

  constructor(cause: NodeJS.ErrnoException) {
    super(`writing the download failed: ${cause.code ?? 'unknown'}`);
    this.code =
      cause.code === 'ENOSPC' || cause.code === 'EDQUOT'
        ? 'disk-full'
        : cause.code === 'EACCES' || cause.code === 'EPERM' || cause.code === 'EROFS'
          ? 'no-permission'
          : 'disk';
  }
}

export interface DownloadOptions {
  signal: AbortSignal;
  /** `totalBytes` is undefined where the server does not tell the length. */
  onProgress?: (receivedBytes: number, totalBytes: number | undefined) => void;
}

/** Brings artifacts home. Under the final name a file stands only when it is whole. */
export class Downloader {
  readonly #transport: () => Transport;
  /** Runs whose artifacts are being downloaded, by account id. */
  readonly #busy = new Map<string, number>();

  constructor(transport: () => Transport) {
    this.#transport = transport;
  }

  isBusy(accountId: string): boolean {
    return this.#busy.has(accountId);
  }

  /** Fresh signed URLs: they expire, so they are asked for just in time and never stored. @throws ApiError */
  artifacts(session: Session, runId: string, signal: AbortSignal): Promise<Artifact[]> {
    return session.call((client) => client.createArtifactDownloads(runId, { signal }));
  }

  /**
   * Streams an artifact beside the target, makes it durable and gives it its name.
   * @throws FileExistsError, DiskError, ApiError, CancelledError; none leaves anything behind
   */
  async download(
    session: Session,
    artifact: Artifact,
    target: string,
    options: DownloadOptions,
  ): Promise<void> {
    const { id } = session.account;
    this.#busy.set(id, (this.#busy.get(id) ?? 0) + 1);
    try {
      await this.#download(artifact, target, options);
    } finally {
      const others = (this.#busy.get(id) ?? 1) - 1;
      if (others === 0) this.#busy.delete(id);
      else this.#busy.set(id, others);
    }
  }

  async #download(
    artifact: Artifact,
    target: string,
    { signal, onProgress }: DownloadOptions,
  ): Promise<void> {
    const part = path.join(path.dirname(target), `.${randomUUID()}.part`);
    try {
      // Before the URL is opened: a folder that takes no file needs no request.
      const handle = await onDisk(open(part, 'wx'));
      try {
        const { body, lengthBytes } = await openSignedUrl(this.#transport(), artifact.url, { signal });
        let receivedBytes = 0;
        for await (const chunk of body) {
          throwIfCancelled(signal);
          await onDisk(handle.writeFile(chunk));
          receivedBytes += chunk.byteLength;
          onProgress?.(receivedBytes, lengthBytes);
        }
        await onDisk(handle.sync());
      } finally {
        await handle.close();
      }
      throwIfCancelled(signal);
      await onDisk(nameExclusively(part, target));
      // The file stands whole; a share that cannot sync its folder takes nothing of that away.
      await syncDirectory(path.dirname(target)).catch(() => undefined);
    } finally {
      // Whether this works changes nothing of how the download ended.
      await rm(part, { force: true }).catch(() => undefined);
    }
  }
}

async function onDisk<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ExpectedError || !(error instanceof Error) || !('code' in error)) throw error;
    throw new DiskError(error as NodeJS.ErrnoException);
  }
}
