import {
  DownloadLinkError,
  mayPass,
  NetworkError,
  retryAfterOf,
  SignedUrlRefusedError,
  UnexpectedAnswerError,
} from '../api/errors.ts';
import { openSignedUrl } from '../api/signedDownload.ts';
import type { Transport } from '../api/transport.ts';
import type { Clock } from '../base/clock.ts';
import { throwIfCancelled } from '../base/errors.ts';
import { RETRIES, retryDelayMs } from '../base/retry.ts';
import type { PartFile } from './partFile.ts';
import type { SignedLink } from './artifacts.ts';

/** Signed URLs that may be refused one after the other before it is given up. */
const MAX_REFUSALS = 3;
/** Less than this is no progress: a storage that cuts after each byte is given up. */
const PROGRESS_BYTES = 64 * 1024;
/** How long a URL is used at least once it gives something: it may be one that lives for a moment only. */
const LEAST_USE_MS = 30_000;

/** What storages answer to a signed URL that expired or was revoked. */
const EXPIRED: ReadonlySet<number> = new Set([400, 401, 403, 404, 410]);
/** What does not pass by waiting. */
const NOT_REPEATED = ['tls'] as const;

export interface TransferOptions {
  transport: () => Transport;
  clock: Clock;
  /** From 0 up to 1; for the jitter. */
  random: () => number;
  signal: AbortSignal;
  onState: (state: 'waiting' | 'downloading') => void;
  /** Called for each piece that came. */
  onProgress: () => void;
}

/**
 * Fills a part to its end, over expired URLs and lost networks, as long as it gets on.
 * @returns whether more than the end of a connection says that it is complete
 * @throws SignedUrlRefusedError, DownloadLinkError, ApiError, KeyMissingError, DownloadError, DiskError, CancelledError; the part holds
 * what came until then
 */
export async function transfer(part: PartFile, link: SignedLink, options: TransferOptions): Promise<boolean> {
  const { clock, random, signal } = options;
  let furthestBytes = part.receivedBytes;
  let refusals = 0;
  let waits = 0;
  for (;;) {
    options.onState('waiting');
    try {
      const url = await link.url(signal);
      const end = await receive(part, url, link, options).catch((error: unknown) => {
        throw ofStorage(error);
      });
      if (end !== 'stale') return end === 'declared';
      link.forget();
    } catch (error) {
      throwIfCancelled(signal);
      // A part that restarted has made no progress before it is further than ever.
      if (part.receivedBytes >= furthestBytes + PROGRESS_BYTES) refusals = waits = 0;
      furthestBytes = Math.max(furthestBytes, part.receivedBytes);
      if (error instanceof SignedUrlRefusedError && EXPIRED.has(error.httpStatus)) {
        link.forget();
        if (++refusals > MAX_REFUSALS) throw error;
        continue;
      }
      const waitMs = waitOf(error, waits++, random());
      if (waitMs === undefined) throw error;
      // Nothing that came is fetched again, however long this takes.
      await part.sync();
      await clock.sleep(waitMs, signal);
    }
  }
}

/** One connection. `stale`: the URL is to be replaced before it expires. */
async function receive(
  part: PartFile,
  url: string,
  link: SignedLink,
  options: TransferOptions,
): Promise<'declared' | 'undeclared' | 'stale'> {
  const { transport, clock, signal, onState, onProgress } = options;
  const { kept } = part;
  const download = await openSignedUrl(transport(), url, link.serviceUrl, { signal, ...(kept && { kept }) });
  const { body, startByte, totalBytes, etag, endIsKnown } = download;
  if (startByte === 0)
    await part.begin({
      ...(etag !== undefined && { etag }),
      ...(totalBytes !== undefined && { totalBytes }),
    });
  else if (totalBytes !== undefined) part.learnTotal(totalBytes);
  const enoughMs = clock.monotonicMs() + LEAST_USE_MS;
  onState('downloading');
  const enoughBytes = part.receivedBytes + PROGRESS_BYTES;
  const isUsed = () => part.receivedBytes >= enoughBytes && clock.monotonicMs() >= enoughMs;
  for await (const chunk of body) {
    throwIfCancelled(signal);
    if (part.receivedBytes + chunk.byteLength > (part.totalBytes ?? Infinity)) {
      await part.begin({}); // more than there is: nothing of it can be believed
      throw new NetworkError('other', 'ERR_TOO_LONG');
    }
    const written = part.add(chunk);
    if (written !== undefined) await written;
    onProgress();
    // Only where what came is kept, and after some came by this very URL.
    if (part.kept !== undefined && isUsed() && link.isStale && !part.isWhole) return 'stale';
  }
  if (part.totalBytes === undefined) part.learnTotal(part.receivedBytes);
  else if (!part.isWhole) throw new NetworkError('reset', 'ERR_TOO_SHORT');
  return endIsKnown ? 'declared' : 'undeclared';
}

/** What the network or the answer of the storage is at fault for is not the service's. */
function ofStorage(error: unknown): unknown {
  return error instanceof NetworkError || error instanceof UnexpectedAnswerError
    ? new DownloadLinkError(error)
    : error;
}

/** How long to wait before the next try, in milliseconds; undefined when there is none. */
function waitOf(thrown: unknown, waits: number, random: number): number | undefined {
  const error = thrown instanceof DownloadLinkError ? thrown.failure : thrown;
  return mayPass(error, NOT_REPEATED)
    ? retryDelayMs(RETRIES.download, waits, random, retryAfterOf(error))
    : undefined;
}
