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

/** What storages answer to a signed URL that expired or was revoked. */
const EXPIRED: ReadonlySet<number> = new Set([400, 401, 403, 404, 410]);
/** What does not pass by waiting. */
const NOT_REPEATED = ['tls'] as const;

interface Tools {
  transport: () => Transport;
  clock: Clock;
  /** From 0 up to 1; for the jitter. */
  random: () => number;
}

/**
 * Fills a part to its end, over expired URLs and lost networks, as long as it makes progress.
 * @param report called for each piece that came, and for what is waited for
 * @returns whether more than the end of a connection says that it is complete
 * @throws SignedUrlRefusedError, DownloadLinkError, ApiError, KeyMissingError, DownloadError, DiskError, CancelledError; the part holds
 * what came until then
 */
export async function transfer(
  part: PartFile,
  link: SignedLink,
  { transport, clock, random }: Tools,
  signal: AbortSignal,
  report: (state: 'waiting' | 'downloading') => void,
): Promise<boolean> {
  let furthestBytes = part.receivedBytes;
  let refusals = 0;
  let waits = 0;
  for (;;) {
    report('waiting');
    try {
      const url = await link.url(signal);
      const { kept } = part;
      const opening = openSignedUrl(transport(), url, link.serviceUrl, { signal, kept });
      return await receive(part, opening, signal, () => report('downloading')).catch(blameStorage);
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
      const cause = error instanceof DownloadLinkError ? error.failure : error;
      const waitMs = mayPass(cause, NOT_REPEATED)
        ? retryDelayMs(RETRIES.download, waits++, random(), retryAfterOf(cause))
        : undefined;
      if (waitMs === undefined) throw error;
      // Nothing that came is fetched again, however long this takes.
      await part.sync();
      await clock.sleep(waitMs, signal);
    }
  }
}

/** One connection. @returns whether its end was announced */
async function receive(
  part: PartFile,
  opening: ReturnType<typeof openSignedUrl>,
  signal: AbortSignal,
  onProgress: () => void,
): Promise<boolean> {
  const { body, startByte, totalBytes, etag, endIsKnown } = await opening;
  if (startByte === 0) await part.begin(etag, totalBytes);
  else part.totalBytes = totalBytes ?? part.totalBytes;
  onProgress();
  for await (const chunk of body) {
    throwIfCancelled(signal);
    if (part.receivedBytes + chunk.byteLength > (part.totalBytes ?? Infinity)) {
      await part.begin(); // more than there is: nothing of it can be believed
      throw new NetworkError('other', 'ERR_TOO_LONG');
    }
    const written = part.add(chunk);
    if (written !== undefined) await written;
    onProgress();
  }
  part.totalBytes ??= part.receivedBytes;
  if (!part.isComplete) throw new NetworkError('reset', 'ERR_TOO_SHORT');
  return endIsKnown;
}

/** What the network or the answer of the storage is at fault for is not the service's. */
function blameStorage(error: unknown): never {
  const isOfStorage = error instanceof NetworkError || error instanceof UnexpectedAnswerError;
  throw isOfStorage ? new DownloadLinkError(error) : error;
}
