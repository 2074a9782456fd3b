import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { throwIfCancelled } from '../base/errors.ts';
import { OpenDataset, sha256OfFile } from './dataset.ts';
import { DatasetChangedError } from './errors.ts';
import type { HttpRequest } from './exchange.ts';
import type { RunSubmission } from './types.ts';

/** Callbacks of an upload. */
export interface UploadHooks {
  /** Called with how many bytes of the request body were passed to the network, and how many it has. */
  onProgress?(sentBytes: number, totalBytes: number): void;
  /**
   * Awaited before the last bytes, after every other byte was sent and verified. May write to disk. If it throws, the
   * last bytes are never sent, and the call rejects with that error.
   */
  beforeClose?(): Promise<void>;
  /**
   * Called right before the last bytes are sent. From here on the service may charge for the request.
   */
  onClosed?(): void;
}

/** Fills undici's write buffer, so that a slice is sent before the next one is requested. */
const MIN_SLICE_BYTES = 64 * 1024;
const MAX_SLICE_BYTES = 1024 * 1024;

/**
 * Sends a submission once.
 * @param send sends the headers and body; must not retry or continue after it settles
 * @throws DatasetChangedError, and errors of `send` and the hooks
 */
export async function upload<T>(
  submission: RunSubmission,
  { signal, ...hooks }: UploadHooks & { signal?: AbortSignal },
  send: (request: Pick<HttpRequest, 'headers' | 'body'>) => Promise<T>,
): Promise<T> {
  const multipart = encodeMultipart(submission);
  const { path, sizeBytes, sha256, mtimeMs, ctimeMs } = submission.dataset;
  const dataset = await OpenDataset.open(path, sizeBytes);
  const over = new AbortController();
  try {
    const { stamp } = dataset;
    const isOtherFile =
      (mtimeMs ?? stamp.mtimeMs) !== stamp.mtimeMs || (ctimeMs ?? stamp.ctimeMs) !== stamp.ctimeMs;
    // Hash it first. Otherwise the change would be detected only after the upload.
    if (isOtherFile && (await sha256OfFile({ path, ...stamp }, signal)) !== sha256)
      throw new DatasetChangedError('changed');
    const headers = {
      'content-type': multipart.contentType,
      'content-length': String(multipart.totalBytes),
      'idempotency-key': submission.idempotencyKey,
    };
    return await send({
      headers,
      body: uploadBody(multipart, dataset, sha256, hooks, over.signal),
    });
  } finally {
    over.abort();
    // A response remains valid even if closing the file fails.
    await dataset.close().catch(() => undefined);
  }
}

/**
 * Yields the request body: head, dataset, and the closing boundary as a chunk of its own. The boundary follows only if
 * the sent bytes have this SHA-256 and `beforeClose` succeeds.
 * @param over aborted when the exchange has ended: then the last bytes are not sent
 * @throws DatasetChangedError, CancelledError, and errors of the hooks
 */
async function* uploadBody(
  { head, tail, totalBytes }: Multipart,
  dataset: OpenDataset,
  sha256: string,
  hooks: UploadHooks,
  over: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  let sentBytes = 0;
  const sent = (chunk: Uint8Array) => hooks.onProgress?.((sentBytes += chunk.byteLength), totalBytes);

  yield head;
  sent(head);
  let sliceBytes = MIN_SLICE_BYTES;
  for await (const chunk of dataset.chunks()) {
    hash.update(chunk);
    for (let start = 0; start < chunk.byteLength;) {
      const slice = chunk.subarray(start, start + sliceBytes);
      const startedMs = performance.now();
      yield slice;
      sent(slice);
      start += slice.byteLength;
      sliceBytes = nextSliceBytes(sliceBytes, performance.now() - startedMs);
    }
  }
  // A cancel at the last bytes ends the exchange before the next turn.
  await turn();
  throwIfCancelled(over);
  if (hash.digest('hex') !== sha256) throw new DatasetChangedError('changed');
  await hooks.beforeClose?.();
  throwIfCancelled(over);
  hooks.onClosed?.();
  yield tail;
  sent(tail);
}

/** Large slices are fast. On a slow line, small ones show progress and avoid the stall timeout. */
function nextSliceBytes(sliceBytes: number, tookMs: number): number {
  if (tookMs < 100) return Math.min(MAX_SLICE_BYTES, sliceBytes * 2);
  return tookMs > 1000 ? Math.max(MIN_SLICE_BYTES, sliceBytes / 2) : sliceBytes;
}

/** A submission as multipart/form-data (RFC 7578); the dataset's bytes go between head and tail. */
interface Multipart {
  contentType: string;
  head: Uint8Array;
  /** The last bytes: the closing boundary, without which the request is incomplete. */
  tail: Uint8Array;
  /** Including the dataset. */
  totalBytes: number;
}

/**
 * Encodes the fields of POST /runs in a fixed order with the file last, by the HTML standard's
 * "multipart/form-data encoding algorithm". The same submission always results in the same bytes.
 * @throws TypeError if the boundary is invalid
 */
export function encodeMultipart(submission: RunSubmission): Multipart {
  const { boundary, dataset } = submission;
  if (!/^[\w-]{1,70}$/.test(boundary)) throw new TypeError('not a multipart boundary');
  const fields: [name: string, value: string][] = [
    ['model_id', submission.model_id],
    ...(submission.label ? [['label', submission.label] as [string, string]] : []),
    ['model_terms_accepted', String(submission.model_terms_accepted)],
    ['data_policy_accepted', String(submission.data_policy_accepted)],
    ['priority_processing', String(submission.priority_processing)],
  ];
  const parts = fields.map(
    ([name, value]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${withCrlf(value)}\r\n`,
  );
  const filePart =
    `--${boundary}\r\nContent-Disposition: form-data; name="dataset"; filename="${escaped(dataset.filename)}"\r\n` +
    'Content-Type: application/octet-stream\r\n\r\n';
  const head = Buffer.from(parts.join('') + filePart);
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const totalBytes = head.byteLength + dataset.sizeBytes + tail.byteLength;
  return { contentType: `multipart/form-data; boundary=${boundary}`, head, tail, totalBytes };
}

/** Escapes a file name as the encoding algorithm requires. */
function escaped(name: string): string {
  return name.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22');
}

function withCrlf(value: string): string {
  return value.replace(/\r\n?|\n/g, '\r\n');
}
