import { throwIfCancelled } from '../base/errors.ts';
import { Digest, OpenDataset, sha256OfFile } from './dataset.ts';
import { DatasetChangedError, DigestError } from './errors.ts';
import type { HttpRequest } from './exchange.ts';
import type { RunSubmission } from './types.ts';

/** What the one who submits hears of, and decides, while the dataset is sent. */
export interface UploadHooks {
  /** Bytes of the whole request body that the network took. */
  onProgress?(sentBytes: number, totalBytes: number): void;
  /**
   * Awaited before the closing boundary, once every other byte has left and is what it should be; it may write to disk.
   * When it throws, the boundary is never sent and its error ends the call.
   */
  beforeClose?(): Promise<void>;
  /**
   * The closing boundary is about to leave, in the same step: from here on the service may have the request, and may
   * charge for it.
   */
  onClosed?(): void;
}

/** The smallest slice still fills undici's write buffer, so that a slice has left before the next is asked for. */
const MIN_SLICE_BYTES = 64 * 1024;
const MAX_SLICE_BYTES = 1024 * 1024;

/**
 * Sends a submission once.
 * @param digestWorker as in `ClientOptions`
 * @param send the request's headers and body; it must neither repeat nor outlive what it returns
 * @throws DatasetChangedError, DigestError, and what `send` and the hooks throw
 */
export async function upload<T>(
  submission: RunSubmission,
  { signal, ...hooks }: UploadHooks & { signal?: AbortSignal },
  digestWorker: string | undefined,
  send: (request: Pick<HttpRequest, 'headers' | 'body'>) => Promise<T>,
): Promise<T> {
  const multipart = encodeMultipart(submission);
  const { path, sizeBytes, sha256, mtimeMs, ctimeMs } = submission.dataset;
  const dataset = await OpenDataset.open(path, sizeBytes);
  const over = new AbortController();
  let digest: Digest | undefined;
  try {
    if (digestWorker === undefined) throw new DigestError();
    const { stamp } = dataset;
    const isOtherFile =
      (mtimeMs ?? stamp.mtimeMs) !== stamp.mtimeMs || (ctimeMs ?? stamp.ctimeMs) !== stamp.ctimeMs;
    // Hashed first: otherwise all of it would be sent before that is known.
    if (isOtherFile && (await sha256OfFile({ path, ...stamp }, { worker: digestWorker, signal })) !== sha256)
      throw new DatasetChangedError('changed');
    digest = new Digest(digestWorker);
    const headers = {
      'content-type': multipart.contentType,
      'content-length': String(multipart.totalBytes),
      'idempotency-key': submission.idempotencyKey,
    };
    return await send({
      headers,
      body: uploadBody(multipart, dataset, { digest, sha256 }, hooks, over.signal),
    });
  } finally {
    over.abort();
    // An answer that is there stays one, whatever the file system says of the file.
    await Promise.allSettled([digest?.dispose(), dataset.close()]);
  }
}

/**
 * The request body of a submission: head, dataset, and the closing boundary as a chunk of its own, released only when
 * the bytes that were sent are those expected, and `beforeClose` agreed.
 * @param over aborts when the exchange has ended: then the closing boundary stays
 * @throws DatasetChangedError, DigestError, CancelledError, and what the hooks throw
 */
export async function* uploadBody(
  { head, tail, totalBytes }: Multipart,
  dataset: OpenDataset,
  { digest, sha256 }: { digest: Digest; sha256: string },
  hooks: UploadHooks,
  over: AbortSignal,
): AsyncGenerator<Uint8Array> {
  let sentBytes = 0;
  const sent = (chunk: Uint8Array) => hooks.onProgress?.((sentBytes += chunk.byteLength), totalBytes);

  yield head;
  sent(head);
  let sliceBytes = MIN_SLICE_BYTES;
  for await (const chunk of dataset.chunks(digest)) {
    for (let start = 0; start < chunk.byteLength;) {
      const slice = chunk.subarray(start, start + sliceBytes);
      const startedMs = performance.now();
      yield slice;
      sent(slice);
      start += slice.byteLength;
      sliceBytes = nextSliceBytes(sliceBytes, performance.now() - startedMs);
    }
  }
  throwIfCancelled(over);
  if ((await digest.read()) !== sha256) throw new DatasetChangedError('changed');
  throwIfCancelled(over);
  await hooks.beforeClose?.();
  throwIfCancelled(over);
  hooks.onClosed?.();
  yield tail;
  sent(tail);
}

/** Big slices are fast; on a slow line small ones show progress, and are no stall for taking their time. */
function nextSliceBytes(sliceBytes: number, tookMs: number): number {
  if (tookMs < 100) return Math.min(MAX_SLICE_BYTES, sliceBytes * 2);
  return tookMs > 1000 ? Math.max(MIN_SLICE_BYTES, sliceBytes / 2) : sliceBytes;
}

/** A submission as multipart/form-data (RFC 7578) without the dataset's bytes, which stand between head and tail. */
interface Multipart {
  contentType: string;
  head: Uint8Array;
  /** The closing boundary: without it the service has no request. */
  tail: Uint8Array;
  /** With the dataset. */
  totalBytes: number;
}

/**
 * Encodes the fields of POST /runs, in a fixed order and the file part last, by the HTML standard's
 * "multipart/form-data encoding algorithm". The same submission always gives the same bytes.
 * @throws TypeError when the boundary is none
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

function escaped(name: string): string {
  return name.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22');
}

function withCrlf(value: string): string {
  return value.replace(/\r\n?|\n/g, '\r\n');
}
